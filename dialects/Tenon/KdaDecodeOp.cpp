//===- KdaDecodeOp.cpp - contract of tenon.kda_decode -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/KdaContract.h"

using namespace mlir;
using namespace tenon::spec;

StateOrder KdaDecodeOp::getStateOrder() { return stateOrderOf(getState()); }

SmallVector<OperandContract> KdaDecodeOp::getOperandContracts() {
  ContractDim requests{"N", 0};
  KdaContracts contracts(KdaAttributes::of(*this));
  contracts.addInputs(*this, requests);
  contracts.addConvPool("conv_state", getConvState(), getConvLayout(), "S",
                        Access::ReadWrite);
  contracts.add("conv_start", getConvStart(), {requests}, 4, false);
  contracts.addStatePool("state", getState(), "S", Access::ReadWrite);
  contracts.add("slot", getSlot(), {requests}, 4, true);
  contracts.addOut(getOut(), requests);
  return contracts.take();
}

LogicalResult KdaDecodeOp::verify() {
  if (failed(verifyKdaAttributes(*this, KdaAttributes::of(*this)))) {
    return failure();
  }
  for (const OperandContract &contract : getOperandContracts()) {
    if (failed(verifyKdaOperand(*this, contract))) {
      return failure();
    }
  }
  return success();
}
