//===- Failures.h - Statuses as exceptions ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_PYTHON_BINDINGS_FAILURES_H
#define TENON_PYTHON_BINDINGS_FAILURES_H

#include "tenon-c/tenon.h"

#include <string>

namespace tenon::python {

/// Throws the exception of tenon.errors that stands for \p status, with
/// \p message. An operand that the message names becomes its `operand`.
[[noreturn]] void raise(tenon_status status, const std::string &message);

/// Throws OperandError about \p operand of \p kernel.
[[noreturn]] void raiseOperand(const std::string &kernel,
                               const std::string &operand,
                               const std::string &message);

/// Throws when \p status is not TENON_OK, with the message of the last call.
void check(tenon_status status);

} // namespace tenon::python

#endif // TENON_PYTHON_BINDINGS_FAILURES_H
