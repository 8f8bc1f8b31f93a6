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
  if (isa<Float4E2M1FNType>(type)) {
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
