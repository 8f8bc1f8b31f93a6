//===- MlaMergeOps.cpp - tenon.mla_merge and tenon.mla_scale ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tenon/VerifyContract.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon::spec;

static const ContractDim rows{"R"};
static const ContractDim parts{"W"};
/// Columns of a result: the latent values of MLA.
static const ContractDim columns{"", 512};

/// An operand [W, R, ...] of which both strides are free, that of W of any
/// size.
static OperandContract ofParts(OperandContract contract) {
  contract.freeStride = contract.wideStride = true;
  contract.freeInner = 1;
  return contract;
}

/// The operands but the parts: lse, out and merged_lse.
static void addResults(SmallVector<OperandContract> &contracts, Value lse,
                       Value out, Value merged) {
  contracts.push_back(ofParts({"lse", lse, Access::Read, {parts, rows}, 4}));
  contracts.push_back({"out", out, Access::Write, {rows, columns}, 16, true});
  if (merged) {
    contracts.push_back({"merged_lse", merged, Access::Write, {rows}, 4, true});
  }
}

SmallVector<OperandContract> MlaMergeOp::getOperandContracts() {
  SmallVector<OperandContract> contracts;
  contracts.push_back(
      ofParts({"parts", getParts(), Access::Read, {parts, rows, columns}, 16}));
  addResults(contracts, getLse(), getOut(), getMergedLse());
  return contracts;
}

SmallVector<OperandContract> MlaScaleOp::getOperandContracts() {
  SmallVector<OperandContract> contracts = {
      {"part", getPart(), Access::Read, {rows, columns}, 16, true}};
  addResults(contracts, getLse(), getOut(), getMergedLse());
  return contracts;
}

SmallVector<HostScalar> MlaScaleOp::getHostScalars() {
  return {{"rank", 0, "lse", 0}};
}

static LogicalResult verifyTypes(Operation *op,
                                 ArrayRef<OperandContract> contracts) {
  Type single = Float32Type::get(op->getContext());
  Type half = BFloat16Type::get(op->getContext());
  for (const OperandContract &contract : contracts) {
    bool isLse = contract.name.ends_with("lse");
    SmallVector<Type> types{single};
    if (!isLse) {
      types.push_back(half);
    }
    if (failed(verifyShape(op, contract, types)) ||
        failed(verifyStrides(op, contract))) {
      return failure();
    }
  }
  return success();
}

LogicalResult MlaMergeOp::verify() {
  return verifyTypes(*this, getOperandContracts());
}

LogicalResult MlaScaleOp::verify() {
  return verifyTypes(*this, getOperandContracts());
}
