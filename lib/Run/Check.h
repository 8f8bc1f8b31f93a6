//===- Check.h - device memory against the reference ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_CHECK_H
#define TENON_LIB_RUN_CHECK_H

#include "Operands.h"

namespace tenon::run {

/// Compares every operand that the op writes with \p expectation, and the rest
/// of their memory with what it held before. One entry per such operand. With
/// \p sampled, see RunOptions::checkSampled.
llvm::Expected<std::vector<OperandCheck>>
checkOperands(sim::Memory &memory, Operands &operands,
              const Expectation &expectation, const Harness &harness,
              unsigned threads, bool sampled = false);

} // namespace tenon::run

#endif // TENON_LIB_RUN_CHECK_H
