//===- PackOp.cpp - contract and verifier of tenon.pack ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

/// Elements along K that share a scale.
static constexpr int64_t scaleBlock = 32;

static MemRefType memrefOf(Value value) {
  return cast<MemRefType>(value.getType());
}

WeightOrder PackOp::getWeightOrder() {
  return cast<WeightLayoutAttr>(memrefOf(getPacked()).getLayout()).getOrder();
}

namespace {
/// What sizes must be multiples of.
struct Multiples {
  int64_t rows;
  int64_t depth;
};
} // namespace

static Multiples multiplesOf(PackOp op) {
  switch (op.getWeightOrder()) {
  case WeightOrder::Packed:
    return {1,
            128 / int64_t(memrefOf(op.getWeights()).getElementTypeBitWidth())};
  case WeightOrder::Aiter:
    return {16, 64};
  case WeightOrder::AiterInterleaved:
    return {32, 64};
  }
  llvm_unreachable("covered switch");
}

SmallVector<OperandContract> PackOp::getOperandContracts() {
  MemRefType weights = memrefOf(getWeights());
  Multiples multiples = multiplesOf(*this);
  auto dim = [](int64_t size, StringRef symbol, int64_t divisor,
                int64_t multiple) {
    return ShapedType::isDynamic(size) ? ContractDim{symbol.str(), 0, multiple}
                                       : ContractDim{"", size / divisor, 1};
  };
  ContractDim rows = dim(weights.getDimSize(0), "N", 1, multiples.rows);
  ContractDim depth = dim(weights.getDimSize(1), "K", 1, multiples.depth);
  ContractDim blocks = dim(weights.getDimSize(1), "K/32", scaleBlock, 1);
  SmallVector<OperandContract> contracts = {
      {"weights", getWeights(), Access::Read, {rows, depth}, 16, true}};
  if (getScales()) {
    contracts.push_back(
        {"scales", getScales(), Access::Read, {rows, blocks}, 1, true});
  }
  contracts.push_back(
      {"packed", getPacked(), Access::Write, {rows, depth}, 16, false});
  if (getPackedScales()) {
    contracts.push_back({"packed_scales",
                         getPackedScales(),
                         Access::Write,
                         {rows, blocks},
                         4,
                         false});
  }
  return contracts;
}

SmallVector<SizeRelation> PackOp::getSizeRelations() {
  if (getScales() && memrefOf(getWeights()).isDynamicDim(1)) {
    return {{"K", {{scaleBlock, "K/32"}}}};
  }
  return {};
}

LogicalResult PackOp::verify() {
  MemRefType weights = memrefOf(getWeights());
  Type element = weights.getElementType();
  if (weights.getRank() != 2) {
    return emitOpError("operand 'weights' must have 2 dimensions, found ")
           << weights;
  }
  if (!isa<BFloat16Type, Float8E4M3FNType, Float4E2M1FNType>(element)) {
    return emitOpError("packs weights of bf16, f8E4M3FN or f4E2M1FN, found ")
           << element;
  }
  auto layout = dyn_cast<WeightLayoutAttr>(memrefOf(getPacked()).getLayout());
  if (!layout) {
    return emitOpError("operand 'packed' must have a #tenon.weight_layout, "
                       "found ")
           << memrefOf(getPacked());
  }
  bool isFp4 = isa<Float4E2M1FNType>(element);
  if (layout.getOrder() != WeightOrder::Packed && !isFp4) {
    return emitOpError("weights in the order '")
           << stringifyWeightOrder(layout.getOrder())
           << "' must be f4E2M1FN, found " << element;
  }
  if (!getScales() != !getPackedScales() || (getScales() && !isFp4)) {
    return emitOpError("scales and packed_scales go together, with weights of "
                       "f4E2M1FN");
  }
  Multiples multiples = multiplesOf(*this);
  auto isMultiple = [](int64_t size, int64_t of) {
    return ShapedType::isDynamic(size) || (size > 0 && size % of == 0);
  };
  if (!isMultiple(weights.getDimSize(0), multiples.rows) ||
      !isMultiple(weights.getDimSize(1), multiples.depth)) {
    return emitOpError("N must be a positive multiple of ")
           << multiples.rows << " and K of " << multiples.depth
           << " in the order '" << stringifyWeightOrder(layout.getOrder())
           << "', found " << weights;
  }
  Type scale = Float8E8M0FNUType::get(getContext());
  for (const OperandContract &contract : getOperandContracts()) {
    bool isScale = contract.name.ends_with("scales");
    if (failed(verifyShape(*this, contract, isScale ? scale : element))) {
      return failure();
    }
    if (contract.access == Access::Read) {
      if (failed(verifyStrides(*this, contract))) {
        return failure();
      }
    } else if (memrefOf(contract.value).getLayout() != layout) {
      return emitOpError(
                 "packed and packed_scales must have one layout, found ")
             << memrefOf(getPacked()) << " and " << memrefOf(contract.value);
    }
  }
  return success();
}
