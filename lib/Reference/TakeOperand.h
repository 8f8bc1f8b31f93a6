//===- TakeOperand.h - operands of a reference, checked ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_REFERENCE_TAKEOPERAND_H
#define TENON_LIB_REFERENCE_TAKEOPERAND_H

#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tenon::reference {

/// A dimension of any size, in an expected shape.
inline constexpr int64_t anySize = -1;

/// Takes the operand \p name out of \p operands into \p view, if its type is
/// among \p types and its shape is \p shape. The error names the operand, what
/// was expected and what was found.
llvm::Error takeOperand(const llvm::StringMap<TensorView> &operands,
                        llvm::StringRef name, llvm::ArrayRef<ElementType> types,
                        llvm::ArrayRef<int64_t> shape, TensorView &view);

} // namespace tenon::reference

#endif // TENON_LIB_REFERENCE_TAKEOPERAND_H
