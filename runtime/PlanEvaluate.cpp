//===- PlanEvaluate.cpp - A plan for the operands of one call ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Plan.h"

#include "PlanArithmetic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace tenon::runtime {

namespace {

/// The value of an expression, or the expression at whose evaluation its
/// computation failed.
struct Value {
  int64_t value = 0;
  ExprId failedAt = none;

  static constexpr ExprId none = std::numeric_limits<ExprId>::max();
  bool failed() const { return failedAt != none; }
};

class Evaluator {
public:
  Evaluator(const Plan &plan, std::span<const OperandArgument> operands,
            std::span<const int64_t> scalars)
      : plan(plan), operands(operands), scalars(scalars) {}

  Result<ConcretePlan> run() {
    if (Status status = checkOperands(); !status) {
      return status.error();
    }
    evaluateExprs();
    for (const Precondition &condition : plan.preconditions) {
      if (Status status = check(condition); !status) {
        return status.error();
      }
    }
    ConcretePlan concrete;
    for (const Workspace &workspace : plan.workspaces) {
      Result<int64_t> bytes =
          inRange(workspace.bytes, 0, std::numeric_limits<int64_t>::max(), [&] {
            return fmt::format("bytes of workspace '{}'", workspace.name);
          });
      if (!bytes) {
        return bytes.error();
      }
      concrete.workspaceBytes.push_back(*bytes);
    }
    for (uint32_t i = 0; i < plan.launches.size(); ++i) {
      ConcreteLaunch launch;
      launch.launch = i;
      if (Status status = fill(plan.launches[i], launch); !status) {
        return status.error();
      }
      if (!isEmpty(launch)) {
        concrete.launches.push_back(std::move(launch));
      }
    }
    return concrete;
  }

private:
  Error error(std::string message) const {
    return Error{fmt::format("{}: {}", plan.name, message)};
  }

  Status checkOperands() const {
    if (operands.size() != plan.operands.size()) {
      return error(fmt::format("{} operands expected, {} found",
                               plan.operands.size(), operands.size()));
    }
    if (scalars.size() != plan.scalars.size()) {
      return error(fmt::format("{} scalars expected, {} found",
                               plan.scalars.size(), scalars.size()));
    }
    // Sizes of the named dimensions, with the operand that gave each. There are
    // few names, so a list is faster than a map.
    struct Binding {
      std::string_view symbol;
      int64_t size;
      std::string_view operand;
    };
    std::vector<Binding> bindings;
    for (size_t i = 0; i < operands.size(); ++i) {
      const PlanOperand &expected = plan.operands[i];
      const OperandArgument &found = operands[i];
      size_t rank = expected.dims.size();
      if (found.layout != expected.layout) {
        auto named = [](std::string_view layout) {
          return layout.empty() ? std::string_view("row-major") : layout;
        };
        return error(fmt::format("operand '{}': elements in the order '{}' "
                                 "expected, '{}' found",
                                 expected.name, named(expected.layout),
                                 named(found.layout)));
      }
      if (found.sizes.size() != rank || found.strides.size() != rank) {
        return error(fmt::format(
            "operand '{}': rank {} expected, {} sizes and {} strides found",
            expected.name, rank, found.sizes.size(), found.strides.size()));
      }
      for (size_t dim = 0; dim < rank; ++dim) {
        int64_t size = found.sizes[dim];
        const OperandDim &expectedDim = expected.dims[dim];
        if (size < 0) {
          return error(fmt::format("operand '{}': dimension {} has size {}",
                                   expected.name, dim, size));
        }
        if (expectedDim.symbol.empty()) {
          if (size != expectedDim.size) {
            return error(fmt::format(
                "operand '{}': dimension {} must have size {}, found {}",
                expected.name, dim, expectedDim.size, size));
          }
          continue;
        }
        auto bound = std::find_if(
            bindings.begin(), bindings.end(),
            [&](const Binding &b) { return b.symbol == expectedDim.symbol; });
        if (bound == bindings.end()) {
          bindings.push_back({expectedDim.symbol, size, expected.name});
        } else if (bound->size != size) {
          return error(fmt::format("operand '{}': dimension {} is {} = {} as "
                                   "in operand '{}', found {}",
                                   expected.name, dim, bound->symbol,
                                   bound->size, bound->operand, size));
        }
      }
    }
    return {};
  }

