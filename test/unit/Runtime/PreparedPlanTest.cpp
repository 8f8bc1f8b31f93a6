//===- PreparedPlanTest.cpp - fast evaluation agrees with the slow one ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/PreparedPlan.h"

#include "SamplePlan.h"

#include <gtest/gtest.h>

#include <random>

using namespace tenon::runtime;

namespace {
/// Operands of the sample plan for a number of rows.
struct SampleCall {
  int64_t xSizes[2] = {4, 64}, xStrides[2] = {64, 1};
  int64_t indexSizes[1] = {4}, indexStrides[1] = {1};
  uint64_t xAddress = 0x1000, indexAddress = 0x2004;
  std::string_view layout = "packed";

  explicit SampleCall(int64_t rows) { xSizes[0] = indexSizes[0] = rows; }
  std::vector<OperandArgument> operands() const {
    return {{xAddress, xSizes, xStrides, layout},
            {indexAddress, indexSizes, indexStrides}};
  }
};
} // namespace

/// Whether \p found is what `evaluate` says, the workspaces bound.
static void expectSame(const Plan &plan, const ConcretePlan &expected,
                       const Evaluation &found) {
  EXPECT_EQ(found.workspaceBytes, expected.workspaceBytes);
  ASSERT_EQ(found.launches.size(), expected.launches.size());
  for (size_t i = 0; i < found.launches.size(); ++i) {
    const ReadyLaunch &ready = found.launches[i];
    const ConcreteLaunch &launch = expected.launches[i];
    EXPECT_EQ(ready.launch, launch.launch);
    EXPECT_EQ(ready.grid, launch.grid);
    EXPECT_EQ(ready.dynamicLds, launch.dynamicLds);
    uint32_t bytes = plan.launches[launch.launch].kernargBytes;
    const uint8_t *segment = found.kernargs.data() + ready.kernargOffset;
    EXPECT_EQ(std::vector<uint8_t>(segment, segment + bytes), launch.kernarg);
  }
}

// Over calls of many sizes, some of them wrong in one thing, both evaluations
// agree in what they launch and in whether they refuse.
TEST(PreparedPlan, AgreesWithEvaluate) {
  Plan plan = samplePlan();
  PreparedPlan prepared(plan);
  Evaluation evaluation;
  std::mt19937_64 random(7);
  unsigned accepted = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    SampleCall call(random() % 200);
    switch (random() % 12) {
    case 0:
      call.xAddress += 8;
      break;
    case 1:
      call.xStrides[0] = 60;
      break;
    case 2:
      call.xStrides[1] = 2;
      break;
    case 3:
      call.indexSizes[0] += 1;
      break;
    case 4:
      call.xSizes[1] = 63;
      break;
    case 5:
      call.layout = "";
      break;
    case 6:
      call.xSizes[0] = call.indexSizes[0] = int64_t(1) << 41;
      break;
    case 7:
      call.xSizes[0] = call.indexSizes[0] = -1;
      break;
    default:
      call.xStrides[0] = 8 * int64_t(random() % 100) - 80;
    }
    auto operands = call.operands();
    auto expected = evaluate(plan, operands);
    ASSERT_EQ(prepared.evaluate(operands, {}, evaluation), bool(expected));
    if (!expected) {
      continue;
    }
    ++accepted;
    expectSame(plan, *expected, evaluation);
    std::vector<uint64_t> addresses = {0xabcd0000};
    prepared.bindWorkspaces(addresses, evaluation);
    for (ConcreteLaunch &launch : expected->launches) {
      launch.bindWorkspaces(addresses);
    }
    expectSame(plan, *expected, evaluation);
    Evaluation adopted;
    prepared.adopt(*expected, adopted);
    expectSame(plan, *expected, adopted);
  }
  EXPECT_GT(accepted, 500u);
}

// A stride that is good for one row alone is looked at again for more, and what
// was kept of one plan is not taken for another.
TEST(PreparedPlan, StridesOfOneRowAreNotKept) {
  PreparedPlan prepared(samplePlan());
  Evaluation evaluation;
  // A stride that would be refused of two rows.
  SampleCall one(1);
  one.xStrides[0] = 60;
  std::vector<OperandArgument> operands = one.operands();
  ASSERT_TRUE(prepared.evaluate(operands, {}, evaluation));
  SampleCall two(2);
  two.xStrides[0] = 60;
  operands = two.operands();
  EXPECT_FALSE(prepared.evaluate(operands, {}, evaluation));
  two.xStrides[0] = 64;
  operands = two.operands();
  EXPECT_TRUE(prepared.evaluate(operands, {}, evaluation));
  // Another plan does not take what was kept for this one.
  PreparedPlan other(samplePlan());
  SampleCall three(3);
  operands = three.operands();
  Evaluation fresh;
  ASSERT_TRUE(other.evaluate(operands, {}, evaluation));
  ASSERT_TRUE(other.evaluate(operands, {}, fresh));
  EXPECT_EQ(evaluation.kernargs, fresh.kernargs);
}

