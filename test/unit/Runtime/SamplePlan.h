//===- SamplePlan.h - A plan with one of everything -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_RUNTIME_SAMPLEPLAN_H
#define TENON_TEST_UNIT_RUNTIME_SAMPLEPLAN_H

#include "tenon/Runtime/Plan.h"

namespace tenon::runtime {

/// Two launches on x: bf16 [N, 64] and index: i32 [N], with a workspace of 8
/// bytes per row. The first has a workgroup for every 4 rows; so has the second
/// beyond 16 rows, and up to there N - 1 workgroups.
inline Plan samplePlan() {
  Plan plan;
  plan.name = "sample";
  plan.operands = {
      {.name = "x",
       .elementType = "bf16",
       .access = OperandAccess::ReadWrite,
       .dims = {{.symbol = "N", .size = 0}, {.symbol = "", .size = 64}},
       .layout = "packed"},
      {.name = "index",
       .elementType = "i32",
       .access = OperandAccess::Read,
       .dims = {{.symbol = "N", .size = 0}},
       .layout = ""}};
  ExprId zero = plan.constant(0), one = plan.constant(1);
  ExprId rows = plan.size(0, 0);
  ExprId groups = plan.binary(ExprKind::CeilDiv, rows, plan.constant(4));
  ExprId bytes = plan.binary(ExprKind::Mul, rows, plan.constant(8));
  ExprId fewer = plan.binary(ExprKind::Sub, rows, one);
  ExprId second =
      plan.select(Comparison::Gt, rows, plan.constant(16), groups, fewer);
  plan.workspaces = {{.name = "partial",
                      .bytes = bytes,
                      .alignment = 256,
                      .zeroInitialised = true}};
  plan.launches.push_back(
      {.kernel = "first",
       .grid = {groups, one, one},
       .workgroupSize = {256, 1, 1},
       .dynamicLds = zero,
       .kernargBytes = 40,
       .args = {{.kind = ArgKind::Pointer, .offset = 0, .index = 0},
                {.kind = ArgKind::Workspace, .offset = 8, .index = 0},
                {.kind = ArgKind::I32, .offset = 16, .expr = rows},
                {.kind = ArgKind::F32, .offset = 20, .constant = 1e-6f},
                {.kind = ArgKind::I64, .offset = 24, .expr = plan.stride(0, 0)},
                {.kind = ArgKind::Pointer, .offset = 32, .index = 1}}});
  plan.launches.push_back(
      {.kernel = "second",
       .grid = {second, one, one},
       .workgroupSize = {64, 2, 1},
       .dynamicLds = bytes,
       .kernargBytes = 8,
       .args = {{.kind = ArgKind::Workspace, .offset = 0, .index = 0}}});
  plan.preconditions = {
      {.kind = PreconditionKind::BaseAlignment,
       .operand = 0,
       .value = 16,
       .message = "the base must be aligned to 16 bytes"},
      {.kind = PreconditionKind::StrideMultiple,
       .operand = 0,
       .dim = 0,
       .value = 8,
       .message = "the row stride must be a multiple of 8 elements"},
      {.kind = PreconditionKind::StrideEquals,
       .operand = 0,
       .dim = 1,
       .value = 1,
       .message = "rows must be contiguous"},
      {.kind = PreconditionKind::Compare,
       .comparison = Comparison::Le,
       .lhs = rows,
       .rhs = plan.constant(int64_t(1) << 40),
       .message = "at most 2^40 rows"}};
  return plan;
}

} // namespace tenon::runtime

#endif // TENON_TEST_UNIT_RUNTIME_SAMPLEPLAN_H