  void evaluateExprs() {
    values.resize(plan.exprs.size());
    for (ExprId id = 0; id < plan.exprs.size(); ++id) {
      values[id] = evaluateExpr(id);
    }
  }

  Value evaluateExpr(ExprId id) const {
    const Expr &expr = plan.exprs[id];
    switch (expr.kind) {
    case ExprKind::Constant:
      return {.value = expr.value};
    case ExprKind::Size:
      return {.value = operands[expr.operand].sizes[expr.dim]};
    case ExprKind::Stride:
      return {.value = operands[expr.operand].strides[expr.dim]};
    case ExprKind::Scalar:
      return {.value = scalars[expr.scalar]};
    default:
      break;
    }
    const Value &lhs = values[expr.lhs], &rhs = values[expr.rhs];
    if (lhs.failed()) {
      return lhs;
    }
    if (rhs.failed()) {
      return rhs;
    }
    if (expr.kind == ExprKind::Select) {
      return values[holds(expr.comparison, lhs.value, rhs.value)
                        ? expr.ifTrue
                        : expr.ifFalse];
    }
    Value result;
    if (!compute(expr.kind, lhs.value, rhs.value, result.value)) {
      result.failedAt = id;
    }
    return result;
  }

  /// Why the computation failed at expression \p id.
  std::string failure(ExprId id) const {
    const Expr &expr = plan.exprs[id];
    int64_t lhs = values[expr.lhs].value, rhs = values[expr.rhs].value;
    bool byZero = rhs == 0 && (expr.kind == ExprKind::CeilDiv ||
                               expr.kind == ExprKind::FloorDiv);
    return fmt::format("expression {}, {} of {} and {}, {}", id,
                       name(expr.kind), lhs, rhs,
                       byZero ? "divides by zero" : "overflows 64 bits");
  }

  /// The value of \p id if it is in [low, high]; \p describe says what it is
  /// for, in an error.
  template <typename Describe>
  Result<int64_t> inRange(ExprId id, int64_t low, int64_t high,
                          Describe describe) const {
    const Value &value = values[id];
    if (value.failed()) {
      return error(fmt::format("{}: {}", describe(), failure(value.failedAt)));
    }
    if (value.value < low || value.value > high) {
      return error(fmt::format("{}: {} is outside [{}, {}]", describe(),
                               value.value, low, high));
    }
    return value.value;
  }

  Status check(const Precondition &condition) const {
    if (condition.kind == PreconditionKind::Compare) {
      const Value &lhs = values[condition.lhs], &rhs = values[condition.rhs];
      for (const Value &side : {lhs, rhs}) {
        if (side.failed()) {
          return error(
              fmt::format("{}: {}", condition.message, failure(side.failedAt)));
        }
      }
      if (!holds(condition.comparison, lhs.value, rhs.value)) {
        return error(fmt::format("{} (found {} and {})", condition.message,
                                 lhs.value, rhs.value));
      }
      return {};
    }
    const OperandArgument &operand = operands[condition.operand];
    std::string_view operandName = plan.operands[condition.operand].name;
    if (condition.kind == PreconditionKind::BaseAlignment) {
      if (operand.address % uint64_t(condition.value) != 0) {
        return error(fmt::format("operand '{}': {} (found address {:#x})",
                                 operandName, condition.message,
                                 operand.address));
      }
      return {};
    }
    int64_t stride = operand.strides[condition.dim];
    bool unused = operand.sizes[condition.dim] <= 1;
    bool met = condition.kind == PreconditionKind::StrideEquals
                   ? stride == condition.value
                   : stride % condition.value == 0;
    if (!unused && !met) {
      return error(fmt::format("operand '{}': {} (found stride {} in dimension "
                               "{})",
                               operandName, condition.message, stride,
                               condition.dim));
    }
    return {};
  }