// The wrong number of operands, ranks or scalars is refused, not read past.
TEST(PreparedPlan, CountsAreChecked) {
  PreparedPlan prepared(samplePlan());
  Evaluation evaluation;
  SampleCall call(4);
  auto operands = call.operands();
  int64_t scalar = 1;
  EXPECT_TRUE(prepared.evaluate(operands, {}, evaluation));
  EXPECT_FALSE(prepared.evaluate(operands, {&scalar, 1}, evaluation));
  EXPECT_FALSE(prepared.evaluate(std::span(operands).first(1), {}, evaluation));
  operands[1].sizes = {};
  EXPECT_FALSE(prepared.evaluate(operands, {}, evaluation));
}

// An address is unsigned, also above 2^63 and for a factor that is no power of
// two; a stride is signed.
TEST(PreparedPlan, AddressesAreUnsigned) {
  Plan plan;
  plan.name = "aligned";
  plan.operands = {{"x", "f32", OperandAccess::Read, {{"N", 0}}, ""}};
  Precondition multiple;
  multiple.kind = PreconditionKind::BaseAlignment;
  multiple.value = 3;
  multiple.message = "expected";
  Precondition stride = multiple;
  stride.kind = PreconditionKind::StrideMultiple;
  plan.preconditions = {multiple, stride};
  ASSERT_TRUE(validate(plan));
  PreparedPlan prepared(plan);
  Evaluation evaluation;
  const int64_t sizes[1] = {2};
  for (uint64_t address = ~uint64_t(0) - 5; address != 6; ++address) {
    for (int64_t step : {-4, -3, 3, 4}) {
      OperandArgument operand{address, sizes, {&step, 1}};
      bool expected = address % 3 == 0 && (step == 3 || step == -3);
      EXPECT_EQ(bool(evaluate(plan, {&operand, 1})), expected) << address;
      EXPECT_EQ(prepared.evaluate({&operand, 1}, {}, evaluation), expected)
          << address;
    }
  }
}

// The bound on a workspace holds for every smaller call, also where its size
// is not monotone, and is that of some call where it is.
TEST(PlanBounds, WorkspacesStayBelow) {
  Plan plan = samplePlan();
  auto most = maxWorkspaceBytes(plan, std::vector<SizeBound>{{"N", 100}});
  ASSERT_TRUE(bool(most)) << most.error().message;
  EXPECT_EQ(*most, std::vector<uint64_t>{800});

  // 4 (10 - N / 3) bytes up to 20 rows, N ceildiv 4 beyond.
  ExprId rows = plan.size(0, 0);
  ExprId falling = plan.binary(
      ExprKind::Mul, plan.constant(4),
      plan.binary(ExprKind::Sub, plan.constant(10),
                  plan.binary(ExprKind::FloorDiv, rows, plan.constant(3))));
  plan.workspaces[0].bytes =
      plan.select(Comparison::Le, rows, plan.constant(20), falling,
                  plan.binary(ExprKind::CeilDiv, rows, plan.constant(4)));
  most = maxWorkspaceBytes(plan, std::vector<SizeBound>{{"N", 100}});
  ASSERT_TRUE(bool(most)) << most.error().message;
  for (int64_t n = 1; n <= 100; ++n) {
    SampleCall call(n);
    auto concrete = evaluate(plan, call.operands());
    ASSERT_TRUE(bool(concrete)) << concrete.error().message;
    EXPECT_LE(concrete->workspaceBytes[0], (*most)[0]) << n;
  }
}

// What cannot be bounded says why.
TEST(PlanBounds, ErrorsNameWhatIsMissing) {
  Plan plan = samplePlan();
  auto none = maxWorkspaceBytes(plan, {});
  ASSERT_FALSE(bool(none));
  EXPECT_NE(none.error().message.find("'partial' has no bound without one for "
                                      "'N'"),
            std::string::npos)
      << none.error().message;
  auto other = maxWorkspaceBytes(plan, std::vector<SizeBound>{{"M", 1}});
  ASSERT_FALSE(bool(other));
  EXPECT_NE(other.error().message.find("'M'"), std::string::npos);
  plan.workspaces[0].bytes =
      plan.binary(ExprKind::Mul, plan.stride(0, 0), plan.size(0, 0));
  auto stride = maxWorkspaceBytes(plan, std::vector<SizeBound>{{"N", 1}});
  ASSERT_FALSE(bool(stride));
  EXPECT_NE(stride.error().message.find("'stride 0 of x'"), std::string::npos)
      << stride.error().message;
  auto huge = maxWorkspaceBytes(
      samplePlan(), std::vector<SizeBound>{{"N", int64_t(1) << 62}});
  EXPECT_FALSE(bool(huge));
}

// Operands of the same sizes at other addresses: the same as if all were
// evaluated anew, and no misaligned one.
TEST(PreparedPlan, RebindsAddresses) {
  Plan plan = samplePlan();
  PreparedPlan prepared(plan);
  Evaluation evaluation;
  SampleCall call(48);
  ASSERT_TRUE(prepared.evaluate(call.operands(), {}, evaluation));
  call.xAddress = 0x7000;
  call.indexAddress = 0x9008;
  std::vector<uint64_t> addresses = {call.xAddress, call.indexAddress};
  ASSERT_TRUE(prepared.rebind(addresses, evaluation));
  Evaluation expected;
  ASSERT_TRUE(prepared.evaluate(call.operands(), {}, expected));
  EXPECT_EQ(evaluation.kernargs, expected.kernargs);
  addresses[0] += 8;
  EXPECT_FALSE(prepared.rebind(addresses, evaluation));
}
