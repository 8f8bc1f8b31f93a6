//===- PlanBounds.cpp - the largest workspaces of a plan --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval arithmetic on the steps of a plan: every size lies between 0 and its
// bound, and so every step between two values that follow.
//
//===----------------------------------------------------------------------===//

#include "tenon/Runtime/PreparedPlan.h"

#include "PlanArithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tenon::runtime {

namespace {
/// Values from low to high. Steps whose range is not known have none.
struct Interval {
  int64_t low = 0;
  int64_t high = 0;
};
} // namespace

/// The hull of `kind` of all pairs; of a kind that is monotone in each side it
/// is spanned by the ends.
static std::optional<Interval> combine(ExprKind kind, Interval lhs,
                                       Interval rhs) {
  if ((kind == ExprKind::CeilDiv || kind == ExprKind::FloorDiv) &&
      rhs.low <= 0 && rhs.high >= 0) {
    // Division by zero fails, and next to it the quotient has no bound but
    // the dividend; only positive divisors occur.
    if (rhs.high < 1 || rhs.low < 0) {
      return std::nullopt;
    }
    rhs.low = 1;
  }
  std::optional<Interval> hull;
  for (int64_t left : {lhs.low, lhs.high}) {
    for (int64_t right : {rhs.low, rhs.high}) {
      int64_t value = 0;
      if (!compute(kind, left, right, value)) {
        return std::nullopt;
      }
      hull = hull ? Interval{std::min(hull->low, value),
                             std::max(hull->high, value)}
                  : Interval{value, value};
    }
  }
  return hull;
}

Result<std::vector<uint64_t>>
maxWorkspaceBytes(const Plan &plan, std::span<const SizeBound> bounds) {
  auto bound = [&](std::string_view symbol) -> std::optional<int64_t> {
    for (const SizeBound &given : bounds) {
      if (given.symbol == symbol) {
        return given.size;
      }
    }
    return std::nullopt;
  };
  for (const SizeBound &given : bounds) {
    bool known = std::any_of(
        plan.scalars.begin(), plan.scalars.end(),
        [&](const std::string &name) { return name == given.symbol; });
    for (const PlanOperand &operand : plan.operands) {
      for (const OperandDim &dim : operand.dims) {
        known |= dim.symbol == given.symbol;
      }
    }
    if (!known || given.symbol.empty() || given.size < 0) {
      return Error{fmt::format("{}: no size or scalar '{}' that could be at "
                               "most {}",
                               plan.name, given.symbol, given.size)};
    }
  }
  std::vector<std::optional<Interval>> values(plan.exprs.size());
  std::vector<std::string> unknown(plan.exprs.size());
  for (ExprId id = 0; id < plan.exprs.size(); ++id) {
    const Expr &expr = plan.exprs[id];
    switch (expr.kind) {
    case ExprKind::Constant:
      values[id] = Interval{expr.value, expr.value};
      continue;
    case ExprKind::Size: {
      const OperandDim &dim = plan.operands[expr.operand].dims[expr.dim];
      if (dim.symbol.empty()) {
        values[id] = Interval{dim.size, dim.size};
      } else if (auto size = bound(dim.symbol)) {
        values[id] = Interval{0, *size};
      } else {
        unknown[id] = dim.symbol;
      }
      continue;
    }
    case ExprKind::Scalar:
      if (auto size = bound(plan.scalars[expr.scalar])) {
        values[id] = Interval{0, *size};
      } else {
        unknown[id] = plan.scalars[expr.scalar];
      }
      continue;
    case ExprKind::Stride:
      unknown[id] = fmt::format("stride {} of {}", expr.dim,
                                plan.operands[expr.operand].name);
      continue;
    case ExprKind::Select: {
      // Either may be taken, unless the comparison is between constants.
      const auto &lhs = values[expr.lhs], &rhs = values[expr.rhs];
      bool fixed = lhs && rhs && lhs->low == lhs->high && rhs->low == rhs->high;
      if (fixed) {
        ExprId taken = holds(expr.comparison, lhs->low, rhs->low)
                           ? expr.ifTrue
                           : expr.ifFalse;
        values[id] = values[taken];
        unknown[id] = unknown[taken];
        continue;
      }
      const auto &one = values[expr.ifTrue], &other = values[expr.ifFalse];
      if (one && other) {
        values[id] = Interval{std::min(one->low, other->low),
                              std::max(one->high, other->high)};
      } else {
        unknown[id] = unknown[one ? expr.ifFalse : expr.ifTrue];
      }
      continue;
    }
    default:
      break;
    }
    const auto &lhs = values[expr.lhs], &rhs = values[expr.rhs];
    if (lhs && rhs) {
      values[id] = combine(expr.kind, *lhs, *rhs);
    } else {
      unknown[id] = unknown[lhs ? expr.rhs : expr.lhs];
    }
  }
  std::vector<uint64_t> bytes;
  for (const Workspace &workspace : plan.workspaces) {
    if (!values[workspace.bytes]) {
      const std::string &name = unknown[workspace.bytes];
      return Error{fmt::format(
          "{}: workspace '{}' has no bound{}", plan.name, workspace.name,
          name.empty() ? std::string(": its size overflows 64 bits")
                       : fmt::format(" without one for '{}'", name))};
    }
    bytes.push_back(std::max<int64_t>(values[workspace.bytes]->high, 0));
  }
  return bytes;
}

} // namespace tenon::runtime
