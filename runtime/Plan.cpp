//===- Plan.cpp - Construction and validation of plans ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace tenon::runtime {

std::string_view name(ExprKind kind) {
  switch (kind) {
  case ExprKind::Constant:
    return "const";
  case ExprKind::Size:
    return "size";
  case ExprKind::Stride:
    return "stride";
  case ExprKind::Scalar:
    return "scalar";
  case ExprKind::Add:
    return "add";
  case ExprKind::Sub:
    return "sub";
  case ExprKind::Mul:
    return "mul";
  case ExprKind::CeilDiv:
    return "ceildiv";
  case ExprKind::FloorDiv:
    return "floordiv";
  case ExprKind::Min:
    return "min";
  case ExprKind::Max:
    return "max";
  case ExprKind::Select:
    return "select";
  }
  return "";
}

std::string_view name(Comparison comparison) {
  switch (comparison) {
  case Comparison::Eq:
    return "eq";
  case Comparison::Ne:
    return "ne";
  case Comparison::Lt:
    return "lt";
  case Comparison::Le:
    return "le";
  case Comparison::Gt:
    return "gt";
  case Comparison::Ge:
    return "ge";
  }
  return "";
}

uint32_t argBytes(ArgKind kind) {
  return kind == ArgKind::I32 || kind == ArgKind::F32 ? 4 : 8;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// The id of \p expr in \p exprs, appended unless an equal one is there. Plans
/// have tens of expressions, so a linear search will do.
static ExprId intern(std::vector<Expr> &exprs, const Expr &expr) {
  auto found = std::find(exprs.begin(), exprs.end(), expr);
  if (found != exprs.end()) {
    return found - exprs.begin();
  }
  exprs.push_back(expr);
  return exprs.size() - 1;
}

ExprId Plan::constant(int64_t value) {
  return intern(exprs, {.kind = ExprKind::Constant, .value = value});
}

ExprId Plan::size(uint32_t operand, uint32_t dim) {
  return intern(exprs,
                {.kind = ExprKind::Size, .operand = operand, .dim = dim});
}

ExprId Plan::stride(uint32_t operand, uint32_t dim) {
  return intern(exprs,
                {.kind = ExprKind::Stride, .operand = operand, .dim = dim});
}

ExprId Plan::scalar(uint32_t index) {
  return intern(exprs, {.kind = ExprKind::Scalar, .scalar = index});
}

ExprId Plan::binary(ExprKind kind, ExprId lhs, ExprId rhs) {
  return intern(exprs, {.kind = kind, .lhs = lhs, .rhs = rhs});
}

ExprId Plan::select(Comparison comparison, ExprId lhs, ExprId rhs,
                    ExprId ifTrue, ExprId ifFalse) {
  return intern(exprs, {.kind = ExprKind::Select,
                        .lhs = lhs,
                        .rhs = rhs,
                        .comparison = comparison,
                        .ifTrue = ifTrue,
                        .ifFalse = ifFalse});
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

namespace {

class Validator {
public:
  explicit Validator(const Plan &plan) : plan(plan) {}

  Status run() {
    checkNames();
    for (size_t i = 0; i < plan.exprs.size(); ++i) {
      checkExpr(i);
    }
    for (const Workspace &workspace : plan.workspaces) {
      checkWorkspace(workspace);
    }
    for (const Launch &launch : plan.launches) {
      checkLaunch(launch);
    }
    for (size_t i = 0; i < plan.preconditions.size(); ++i) {
      checkPrecondition(i);
    }
    return status;
  }

private:
  /// Keeps the first complaint.
  void complain(std::string message) {
    if (status) {
      status =
          Error{fmt::format("plan '{}': {}", plan.name, std::move(message))};
    }
  }

  void checkNames() {
    std::set<std::string_view> operandNames;
    for (const PlanOperand &operand : plan.operands) {
      if (operand.name.empty()) {
        complain("an operand has no name");
      } else if (!operandNames.insert(operand.name).second) {
        complain(fmt::format("two operands are named '{}'", operand.name));
      }
      for (const OperandDim &dim : operand.dims) {
        if (dim.symbol.empty() && dim.size < 0) {
          complain(fmt::format("operand '{}' has a dimension of size {}",
                               operand.name, dim.size));
        }
      }
    }
    std::set<std::string_view> scalarNames;
    for (const std::string &scalar : plan.scalars) {
      if (scalar.empty()) {
        complain("a scalar has no name");
      } else if (!scalarNames.insert(scalar).second) {
        complain(fmt::format("two scalars are named '{}'", scalar));
      }
    }
  }

  void checkOperandDim(uint32_t operand, uint32_t dim,
                       const std::string &where) {
    if (operand >= plan.operands.size()) {
      complain(fmt::format("{} names operand {} of {}", where, operand,
                           plan.operands.size()));
      return;
    }
    size_t rank = plan.operands[operand].dims.size();
    if (dim >= rank) {
      complain(fmt::format("{} names dimension {} of operand '{}' of rank {}",
                           where, dim, plan.operands[operand].name, rank));
    }
  }

  void checkExprId(ExprId id, size_t limit, const std::string &where) {
    if (id >= limit) {
      complain(fmt::format("{} uses expression {}, of which there are {}",
                           where, id, limit));
    }
  }

  void checkExpr(size_t id) {
    const Expr &expr = plan.exprs[id];
    std::string where = fmt::format("expression {} ({})", id, name(expr.kind));
    switch (expr.kind) {
    case ExprKind::Constant:
      return;
    case ExprKind::Size:
    case ExprKind::Stride:
      return checkOperandDim(expr.operand, expr.dim, where);
    case ExprKind::Scalar:
      if (expr.scalar >= plan.scalars.size()) {
        complain(fmt::format("{} names scalar {} of {}", where, expr.scalar,
                             plan.scalars.size()));
      }
      return;
    case ExprKind::Select:
      checkEarlier(expr.ifTrue, id, where);
      checkEarlier(expr.ifFalse, id, where);
      break;
    default:
      break;
    }
    checkEarlier(expr.lhs, id, where);
    checkEarlier(expr.rhs, id, where);
  }

  void checkEarlier(ExprId used, size_t user, const std::string &where) {
    if (used >= user) {
      complain(fmt::format("{} uses expression {}, which is not before it",
                           where, used));
    }
  }

  void checkWorkspace(const Workspace &workspace) {
    std::string where = fmt::format("workspace '{}'", workspace.name);
    if (workspace.name.empty()) {
      complain("a workspace has no name");
    }
    checkExprId(workspace.bytes, plan.exprs.size(), where);
    if (!std::has_single_bit(workspace.alignment)) {
      complain(fmt::format("{} has the alignment {}, not a power of two", where,
                           workspace.alignment));
    }
  }

  void checkLaunch(const Launch &launch) {
    std::string where = fmt::format("launch of '{}'", launch.kernel);
    if (launch.kernel.empty()) {
      complain("a launch names no kernel");
    }
    uint64_t workItems = 1;
    for (uint32_t size : launch.workgroupSize) {
      // Each factor is bounded first, so that the product cannot wrap.
      workItems *= std::min<uint32_t>(size, 2048);
    }
    if (workItems == 0 || workItems > 1024) {
      complain(fmt::format(
          "{} has the workgroup size {} x {} x {}; between 1 and 1024 "
          "work-items are possible",
          where, launch.workgroupSize[0], launch.workgroupSize[1],
          launch.workgroupSize[2]));
    }
    for (ExprId id : launch.grid) {
      checkExprId(id, plan.exprs.size(), where + ", grid,");
    }
    checkExprId(launch.dynamicLds, plan.exprs.size(), where + ", dynamic LDS,");
    checkArgs(launch, where);
  }

  void checkArgs(const Launch &launch, const std::string &where) {
    // 4 KiB hold far more arguments than any kernel takes, and bound what a
    // damaged file can make the runtime allocate.
    constexpr uint32_t maxKernargBytes = 4096;
    if (launch.kernargBytes > maxKernargBytes) {
      complain(fmt::format("{} has {} bytes of arguments, more than {}", where,
                           launch.kernargBytes, maxKernargBytes));
      return;
    }
    std::vector<bool> taken(launch.kernargBytes, false);
    for (size_t i = 0; i < launch.args.size(); ++i) {
      const KernelArg &arg = launch.args[i];
      std::string argWhere = fmt::format("{}, argument {},", where, i);
      uint32_t size = argBytes(arg.kind);
      if (arg.offset % size != 0 || arg.offset > launch.kernargBytes ||
          launch.kernargBytes - arg.offset < size) {
        complain(fmt::format("{} of {} bytes has the offset {} in {} bytes",
                             argWhere, size, arg.offset, launch.kernargBytes));
        return;
      }
      for (uint32_t byte = arg.offset; byte < arg.offset + size; ++byte) {
        if (taken[byte]) {
          complain(
              fmt::format("{} overlaps another at byte {}", argWhere, byte));
          return;
        }
        taken[byte] = true;
      }
      checkArgSource(arg, argWhere);
    }
  }

  void checkArgSource(const KernelArg &arg, const std::string &where) {
    switch (arg.kind) {
    case ArgKind::Pointer:
      if (arg.index >= plan.operands.size()) {
        complain(fmt::format("{} points to operand {} of {}", where, arg.index,
                             plan.operands.size()));
      }
      return;
    case ArgKind::Workspace:
      if (arg.index >= plan.workspaces.size()) {
        complain(fmt::format("{} points to workspace {} of {}", where,
                             arg.index, plan.workspaces.size()));
      }
      return;
    case ArgKind::I32:
    case ArgKind::I64:
      return checkExprId(arg.expr, plan.exprs.size(), where);
    case ArgKind::F32:
      if (!std::isfinite(arg.constant)) {
        complain(fmt::format("{} is not a finite number", where));
      }
      return;
    }
  }

  void checkPrecondition(size_t index) {
    const Precondition &condition = plan.preconditions[index];
    std::string where = fmt::format("precondition {}", index);
    if (condition.message.empty()) {
      complain(where + " has no message");
    }
    switch (condition.kind) {
    case PreconditionKind::BaseAlignment:
      if (condition.operand >= plan.operands.size()) {
        complain(fmt::format("{} names operand {} of {}", where,
                             condition.operand, plan.operands.size()));
      }
      break;
    case PreconditionKind::StrideMultiple:
    case PreconditionKind::StrideEquals:
      checkOperandDim(condition.operand, condition.dim, where);
      break;
    case PreconditionKind::Compare:
      checkExprId(condition.lhs, plan.exprs.size(), where);
      checkExprId(condition.rhs, plan.exprs.size(), where);
      return;
    }
    if (condition.value < 1 &&
        condition.kind != PreconditionKind::StrideEquals) {
      complain(
          fmt::format("{} asks for a multiple of {}", where, condition.value));
    }
  }

  const Plan &plan;
  Status status;
};

} // namespace

Status validate(const Plan &plan) { return Validator(plan).run(); }

} // namespace tenon::runtime
