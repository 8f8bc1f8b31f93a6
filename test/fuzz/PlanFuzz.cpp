//===- PlanFuzz.cpp - any plan, evaluated for any call ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The input is a plan step by step rather than text, so that nearly every one
// is valid and evaluation is what is tried.
//
//===----------------------------------------------------------------------===//

#include "CheckPlan.h"

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <limits>

using namespace tenon::runtime;

namespace {
class PlanMaker {
public:
  explicit PlanMaker(FuzzedDataProvider &data) : data(data) {}

  Plan run() {
    plan.name = "fuzzed";
    for (unsigned i = number(1, 4); i-- > 0;) {
      addOperand();
    }
    for (unsigned i = number(0, 2); i-- > 0;) {
      plan.scalars.push_back(data.ConsumeBool() ? "N" + std::to_string(i)
                                                : "s" + std::to_string(i));
    }
    plan.exprs.push_back({});
    for (unsigned i = number(1, 24); i-- > 0;) {
      addExpr();
    }
    for (unsigned i = number(0, 3); i-- > 0;) {
      plan.workspaces.push_back({"w" + std::to_string(i), expr(),
                                 1u << number(0, 12), data.ConsumeBool()});
    }
    for (unsigned i = number(0, 3); i-- > 0;) {
      addLaunch();
    }
    for (unsigned i = number(0, 3); i-- > 0;) {
      addPrecondition();
    }
    return std::move(plan);
  }

private:
  uint32_t number(uint32_t low, uint32_t high) {
    return data.ConsumeIntegralInRange<uint32_t>(low, high);
  }
  ExprId expr() { return number(0, uint32_t(plan.exprs.size()) - 1); }
  Comparison comparison() { return Comparison(number(0, 5)); }

  int64_t constant() {
    switch (number(0, 5)) {
    case 0:
      return data.ConsumeIntegral<int64_t>();
    case 1:
      return std::numeric_limits<int64_t>::min() + number(0, 1);
    case 2:
      return std::numeric_limits<int64_t>::max() - number(0, 1);
    default:
      return data.ConsumeIntegralInRange<int64_t>(-4, 4096);
    }
  }

  void addOperand() {
    PlanOperand operand;
    operand.name = "x" + std::to_string(plan.operands.size());
    operand.elementType = "f32";
    operand.access = OperandAccess(number(0, 2));
    operand.layout = data.ConsumeBool() ? "" : "packed";
    for (unsigned i = number(0, 3); i-- > 0;) {
      OperandDim dim;
      if (data.ConsumeBool()) {
        dim.symbol = "N" + std::to_string(number(0, 2));
      } else {
        dim.size = number(0, 4096);
      }
      operand.dims.push_back(std::move(dim));
    }
    plan.operands.push_back(std::move(operand));
  }

  /// An operand and a dimension of it; false when it has none.
  bool place(uint32_t &operand, uint32_t &dim) {
    operand = number(0, uint32_t(plan.operands.size()) - 1);
    size_t rank = plan.operands[operand].dims.size();
    dim = rank == 0 ? 0 : number(0, uint32_t(rank) - 1);
    return rank != 0;
  }

  void addExpr() {
    Expr made;
    made.kind = ExprKind(number(0, unsigned(ExprKind::Select)));
    switch (made.kind) {
    case ExprKind::Constant:
      made.value = constant();
      break;
    case ExprKind::Size:
    case ExprKind::Stride:
      if (!place(made.operand, made.dim)) {
        return;
      }
      break;
    case ExprKind::Scalar:
      if (plan.scalars.empty()) {
        return;
      }
      made.scalar = number(0, uint32_t(plan.scalars.size()) - 1);
      break;
    case ExprKind::Select:
      made.comparison = comparison();
      made.ifTrue = expr();
      made.ifFalse = expr();
      [[fallthrough]];
    default:
      made.lhs = expr();
      made.rhs = expr();
    }
    plan.exprs.push_back(made);
  }

  void addLaunch() {
    Launch launch;
    launch.kernel = "k";
    launch.workgroupSize = {number(1, 1024), 1, 1};
    launch.grid = {expr(), expr(), expr()};
    launch.dynamicLds = expr();
    for (unsigned i = number(0, 6); i-- > 0;) {
      KernelArg arg;
      arg.kind = ArgKind(number(0, 4));
      if (arg.kind == ArgKind::Workspace && plan.workspaces.empty()) {
        continue;
      }
      uint32_t bytes = argBytes(arg.kind);
      arg.offset = (launch.kernargBytes + bytes - 1) / bytes * bytes;
      launch.kernargBytes = arg.offset + bytes;
      if (arg.kind == ArgKind::F32) {
        arg.constant = float(number(0, 1000)) / 8;
      } else if (arg.kind == ArgKind::I32 || arg.kind == ArgKind::I64) {
        arg.expr = expr();
      } else {
        size_t count = arg.kind == ArgKind::Pointer ? plan.operands.size()
                                                    : plan.workspaces.size();
        arg.index = number(0, uint32_t(count) - 1);
      }
      launch.args.push_back(arg);
    }
    plan.launches.push_back(std::move(launch));
  }

  void addPrecondition() {
    Precondition made;
    made.kind = PreconditionKind(number(0, 3));
    made.message = "expected";
    if (made.kind == PreconditionKind::Compare) {
      made.comparison = comparison();
      made.lhs = expr();
      made.rhs = expr();
    } else {
      if (!place(made.operand, made.dim)) {
        return;
      }
      if (made.kind == PreconditionKind::BaseAlignment) {
        made.dim = 0;
      }
      made.value = std::max<int64_t>(constant(), 1);
    }
    plan.preconditions.push_back(std::move(made));
  }

  FuzzedDataProvider &data;
  Plan plan;
};
} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  FuzzedDataProvider data(bytes, size);
  Plan plan = PlanMaker(data).run();
  // Two scalars may have one name.
  if (validate(plan)) {
    // Text takes most of the time, and PlanTextFuzz is about it.
    if (data.ConsumeIntegralInRange(0, 15) == 15) {
      tenon::fuzz::checkText(plan);
    }
    tenon::fuzz::checkCalls(plan, data, 4);
  }
  return 0;
}
