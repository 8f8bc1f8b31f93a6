//===- PlanTest.cpp - Evaluation of launch plans ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SamplePlan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

using namespace tenon::runtime;

namespace {

/// The operands of a call of samplePlan().
struct Call {
  explicit Call(int64_t rows)
      : xSizes{rows, 64}, xStrides{64, 1}, indexSizes{rows}, indexStrides{1} {}

  Result<ConcretePlan> evaluate(const Plan &plan) const {
    OperandArgument operands[] = {{x, xSizes, xStrides, "packed"},
                                  {index, indexSizes, indexStrides}};
    return tenon::runtime::evaluate(plan, operands);
  }

  std::string error(const Plan &plan) const {
    Result<ConcretePlan> result = evaluate(plan);
    return result ? "no error" : result.error().message;
  }

  uint64_t x = 0x7f0000001000, index = 0x7f0000002004;
  std::vector<int64_t> xSizes, xStrides, indexSizes, indexStrides;
};

template <typename T> T read(const ConcreteLaunch &launch, uint32_t offset) {
  T value;
  std::memcpy(&value, launch.kernarg.data() + offset, sizeof(T));
  return value;
}

TEST(PlanTest, SampleIsValid) {
  Status status = validate(samplePlan());
  EXPECT_TRUE(status) << status.error().message;
}

TEST(PlanTest, EqualExpressionsAreShared) {
  Plan plan;
  EXPECT_EQ(plan.constant(3), plan.constant(3));
  EXPECT_NE(plan.constant(3), plan.constant(4));
  EXPECT_NE(plan.size(0, 0), plan.stride(0, 0));
  EXPECT_EQ(plan.exprs.size(), 4u);
}

// Scalars of a call take part in expressions like sizes do.
TEST(PlanTest, Scalars) {
  Plan plan;
  plan.name = "range";
  plan.scalars = {"begin", "end"};
  ExprId one = plan.constant(1);
  ExprId count = plan.binary(ExprKind::Sub, plan.scalar(1), plan.scalar(0));
  plan.launches.push_back(
      {.kernel = "k",
       .grid = {count, one, one},
       .workgroupSize = {64, 1, 1},
       .dynamicLds = plan.constant(0),
       .kernargBytes = 4,
       .args = {{.kind = ArgKind::I32, .offset = 0, .expr = plan.scalar(0)}}});
  int64_t scalars[] = {3, 10};
  Result<ConcretePlan> concrete = evaluate(plan, {}, scalars);
  ASSERT_TRUE(concrete) << concrete.error().message;
  EXPECT_EQ(concrete->launches[0].grid[0], 7u);
  EXPECT_EQ(read<int32_t>(concrete->launches[0], 0), 3);
  EXPECT_EQ(evaluate(plan, {}).error().message,
            "range: 2 scalars expected, 0 found");
}

TEST(PlanTest, Launches) {
  Call call(7);
  call.xStrides[0] = int64_t(1) << 33;
  Result<ConcretePlan> plan = call.evaluate(samplePlan());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->workspaceBytes, (std::vector<uint64_t>{56}));
  ASSERT_EQ(plan->launches.size(), 2u);
  ConcreteLaunch &first = plan->launches[0];
  EXPECT_EQ(first.launch, 0u);
  EXPECT_EQ(first.grid, (std::array<uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(first.dynamicLds, 0u);
  ASSERT_EQ(first.kernarg.size(), 40u);
  EXPECT_EQ(read<uint64_t>(first, 0), call.x);
  EXPECT_EQ(read<uint64_t>(first, 8), 0u);
  EXPECT_EQ(read<int32_t>(first, 16), 7);
  EXPECT_EQ(read<float>(first, 20), 1e-6f);
  EXPECT_EQ(read<int64_t>(first, 24), int64_t(1) << 33);
  EXPECT_EQ(read<uint64_t>(first, 32), call.index);
  const uint64_t workspaces[] = {0xabcd00};
  first.bindWorkspaces(workspaces);
  EXPECT_EQ(read<uint64_t>(first, 8), 0xabcd00u);
  EXPECT_EQ(read<uint64_t>(first, 0), call.x);

  EXPECT_EQ(plan->launches[1].launch, 1u);
  EXPECT_EQ(plan->launches[1].grid[0], 6u);
  EXPECT_EQ(plan->launches[1].dynamicLds, 56u);
}

TEST(PlanTest, SelectTakesOneSide) {
  EXPECT_EQ(Call(16).evaluate(samplePlan())->launches[1].grid[0], 15u);
  EXPECT_EQ(Call(17).evaluate(samplePlan())->launches[1].grid[0], 5u);
}

// One row: the second grid is zero and only the first launch remains.
TEST(PlanTest, EmptyGridsAreNotLaunched) {
  Result<ConcretePlan> plan = Call(1).evaluate(samplePlan());
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->launches.size(), 1u);
  EXPECT_EQ(plan->launches[0].launch, 0u);
}

TEST(PlanTest, NoRowsLaunchNothing) {
  Plan plan = samplePlan();
  plan.launches.pop_back();
  Call call(0);
  // An empty tensor may have no memory and any stride.
  call.x = 0;
  call.xStrides = {3, 1};
  // Arguments of what is not launched may be out of range.
  plan.launches[0].args[2].expr = plan.constant(int64_t(1) << 40);
  Result<ConcretePlan> result = call.evaluate(plan);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->launches.empty());
  EXPECT_EQ(result->workspaceBytes, (std::vector<uint64_t>{0}));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// The value of a plan's only expression of the constants, as an argument.
std::string compute(ExprKind kind, int64_t lhs, int64_t rhs) {
  Plan plan;
  plan.name = "p";
  // Equal constants share an expression, so take the ids as they come.
  ExprId left = plan.constant(lhs), right = plan.constant(rhs);
  ExprId one = plan.constant(1), zero = plan.constant(0);
  plan.launches = {{.kernel = "k",
                    .grid = {one, one, one},
                    .workgroupSize = {1, 1, 1},
                    .dynamicLds = zero,
                    .kernargBytes = 8,
                    .args = {{.kind = ArgKind::I64,
                              .offset = 0,
                              .expr = plan.binary(kind, left, right)}}}};
  EXPECT_TRUE(validate(plan));
  Result<ConcretePlan> result = evaluate(plan, {});
  return result ? std::to_string(read<int64_t>(result->launches[0], 0))
                : result.error().message;
}

TEST(PlanArithmeticTest, Values) {
  EXPECT_EQ(compute(ExprKind::Add, 5, -7), "-2");
  EXPECT_EQ(compute(ExprKind::Sub, 5, -7), "12");
  EXPECT_EQ(compute(ExprKind::Mul, 1 << 20, 1 << 20), "1099511627776");
  EXPECT_EQ(compute(ExprKind::Min, 5, -7), "-7");
  EXPECT_EQ(compute(ExprKind::Max, 5, -7), "5");
}

// Against the definition: q <= n/d < q+1, and the ceiling by negation.
TEST(PlanArithmeticTest, DivisionsRoundDownAndUp) {
  for (int64_t n = -9; n <= 9; ++n) {
    for (int64_t d : {-4, -3, -1, 1, 3, 4}) {
      int64_t floor = std::stoll(compute(ExprKind::FloorDiv, n, d));
      EXPECT_LE(0, (n - floor * d) * (d > 0 ? 1 : -1)) << n << " / " << d;
      EXPECT_LT(std::abs(n - floor * d), std::abs(d)) << n << " / " << d;
      EXPECT_EQ(std::stoll(compute(ExprKind::CeilDiv, n, d)),
                -std::stoll(compute(ExprKind::FloorDiv, -n, d)));
    }
  }
  EXPECT_EQ(compute(ExprKind::CeilDiv, 128, 4), "32");
  EXPECT_EQ(compute(ExprKind::CeilDiv, 129, 4), "33");
}

TEST(PlanArithmeticTest, FailuresAreErrors) {
  constexpr int64_t min = std::numeric_limits<int64_t>::min(),
                    max = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(compute(ExprKind::Mul, int64_t(1) << 32, int64_t(1) << 31),
            "p: argument 0 of 'k': expression 4, mul of 4294967296 and "
            "2147483648, overflows 64 bits");
  EXPECT_EQ(compute(ExprKind::FloorDiv, 7, 0),
            "p: argument 0 of 'k': expression 3, floordiv of 7 and 0, divides "
            "by zero");
  for (auto [kind, lhs, rhs] : {std::tuple{ExprKind::Add, max, int64_t(1)},
                                {ExprKind::Sub, min, int64_t(1)},
                                {ExprKind::Mul, min, int64_t(-1)},
                                {ExprKind::CeilDiv, min, int64_t(-1)},
                                {ExprKind::FloorDiv, min, int64_t(-1)}}) {
    EXPECT_NE(compute(kind, lhs, rhs).find("overflows"), std::string::npos)
        << name(kind);
  }
  EXPECT_EQ(compute(ExprKind::Add, max - 1, 1), std::to_string(max));
}

// n == 0 ? 0 : 100 / n must be possible, and a step that nothing uses may fail.
TEST(PlanArithmeticTest, ErrorsOfUnusedValuesDoNotCount) {
  Plan plan = samplePlan();
  ExprId rows = plan.size(0, 0), zero = plan.constant(0);
  ExprId quotient = plan.binary(ExprKind::FloorDiv, plan.constant(100), rows);
  plan.binary(ExprKind::Add, quotient, rows);
  ExprId guarded = plan.select(Comparison::Eq, rows, zero, zero, quotient);
  plan.workspaces[0].bytes = guarded;
  EXPECT_EQ(Call(7).evaluate(plan)->workspaceBytes[0], 14u);
  plan.launches.clear();
  EXPECT_EQ(Call(0).error(plan), "no error");
  plan.workspaces[0].bytes =
      plan.binary(ExprKind::Add, quotient, plan.constant(5));
  EXPECT_NE(Call(0).error(plan).find("divides by zero"), std::string::npos);
  // Also where a comparison or a select passes the error on.
  plan.workspaces[0].bytes =
      plan.select(Comparison::Ge, quotient, zero, zero, zero);
  EXPECT_NE(Call(0).error(plan).find("divides by zero"), std::string::npos);
  plan.workspaces[0].bytes =
      plan.select(Comparison::Ge, zero, zero, quotient, zero);
  EXPECT_EQ(Call(0).error(plan),
            "sample: bytes of workspace 'partial': expression 13, floordiv of "
            "100 and 0, divides by zero");
}

TEST(PlanArithmeticTest, Comparisons) {
  for (int64_t lhs : {-1, 0, 1}) {
    const std::pair<Comparison, bool> cases[] = {
        {Comparison::Eq, lhs == 0}, {Comparison::Ne, lhs != 0},
        {Comparison::Lt, lhs < 0},  {Comparison::Le, lhs <= 0},
        {Comparison::Gt, lhs > 0},  {Comparison::Ge, lhs >= 0}};
    for (auto [comparison, holds] : cases) {
      Plan plan = samplePlan();
      plan.workspaces[0].bytes =
          plan.select(comparison, plan.constant(lhs), plan.constant(0),
                      plan.constant(11), plan.constant(22));
      EXPECT_EQ(Call(7).evaluate(plan)->workspaceBytes[0], holds ? 11u : 22u)
          << lhs << name(comparison);
    }
  }
}

//===----------------------------------------------------------------------===//
// Errors of a call
//===----------------------------------------------------------------------===//

TEST(PlanErrorTest, Operands) {
  Plan plan = samplePlan();
  EXPECT_EQ(evaluate(plan, {}).error().message,
            "sample: 2 operands expected, 0 found");
  Call call(7);
  call.indexSizes = {7, 1};
  EXPECT_EQ(call.error(plan), "sample: operand 'index': rank 1 expected, 2 "
                              "sizes and 1 strides found");
  call = Call(7);
  call.xSizes[1] = 63;
  EXPECT_EQ(call.error(plan),
            "sample: operand 'x': dimension 1 must have size 64, found 63");
  call = Call(7);
  call.indexSizes[0] = 8;
  EXPECT_EQ(call.error(plan), "sample: operand 'index': dimension 0 is N = 7 "
                              "as in operand 'x', found 8");
  call = Call(-1);
  EXPECT_EQ(call.error(plan), "sample: operand 'x': dimension 0 has size -1");
}

TEST(PlanErrorTest, Preconditions) {
  Plan plan = samplePlan();
  Call call(7);
  call.x += 8;
  EXPECT_EQ(call.error(plan), "sample: operand 'x': the base must be aligned "
                              "to 16 bytes (found address 0x7f0000001008)");
  call = Call(7);
  call.xStrides[0] = 68;
  EXPECT_EQ(call.error(plan),
            "sample: operand 'x': the row stride must be a multiple of 8 "
            "elements (found stride 68 in dimension 0)");
  call.xStrides = {64, 2};
  EXPECT_EQ(call.error(plan), "sample: operand 'x': rows must be contiguous "
                              "(found stride 2 in dimension 1)");
  // The stride of a single row is never used.
  call = Call(1);
  call.xStrides[0] = 3;
  EXPECT_EQ(call.error(plan), "no error");
  call = Call((int64_t(1) << 40) + 1);
  EXPECT_EQ(call.error(plan),
            "sample: at most 2^40 rows (found 1099511627777 and "
            "1099511627776)");
}

TEST(PlanErrorTest, Ranges) {
  Plan plan = samplePlan();
  // 2^32 work-items in x are one too many.
  Call call((int64_t(1) << 24) * 4);
  EXPECT_EQ(call.error(plan), "sample: grid of 'first', dimension 0: 16777216 "
                              "is outside [0, 16777215]");
  plan = samplePlan();
  plan.launches[1].grid[1] = plan.constant(-1);
  EXPECT_EQ(Call(7).error(plan), "sample: grid of 'second', dimension 1: -1 "
                                 "is outside [0, 2147483647]");
  plan = samplePlan();
  plan.launches[0].args[2].expr = plan.constant(int64_t(1) << 31);
  EXPECT_EQ(Call(7).error(plan), "sample: argument 2 of 'first': 2147483648 is "
                                 "outside [-2147483648, 2147483647]");
  plan.launches[0].args[2].expr = plan.constant(-(int64_t(1) << 31));
  EXPECT_EQ(read<int32_t>(Call(7).evaluate(plan)->launches[0], 16),
            std::numeric_limits<int32_t>::min());
  plan = samplePlan();
  plan.workspaces[0].bytes = plan.constant(-8);
  EXPECT_NE(Call(7).error(plan).find("workspace 'partial': -8 is outside"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Plans that are not sound
//===----------------------------------------------------------------------===//

/// What is wrong with the sample after \p damage.
template <typename Damage> std::string damaged(Damage damage) {
  Plan plan = samplePlan();
  damage(plan);
  Status status = validate(plan);
  return status ? "valid" : status.error().message;
}

TEST(PlanValidationTest, Expressions) {
  EXPECT_EQ(damaged([](Plan &p) {
              p.exprs.push_back({.kind = ExprKind::Add, .lhs = 0, .rhs = 99});
            }),
            "plan 'sample': expression 12 (add) uses expression 99, which is "
            "not before it");
  // A step may not use itself.
  EXPECT_NE(damaged([](Plan &p) {
              uint32_t self = uint32_t(p.exprs.size());
              p.exprs.push_back({.kind = ExprKind::Select, .ifTrue = self});
            }),
            "valid");
  EXPECT_EQ(damaged([](Plan &p) { p.size(2, 0); }),
            "plan 'sample': expression 12 (size) names operand 2 of 2");
  EXPECT_EQ(damaged([](Plan &p) { p.stride(1, 1); }),
            "plan 'sample': expression 12 (stride) names dimension 1 of "
            "operand 'index' of rank 1");
}

TEST(PlanValidationTest, Launches) {
  auto launch = [](auto change) {
    return damaged([&](Plan &p) { change(p.launches[0]); });
  };
  EXPECT_EQ(launch([](Launch &l) { l.grid[1] = 70; }),
            "plan 'sample': launch of 'first', grid, uses expression 70, of "
            "which there are 12");
  EXPECT_EQ(launch([](Launch &l) { l.workgroupSize = {1025, 1, 1}; }),
            "plan 'sample': launch of 'first' has the workgroup size 1025 x 1 "
            "x 1; between 1 and 1024 work-items are possible");
  for (std::array<uint32_t, 3> size : {std::array<uint32_t, 3>{0, 1, 1},
                                       {65536, 65536, 1},
                                       {~0u, ~0u, ~0u},
                                       {512, 3, 1}}) {
    EXPECT_NE(launch([&](Launch &l) { l.workgroupSize = size; }), "valid");
  }
  EXPECT_EQ(launch([](Launch &l) { l.kernel = ""; }),
            "plan 'sample': a launch names no kernel");
  EXPECT_NE(launch([](Launch &l) { l.kernargBytes = 39; }), "valid");
  EXPECT_NE(launch([](Launch &l) { l.kernargBytes = 1u << 31; }), "valid");
  EXPECT_EQ(launch([](Launch &l) { l.args[1].offset = 12; }),
            "plan 'sample': launch of 'first', argument 1, of 8 bytes has the "
            "offset 12 in 40 bytes");
  EXPECT_EQ(launch([](Launch &l) { l.args[3].offset = 16; }),
            "plan 'sample': launch of 'first', argument 3, overlaps another "
            "at byte 16");
  EXPECT_NE(launch([](Launch &l) { l.args[3].offset = ~0u - 3; }), "valid");
  EXPECT_NE(launch([](Launch &l) { l.args[0].index = 2; }), "valid");
  EXPECT_NE(launch([](Launch &l) { l.args[1].index = 1; }), "valid");
  EXPECT_NE(launch([](Launch &l) { l.args[2].expr = 99; }), "valid");
  EXPECT_NE(launch([](Launch &l) {
              l.args[3].constant = std::numeric_limits<float>::infinity();
            }),
            "valid");
}

TEST(PlanValidationTest, TheRest) {
  EXPECT_EQ(damaged([](Plan &p) { p.operands[1].name = "x"; }),
            "plan 'sample': two operands are named 'x'");
  EXPECT_NE(damaged([](Plan &p) { p.operands[0].dims[1].size = -64; }),
            "valid");
  EXPECT_EQ(damaged([](Plan &p) { p.workspaces[0].alignment = 24; }),
            "plan 'sample': workspace 'partial' has the alignment 24, not a "
            "power of two");
  EXPECT_NE(damaged([](Plan &p) { p.workspaces[0].bytes = 99; }), "valid");
  EXPECT_EQ(damaged([](Plan &p) { p.preconditions[1].value = 0; }),
            "plan 'sample': precondition 1 asks for a multiple of 0");
  EXPECT_EQ(damaged([](Plan &p) { p.preconditions[3].message = ""; }),
            "plan 'sample': precondition 3 has no message");
  EXPECT_NE(damaged([](Plan &p) { p.preconditions[0].operand = 2; }), "valid");
  EXPECT_NE(damaged([](Plan &p) { p.preconditions[2].dim = 2; }), "valid");
  EXPECT_NE(damaged([](Plan &p) { p.preconditions[3].rhs = 99; }), "valid");
}

} // namespace
