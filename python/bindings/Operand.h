//===- Operand.h - An array as an operand of a kernel -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_PYTHON_BINDINGS_OPERAND_H
#define TENON_PYTHON_BINDINGS_OPERAND_H

#include "Dlpack.h"

#include "tenon-c/tenon.h"

#include <string>
#include <vector>

namespace tenon::python {

/// Sizes and strides in elements of the kernel's type.
struct OperandView {
  std::vector<int64_t> sizes, strides;
};

/// \p array seen as \p expected. Beside the exact type and shape it may have
/// further dimensions of size 1, a fixed size in several dimensions that lie in
/// memory like one ([H, D] for H*D), uint8 for types of 8 and 4 bits (of 4 bits
/// two elements, the first in the low half), uint16 for bf16, and bool for i8.
/// Throws std::runtime_error with what was expected and found.
OperandView viewAs(const tenon_operand &expected, const DlArray &array);

/// The bytes from the first to the last element of \p array if all of them are
/// its own, in row-major order; throws std::runtime_error otherwise. What
/// reordered operands and workspaces are.
uint64_t denseBytes(const DlArray &array);

/// "bf16".
const char *typeName(tenon_dtype type);

/// "bf16 [N, 1536]".
std::string describe(const tenon_operand &expected);

} // namespace tenon::python

#endif // TENON_PYTHON_BINDINGS_OPERAND_H
