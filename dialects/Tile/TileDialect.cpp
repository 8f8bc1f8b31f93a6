//===- TileDialect.cpp - the tile dialect -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace tenon::tile;

#include "dialects/Tile/TileDialect.cpp.inc"

void TileDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/TileOps.cpp.inc"
      >();
}

LayoutAttr tenon::tile::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

RankedTensorType tenon::tile::withLayout(RankedTensorType type,
                                         LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

std::optional<tenon::layout::MfmaFormat> tenon::tile::mfmaFormat(Type type) {
  using layout::MfmaFormat;
  if (isa<Float64Type>(type)) {
    return MfmaFormat::F64;
  }
  if (isa<Float32Type>(type)) {
    return MfmaFormat::F32;
  }
  if (isa<Float16Type, BFloat16Type>(type)) {
    return MfmaFormat::F16;
  }
  if (isa<Float8E4M3FNType, Float8E5M2Type>(type)) {
    return MfmaFormat::F8;
  }
  // Two FP4 values per byte.
  if (type.isInteger(8)) {
    return MfmaFormat::F4;
  }
  return std::nullopt;
}

FailureOr<tenon::target::TargetInfo> tenon::tile::getTarget(Operation *op) {
  for (Operation *scope = op; scope; scope = scope->getParentOp()) {
    if (auto target = scope->getAttrOfType<TargetAttr>("tile.target")) {
      return target.getInfo();
    }
  }
  return op->emitError("the module names no chip: expected an attribute such "
                       "as tile.target = #tile.target<\"gfx950\">");
}

tenon::layout::BankRules
tenon::tile::ldsBankRules(const target::TargetInfo &target) {
  using target::LdsOp;
  layout::BankRules rules;
  auto add = [&](SmallVectorImpl<layout::PhaseRule> &list, unsigned bits,
                 LdsOp op) {
    const target::LdsAccessRule &rule = target.ldsRule(op);
    list.push_back(
        {bits, rule.banks,
         llvm::SmallVector<uint64_t>(rule.phases.begin(), rule.phases.end())});
  };
  add(rules.reads, 32, LdsOp::ReadB32);
  add(rules.reads, 64, LdsOp::ReadB64);
  add(rules.reads, 96, LdsOp::ReadB96);
  add(rules.reads, 128, LdsOp::ReadB128);
  add(rules.writes, 32, LdsOp::WriteB32);
  add(rules.writes, 64, LdsOp::WriteB64);
  add(rules.writes, 96, LdsOp::WriteB96);
  add(rules.writes, 128, LdsOp::WriteB128);
  for (const target::TransposedLdsRead &read :
       target.facts().transposedLdsReads) {
    rules.transposingReads.push_back({read.elementBits, read.totalBits});
  }
  return rules;
}
