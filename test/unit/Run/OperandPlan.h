//===- OperandPlan.h - a plan that only describes operands ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_RUN_OPERANDPLAN_H
#define TENON_TEST_UNIT_RUN_OPERANDPLAN_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Runtime/Plan.h"

#include "llvm/Support/raw_ostream.h"

namespace tenon {

/// What the plan of \p op will say of its operands and scalars.
inline runtime::Plan planOf(spec::SpecOpInterface op) {
  runtime::Plan plan;
  plan.name = op->getName().stripDialect().str();
  for (const spec::OperandContract &contract : op.getOperandContracts()) {
    runtime::PlanOperand operand;
    operand.name = contract.name.str();
    llvm::raw_string_ostream(operand.elementType)
        << llvm::cast<mlir::MemRefType>(contract.value.getType())
               .getElementType();
    operand.access = contract.access == spec::Access::Read
                         ? runtime::OperandAccess::Read
                     : contract.access == spec::Access::Write
                         ? runtime::OperandAccess::Write
                         : runtime::OperandAccess::ReadWrite;
    for (const spec::ContractDim &dim : contract.dims) {
      operand.dims.push_back({dim.symbol, dim.size});
    }
    plan.operands.push_back(std::move(operand));
  }
  for (const spec::HostRange &range : op.getHostRanges()) {
    plan.scalars.push_back(range.begin.str());
    plan.scalars.push_back(range.end.str());
  }
  for (const spec::HostScalar &scalar : op.getHostScalars()) {
    plan.scalars.push_back(scalar.name.str());
  }
  return plan;
}

} // namespace tenon

#endif // TENON_TEST_UNIT_RUN_OPERANDPLAN_H
