//===- CheckPlan.h - what holds for every valid plan ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_FUZZ_CHECKPLAN_H
#define TENON_TEST_FUZZ_CHECKPLAN_H

#include "tenon/Runtime/Plan.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

class FuzzedDataProvider;

namespace tenon::fuzz {

/// Ends the program with \p what unless \p holds: libFuzzer then keeps the
/// input.
inline void require(bool holds, const char *what) {
  if (!holds) {
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::abort();
  }
}

/// The text of the valid plan \p plan stands for it.
void checkText(const runtime::Plan &plan);

/// For \p count calls, whose operands \p data chooses, both evaluations of
/// the valid plan \p plan say the same, and no workspace is above its bound.
void checkCalls(const runtime::Plan &plan, FuzzedDataProvider &data,
                unsigned count);

} // namespace tenon::fuzz

#endif // TENON_TEST_FUZZ_CHECKPLAN_H
