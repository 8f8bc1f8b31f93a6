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

#include <limits>

namespace tenon::spec {

/// How a launch uses an operand.
enum class Access { Read, Write, ReadWrite };

/// One size of an operand: an integer, or the name of a size that varies from
/// call to call.
struct ContractDim {
  std::string symbol; ///< empty when the size is fixed
  int64_t size = 0;   ///< when the size is fixed
  /// Above 1: a size that varies is a positive multiple of it.
  int64_t multiple = 1;
};

/// A part of a size: \p factor times \p part over \p divisor, rounded down.
struct SizeTerm {
  int64_t factor = 1;
  std::string part;
  int64_t divisor = 1;
};

/// Sizes that vary and depend on each other: \p whole is the sum of \p terms
/// and \p constant.
struct SizeRelation {
  std::string whole;
  llvm::SmallVector<SizeTerm, 2> terms;
  int64_t constant = 0;
};

/// An integer that comes with a call, from \p least to \p most; where \p
/// operand is given, it is below the size of its dimension \p dim.
struct HostScalar {
  llvm::StringRef name;
  int64_t least = 0;
  llvm::StringRef operand = {};
  unsigned dim = 0;
  int64_t most = std::numeric_limits<int64_t>::max();
};

/// Two integers that come with a call and bound indices of one dimension of an
/// operand: 0 <= begin <= end <= its size; end itself is outside the range.
struct HostRange {
  llvm::StringRef begin;
  llvm::StringRef end;
  llvm::StringRef operand;
  unsigned dim = 0;
};

/// What the products of a tenon.gemm are made of.
enum class GemmFormat {
  BF16,       ///< bf16 x bf16
  FP8,        ///< fp8 x fp8, an FP32 scale per row of each
  MXFP4,      ///< fp4 x fp4, a scale per 32 along K of each
  MXFP8MXFP4, ///< fp8 x fp4, a scale per 32 along K of each
  BF16MXFP4,  ///< bf16 x fp4, a scale per 32 along K of the weights
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
  /// Whether a free stride may be \p strideLimit bytes or more.
  bool wideStride = false;
  int64_t strideLimit = int64_t(1) << 31; ///< a power of two
  /// Behind a free stride of dimension 0: how many dimensions more have one.
  unsigned freeInner = 0;

  /// Whether the stride of dimension \p dim is a run-time value.
  bool isFree(unsigned dim) const { return freeStride && dim <= freeInner; }
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
