//===- GemmPlanTest.cpp - what the plan of tenon.gemm refuses ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/Compile.h"
#include "tenon/Driver/OpCatalogue.h"

#include <gtest/gtest.h>

#include <map>

using namespace tenon;

namespace {
/// A compiled product, and calls of it on dense operands.
class GemmPlanTest : public testing::Test {
protected:
  void
  compile(const std::vector<std::pair<std::string, std::string>> &settings) {
    driver::Session session;
    std::string text = llvm::cantFail(driver::specText("gemm", settings));
    auto module = session.parseText(text, "gemm");
    llvm::cantFail(driver::setTarget(*module, "gfx950"));
    auto compiled = driver::compile(*module, {});
    ASSERT_TRUE(succeeded(compiled));
    plan = std::move(compiled->plan);
  }

  /// Evaluates the plan for the sizes and scalars by name; `rowStrides` holds
  /// those that are not dense.
  runtime::Result<runtime::ConcretePlan>
  evaluate(std::map<std::string, int64_t> numbers) {
    std::vector<std::vector<int64_t>> sizes, strides;
    for (const runtime::PlanOperand &operand : plan.operands) {
      std::vector<int64_t> &shape = sizes.emplace_back();
      for (const runtime::OperandDim &dim : operand.dims) {
        shape.push_back(dim.symbol.empty() ? dim.size : numbers[dim.symbol]);
      }
      int64_t row = rowStrides.count(operand.name) ? rowStrides[operand.name]
                                                   : shape.back();
      strides.push_back({row, 1});
    }
    std::vector<runtime::OperandArgument> operands;
    for (size_t i = 0; i < sizes.size(); ++i) {
      operands.push_back({uint64_t(i + 1) << 32, sizes[i], strides[i],
                          layouts[plan.operands[i].name]});
    }
    std::vector<int64_t> scalars;
    for (const std::string &name : plan.scalars) {
      scalars.push_back(numbers[name]);
    }
    return runtime::evaluate(plan, operands, scalars);
  }

  std::string errorOf(const std::map<std::string, int64_t> &numbers) {
    auto result = evaluate(numbers);
    return result ? "no error" : result.error().message;
  }

  runtime::Plan plan;
  std::map<std::string, int64_t> rowStrides;
  std::map<std::string, std::string> layouts; ///< row-major where not named
};
} // namespace

// K that the loads cannot take is refused with its number.
TEST_F(GemmPlanTest, Depth) {
  compile({});
  EXPECT_EQ(errorOf({{"M", 5}, {"N", 24}, {"K", 16}}), "no error");
  EXPECT_EQ(errorOf({{"M", 5}, {"N", 24}, {"K", 12}}),
            "gemm_plan: K must be a positive multiple of 8 (found 12 and 8)");
  EXPECT_EQ(errorOf({{"M", 5}, {"N", 24}, {"K", 0}}),
            "gemm_plan: K must be a positive multiple of 8 (found 0 and 8)");
}

// Row strides of x and weights keep rows at 16 bytes, those of out at 4.
TEST_F(GemmPlanTest, Strides) {
  compile({});
  const std::map<std::string, int64_t> sizes = {{"M", 5}, {"N", 24}, {"K", 16}};
  rowStrides = {{"weights", 20}};
  EXPECT_NE(errorOf(sizes).find("weights: the stride of dimension 0 must be a "
                                "multiple of 8 elements (found stride 20"),
            std::string::npos);
  rowStrides = {{"out", 25}};
  EXPECT_NE(errorOf(sizes).find("out: the stride of dimension 0 must be a "
                                "multiple of 2 elements (found stride 25"),
            std::string::npos);
  rowStrides = {{"x", int64_t(1) << 30}};
  EXPECT_NE(errorOf(sizes).find("must be below 2^31 bytes"), std::string::npos);
  rowStrides = {{"out", 26}, {"x", 24}, {"weights", 32}};
  EXPECT_EQ(errorOf(sizes), "no error");
}

// Gate and up are halves of the weights.
TEST_F(GemmPlanTest, Halves) {
  compile({{"epilogue", "silu"}});
  EXPECT_EQ(errorOf({{"M", 5}, {"N", 24}, {"I", 12}, {"K", 16}}), "no error");
  EXPECT_EQ(errorOf({{"M", 5}, {"N", 24}, {"I", 24}, {"K", 16}}),
            "gemm_plan: N must be 2 times I (found 24 and 48)");
  EXPECT_EQ(errorOf({{"M", 5}, {"N", 23}, {"I", 11}, {"K", 16}}),
            "gemm_plan: N must be a positive multiple of 2 (found 23 and 22)");
}

// The order of weights is part of a call: a kernel is not launched on others.
TEST_F(GemmPlanTest, Layouts) {
  std::map<std::string, int64_t> call{{"M", 5}, {"N", 32}, {"K", 64}};
  compile({});
  EXPECT_EQ(errorOf(call), "no error");
  layouts["weights"] = "packed";
  EXPECT_EQ(errorOf(call),
            "gemm_plan: operand 'weights': elements in the order 'row-major' "
            "expected, 'packed' found");
  compile({{"weights", "packed"}});
  EXPECT_EQ(errorOf(call), "no error");
  layouts["weights"] = "aiter";
  EXPECT_EQ(errorOf(call), "gemm_plan: operand 'weights': elements in the "
                           "order 'packed' expected, 'aiter' found");
  layouts.clear();
  EXPECT_EQ(errorOf(call), "gemm_plan: operand 'weights': elements in the "
                           "order 'packed' expected, 'row-major' found");
  compile({{"weights", "aiter"}, {"format", "mxfp4"}});
  layouts = {{"weights", "aiter"}};
  call["K/32"] = 2;
  EXPECT_EQ(errorOf(call),
            "gemm_plan: operand 'weight_scale': elements in the order 'aiter' "
            "expected, 'row-major' found");
}

// Ranges lie inside out; empty ones, and no tokens, launch nothing.
TEST_F(GemmPlanTest, Ranges) {
  compile({{"columns", "on"}, {"rows", "on"}});
  auto call = [](int64_t colBegin, int64_t colEnd, int64_t rowBegin,
                 int64_t rowEnd) {
    return std::map<std::string, int64_t>{{"M", 5},
                                          {"N", 24},
                                          {"K", 16},
                                          {"col_begin", colBegin},
                                          {"col_end", colEnd},
                                          {"row_begin", rowBegin},
                                          {"row_end", rowEnd}};
  };
  EXPECT_EQ(evaluate(call(0, 24, 0, 5))->launches.size(), 1U);
  EXPECT_EQ(evaluate(call(24, 24, 0, 5))->launches.size(), 0U);
  EXPECT_EQ(evaluate(call(0, 24, 3, 3))->launches.size(), 0U);
  EXPECT_EQ(errorOf(call(0, 25, 0, 5)),
            "gemm_plan: col_end must not be above the size of dimension 1 of "
            "out (found 25 and 24)");
  EXPECT_EQ(errorOf(call(8, 7, 0, 5)), "gemm_plan: col_end must not be below "
                                       "col_begin (found 7 and 8)");
  EXPECT_EQ(errorOf(call(0, 24, -1, 5)),
            "gemm_plan: row_begin must not be negative (found -1 and 0)");
  EXPECT_EQ(errorOf(call(0, 24, 0, 6)),
            "gemm_plan: row_end must not be above the size of dimension 0 of "
            "out (found 6 and 5)");
  auto none = call(0, 24, 0, 0);
  none["M"] = 0;
  EXPECT_EQ(evaluate(none)->launches.size(), 0U);
}