  static bool isEmpty(const ConcreteLaunch &launch) {
    return launch.grid[0] == 0 || launch.grid[1] == 0 || launch.grid[2] == 0;
  }

  /// Fills \p concrete for \p launch; only the grid when that has a zero.
  Status fill(const Launch &launch, ConcreteLaunch &concrete) const {
    constexpr int64_t maxU32 = std::numeric_limits<uint32_t>::max();
    for (unsigned dim = 0; dim < 3; ++dim) {
      // A dispatch counts the work-items of each dimension in 32 bits.
      int64_t limit = maxU32 / launch.workgroupSize[dim];
      Result<int64_t> size = inRange(launch.grid[dim], 0, limit, [&] {
        return fmt::format("grid of '{}', dimension {}", launch.kernel, dim);
      });
      if (!size) {
        return size.error();
      }
      concrete.grid[dim] = *size;
    }
    if (isEmpty(concrete)) {
      return {};
    }
    Result<int64_t> lds = inRange(launch.dynamicLds, 0, maxU32, [&] {
      return fmt::format("dynamic LDS of '{}'", launch.kernel);
    });
    if (!lds) {
      return lds.error();
    }
    concrete.dynamicLds = *lds;
    concrete.kernarg.assign(launch.kernargBytes, 0);
    for (size_t i = 0; i < launch.args.size(); ++i) {
      if (Status status = write(launch, i, concrete); !status) {
        return status;
      }
    }
    return {};
  }

  Status write(const Launch &launch, size_t index,
               ConcreteLaunch &concrete) const {
    const KernelArg &arg = launch.args[index];
    uint8_t *destination = concrete.kernarg.data() + arg.offset;
    switch (arg.kind) {
    case ArgKind::Pointer:
      std::memcpy(destination, &operands[arg.index].address, 8);
      return {};
    case ArgKind::Workspace:
      concrete.workspaceSlots.push_back({arg.offset, arg.index});
      return {};
    case ArgKind::F32:
      std::memcpy(destination, &arg.constant, 4);
      return {};
    case ArgKind::I32:
    case ArgKind::I64:
      break;
    }
    bool narrow = arg.kind == ArgKind::I32;
    int64_t low = narrow ? std::numeric_limits<int32_t>::min()
                         : std::numeric_limits<int64_t>::min();
    int64_t high = narrow ? std::numeric_limits<int32_t>::max()
                          : std::numeric_limits<int64_t>::max();
    Result<int64_t> value = inRange(arg.expr, low, high, [&] {
      return fmt::format("argument {} of '{}'", index, launch.kernel);
    });
    if (!value) {
      return value.error();
    }
    // Little endian on both sides: the low bytes of the 64-bit value are the
    // 32-bit value.
    std::memcpy(destination, &*value, argBytes(arg.kind));
    return {};
  }

  const Plan &plan;
  std::span<const OperandArgument> operands;
  std::span<const int64_t> scalars;
  std::vector<Value> values;
};

} // namespace

void ConcreteLaunch::bindWorkspaces(std::span<const uint64_t> addresses) {
  for (const WorkspaceSlot &slot : workspaceSlots) {
    std::memcpy(kernarg.data() + slot.offset, &addresses[slot.workspace], 8);
  }
}

Result<ConcretePlan> evaluate(const Plan &plan,
                              std::span<const OperandArgument> operands,
                              std::span<const int64_t> scalars) {
  return Evaluator(plan, operands, scalars).run();
}

} // namespace tenon::runtime
