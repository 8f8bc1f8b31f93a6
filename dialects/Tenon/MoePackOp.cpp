//===- MoePackOp.cpp - contract and verifier of tenon.moe_pack --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

/// Elements along K that share a scale.
static constexpr int64_t scaleBlock = 32;
static constexpr int64_t mostDepth = 8192;

static MemRefType memrefOf(Value value) {
  return cast<MemRefType>(value.getType());
}

WeightOrder MoePackOp::getWeightOrder() {
  return cast<WeightLayoutAttr>(memrefOf(getPacked()).getLayout()).getOrder();
}

int64_t MoePackOp::getRows() { return memrefOf(getWeights()).getDimSize(1); }

int64_t MoePackOp::getDepth() { return memrefOf(getWeights()).getDimSize(2); }

SmallVector<OperandContract> MoePackOp::getOperandContracts() {
  ContractDim experts{"E", 0, 1};
  ContractDim rows{"", getRows(), 1};
  ContractDim depth{"", getDepth(), 1};
  ContractDim blocks{"", getDepth() / scaleBlock, 1};
  return {{"weights",
           getWeights(),
           Access::Read,
           {experts, rows, depth},
           16,
           /*freeStride=*/true,
           /*wideStride=*/true},
          {"scales",
           getScales(),
           Access::Read,
           {experts, rows, blocks},
           1,
           /*freeStride=*/true,
           /*wideStride=*/true},
          {"packed", getPacked(), Access::Write, {experts, rows, depth}, 16},
          {"packed_scales",
           getPackedScales(),
           Access::Write,
           {experts, rows, blocks},
           4}};
}

LogicalResult MoePackOp::verify() {
  MemRefType weights = memrefOf(getWeights());
  if (weights.getRank() != 3 || weights.isDynamicDim(1) ||
      weights.isDynamicDim(2)) {
    return emitOpError("operand 'weights' must have 3 dimensions, static but "
                       "for the first, found ")
           << weights;
  }
  auto layout = dyn_cast<WeightLayoutAttr>(memrefOf(getPacked()).getLayout());
  if (!layout || memrefOf(getPackedScales()).getLayout() != layout) {
    return emitOpError("packed and packed_scales must have one "
                       "#tenon.weight_layout, found ")
           << memrefOf(getPacked()) << " and " << memrefOf(getPackedScales());
  }
  bool isPacked = layout.getOrder() == WeightOrder::Packed;
  int64_t rowMultiple = getInterleaved() ? 64 : isPacked ? 1 : 32;
  int64_t depthMultiple = isPacked ? scaleBlock : 2 * scaleBlock;
  int64_t n = getRows(), k = getDepth();
  if (n < 1 || k < 1 || k > mostDepth || n % rowMultiple != 0 ||
      k % depthMultiple != 0) {
    return emitOpError("N must be a positive multiple of ")
           << rowMultiple << " and K of " << depthMultiple << " up to "
           << mostDepth << " in the order '"
           << stringifyWeightOrder(layout.getOrder()) << "'"
           << (getInterleaved() ? " of interleaved rows" : "") << ", found "
           << weights;
  }
  Type element = Float4E2M1FNType::get(getContext());
  Type scale = Float8E8M0FNUType::get(getContext());
  for (const OperandContract &contract : getOperandContracts()) {
    bool isScale = contract.name.ends_with("scales");
    if (failed(verifyShape(*this, contract, isScale ? scale : element)) ||
        (contract.access == Access::Read &&
         failed(verifyStrides(*this, contract)))) {
      return failure();
    }
  }
  return success();
}
