//===- PlanArithmetic.h - the steps of plans --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_PLANARITHMETIC_H
#define TENON_RUNTIME_PLANARITHMETIC_H

#include "tenon/Runtime/Plan.h"

#include <algorithm>
#include <limits>

namespace tenon::runtime {

inline bool holds(Comparison comparison, int64_t lhs, int64_t rhs) {
  switch (comparison) {
  case Comparison::Eq:
    return lhs == rhs;
  case Comparison::Ne:
    return lhs != rhs;
  case Comparison::Lt:
    return lhs < rhs;
  case Comparison::Le:
    return lhs <= rhs;
  case Comparison::Gt:
    return lhs > rhs;
  case Comparison::Ge:
    return lhs >= rhs;
  }
  return false;
}

/// lhs `kind` rhs in \p result; false on overflow and on division by zero.
inline bool compute(ExprKind kind, int64_t lhs, int64_t rhs, int64_t &result) {
  switch (kind) {
  case ExprKind::Add:
    return !__builtin_add_overflow(lhs, rhs, &result);
  case ExprKind::Sub:
    return !__builtin_sub_overflow(lhs, rhs, &result);
  case ExprKind::Mul:
    return !__builtin_mul_overflow(lhs, rhs, &result);
  case ExprKind::CeilDiv:
  case ExprKind::FloorDiv: {
    if (rhs == 0 || (lhs == std::numeric_limits<int64_t>::min() && rhs == -1)) {
      return false;
    }
    // C++ rounds towards zero: correct an inexact quotient on the other side.
    result = lhs / rhs;
    bool inexact = lhs % rhs != 0;
    bool negative = (lhs < 0) != (rhs < 0);
    if (inexact && negative && kind == ExprKind::FloorDiv) {
      --result;
    } else if (inexact && !negative && kind == ExprKind::CeilDiv) {
      ++result;
    }
    return true;
  }
  case ExprKind::Min:
    result = std::min(lhs, rhs);
    return true;
  case ExprKind::Max:
    result = std::max(lhs, rhs);
    return true;
  default:
    return false;
  }
}

} // namespace tenon::runtime

#endif // TENON_RUNTIME_PLANARITHMETIC_H
