//===- KdaPrefillOp.cpp - contracts of KDA over sequences -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/KdaContract.h"

using namespace mlir;
using namespace tenon::spec;

/// Tokens of a chunk.
static constexpr int64_t chunkTokens = 64;

/// Bytes that strides of rows of tokens stay below.
static constexpr int64_t maxRowStride = (int64_t(1) << 31) / chunkTokens;

/// Sizes of cu_seqlens and of plan.
static SmallVector<ContractDim> boundaryDims() { return {{"N+1", 0}}; }
static SmallVector<ContractDim> planDims() { return {{"C", 0}, {"", 4}}; }

//===----------------------------------------------------------------------===//
// tenon.kda_plan
//===----------------------------------------------------------------------===//

SmallVector<OperandContract> KdaPlanOp::getOperandContracts() {
  return {
      {"cu_seqlens", getCuSeqlens(), Access::Read, boundaryDims(), 4, false},
      {"plan", getPlan(), Access::Write, planDims(), 16, false}};
}

LogicalResult KdaPlanOp::verify() {
  for (const OperandContract &contract : getOperandContracts()) {
    if (failed(verifyKdaOperand(*this, contract))) {
      return failure();
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// tenon.kda_prefill
//===----------------------------------------------------------------------===//

StateOrder KdaPrefillOp::getStateOrder() { return stateOrderOf(getState()); }

SmallVector<OperandContract> KdaPrefillOp::getOperandContracts() {
  ContractDim tokens{"T", 0};
  ContractDim sequences{"N", 0};
  // Tokens that are gathered lie among other rows.
  ContractDim rows = getRow() ? ContractDim{"R", 0} : tokens;
  SmallVector<ContractDim> offsets = {sequences};
  Value checkpointOffset = getCheckpointOffset();
  if (checkpointOffset &&
      cast<MemRefType>(checkpointOffset.getType()).getRank() == 2) {
    offsets.push_back({"M", 0});
  }

  KdaContracts contracts(KdaAttributes::of(*this));
  contracts.addInputs(*this, rows);
  contracts.addConvPool("conv_state", getConvState(), getConvLayout(), "S",
                        Access::ReadWrite);
  contracts.addStatePool("state", getState(), "S", Access::ReadWrite);
  contracts.add("cu_seqlens", getCuSeqlens(), boundaryDims(), 4, false);
  contracts.add("slot", getSlot(), {sequences}, 4, true);
  contracts.add("initial_slot", getInitialSlot(), {sequences}, 4, true);
  contracts.add("has_initial_state", getHasInitialState(), {sequences}, 1,
                false);
  contracts.add("row", getRow(), {tokens}, 4, false);
  contracts.add("checkpoint_offset", checkpointOffset, offsets, 4, false);
  contracts.add("checkpoint_slot", getCheckpointSlot(), offsets, 4, false);
  contracts.addStatePool("checkpoint_state", getCheckpointState(), "P",
                         Access::Write);
  contracts.addConvPool("checkpoint_conv", getCheckpointConv(), getConvLayout(),
                        "P", Access::Write);
  contracts.add("plan", getPlan(), planDims(), 16, false);
  contracts.addOut(getOut(), rows);
  SmallVector<OperandContract> taken = contracts.take();
  for (OperandContract &contract : taken) {
    if (contract.dims.front().symbol == rows.symbol) {
      // The rows of a chunk are within 32-bit offsets of each other.
      contract.strideLimit = maxRowStride;
    }
  }
  return taken;
}

SmallVector<SizeRelation> KdaPrefillOp::getSizeRelations() {
  SmallVector<SizeRelation> relations = {{"N+1", {{1, "N"}}, 1}};
  if (getPlan()) {
    relations.push_back({"C", {{1, "T", chunkTokens}, {1, "N"}}});
  }
  return relations;
}

SmallVector<HostScalar> KdaPrefillOp::getHostScalars() {
  if (getMaxSeqLen()) {
    return {{"max_seq_len", 0}};
  }
  return {};
}

LogicalResult KdaPrefillOp::verify() {
  if (failed(verifyKdaAttributes(*this, KdaAttributes::of(*this)))) {
    return failure();
  }
  int64_t present =
      llvm::count_if(ArrayRef<Value>{getCheckpointOffset(), getCheckpointSlot(),
                                     getCheckpointState(), getCheckpointConv()},
                     [](Value value) { return static_cast<bool>(value); });
  if (present != 0 && present != 4) {
    return emitOpError("checkpoint_offset, checkpoint_slot, checkpoint_state "
                       "and checkpoint_conv go together, found ")
           << present << " of them";
  }
  for (const OperandContract &contract : getOperandContracts()) {
    if (failed(verifyKdaOperand(*this, contract))) {
      return failure();
    }
  }
  if (getCheckpointState() &&
      stateOrderOf(getCheckpointState()) != getStateOrder()) {
    return emitOpError(
               "state and checkpoint_state must have one layout, found ")
           << getState().getType() << " and " << getCheckpointState().getType();
  }
  return success();
}
