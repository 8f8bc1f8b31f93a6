//===- Tenon.h - the tenon dialect ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_TENON_H
#define TENON_DIALECTS_TENON_TENON_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tenon::spec {

/// How a launch uses an operand.
enum class Access { Read, Write, ReadWrite };

/// One size of an operand: an integer, or the name of a size that varies from
/// call to call.
struct ContractDim {
  std::string symbol; ///< empty when the size is fixed
  int64_t size = 0;   ///< when the size is fixed
};

/// What an op asks of one operand.
struct OperandContract {
  llvm::StringRef name;
  mlir::Value value;
  Access access = Access::Read;
  llvm::SmallVector<ContractDim> dims; ///< outermost first
  /// Bytes that the base address and a free stride must be multiples of.
  int64_t alignment = 1;
  /// Whether the stride of dimension 0 is a run-time value.
  bool freeStride = false;
  /// Whether a free stride may be 2^31 bytes or more.
  bool wideStride = false;
};

} // namespace tenon::spec

#include "dialects/Tenon/TenonDialect.h.inc"
#include "dialects/Tenon/TenonEnums.h.inc"
#include "dialects/Tenon/TenonInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tenon/TenonAttrs.h.inc"
#define GET_OP_CLASSES
#include "dialects/Tenon/TenonOps.h.inc"
#define GET_OP_CLASSES
#include "dialects/Tenon/PlanOps.h.inc"

#endif // TENON_DIALECTS_TENON_TENON_H
