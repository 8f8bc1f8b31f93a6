//===- VerifyContract.h - types of operands against contracts ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_VERIFYCONTRACT_H
#define TENON_DIALECTS_TENON_VERIFYCONTRACT_H

#include "dialects/Tenon/Tenon.h"

namespace tenon::spec {

/// Emits an error and fails unless the operand has the shape of \p contract and
/// one of the types \p elements.
mlir::LogicalResult verifyShape(mlir::Operation *op,
                                const OperandContract &contract,
                                llvm::ArrayRef<mlir::Type> elements);

/// Emits an error and fails unless the operand, whose shape has been verified,
/// is dense but for the outermost strides that are free.
mlir::LogicalResult verifyStrides(mlir::Operation *op,
                                  const OperandContract &contract);

} // namespace tenon::spec

#endif // TENON_DIALECTS_TENON_VERIFYCONTRACT_H
