//===- PlanBuilderTest.cpp - what plans require of operands -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "lib/Kernels/PlanBuilder.h"
#include "lib/Driver/PlanExport.h"

#include "tenon/Driver/Compile.h"
#include "tenon/Driver/OpCatalogue.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

using namespace tenon;

namespace {
/// The plan of a product of FP4, whose one launch takes the row stride of the
/// weights in bytes.
class PlanBuilderTest : public testing::Test {
protected:
  void build(const std::string &weights) {
    driver::Session session;
    // Passes load it for themselves.
    session.context().loadDialect<mlir::arith::ArithDialect>();
    auto module = session.parseText(
        llvm::cantFail(driver::specText(
            "gemm", {{"format", "mxfp4"}, {"weights", weights}})),
        "gemm");
    spec::GemmOp op;
    module->walk([&](spec::GemmOp found) { op = found; });
    mlir::OpBuilder builder(&module->getBodyRegion().front(),
                            module->getBodyRegion().front().begin());
    kernels::PlanBuilder planBuilder(builder, "gemm_plan", op);
    planBuilder.scalar32(planBuilder.strideBytes("weights"));
    mlir::Value one = planBuilder.constant(1);
    planBuilder.launch("k", one, one, one, 64);
    module->walk([&](spec::PlanOp found) {
      auto exported = driver::exportPlan(found);
      ASSERT_TRUE(succeeded(exported));
      plan = std::move(*exported);
    });
  }

  /// The stride that the kernel gets, for M = 4 and N = 64, or the error.
  std::string call(int64_t k, int64_t blocks, int64_t rowStride) {
    std::map<std::string, int64_t> sizes = {
        {"M", 4}, {"N", 64}, {"K", k}, {"K/32", blocks}};
    std::vector<std::vector<int64_t>> shapes, strides;
    for (const runtime::PlanOperand &operand : plan.operands) {
      std::vector<int64_t> &shape = shapes.emplace_back();
      for (const runtime::OperandDim &dim : operand.dims) {
        shape.push_back(sizes.at(dim.symbol));
      }
      strides.push_back(
          {operand.name == "weights" ? rowStride : shape.back(), 1});
    }
    std::vector<runtime::OperandArgument> operands;
    for (size_t i = 0; i < shapes.size(); ++i) {
      operands.push_back({uint64_t(i + 1) << 32, shapes[i], strides[i]});
      operands.back().layout = plan.operands[i].layout;
    }
    auto result = runtime::evaluate(plan, operands);
    if (!result) {
      return result.error().message;
    }
    int32_t stride = 0;
    std::memcpy(&stride, result->launches[0].kernarg.data(), 4);
    return std::to_string(stride);
  }

  runtime::Plan plan;
};
} // namespace

// Two elements of FP4 are a byte; 16 bytes are 32 of them.
TEST_F(PlanBuilderTest, StridesOfFourBits) {
  build("row_major");
  EXPECT_EQ(call(64, 2, 64), "32");
  EXPECT_EQ(call(64, 2, 96), "48");
  EXPECT_NE(call(64, 2, 80).find("weights: the stride of dimension 0 must be a "
                                 "multiple of 32 elements (found stride 80"),
            std::string::npos);
  // Below 2^31 bytes, which is 2^32 elements.
  EXPECT_EQ(call(64, 2, (int64_t(1) << 32) - 32), "2147483632");
  EXPECT_NE(call(64, 2, int64_t(1) << 32).find("must be below 2^31 bytes"),
            std::string::npos);
}

// Whole blocks along K, and a scale for each.
TEST_F(PlanBuilderTest, Blocks) {
  build("row_major");
  EXPECT_EQ(call(48, 1, 64),
            "gemm_plan: K must be a positive multiple of 32 (found 48 and 32)");
  EXPECT_EQ(call(64, 3, 64),
            "gemm_plan: K must be 32 times K/32 (found 64 and 96)");
}

// Reordered weights have no stride, and come in whole tiles.
TEST_F(PlanBuilderTest, ReorderedWeights) {
  build("aiter");
  EXPECT_EQ(call(64, 2, 64), "32");
  EXPECT_NE(call(64, 2, 96).find("weights: dimension 0 must be dense (found 96 "
                                 "and 64)"),
            std::string::npos);
  EXPECT_EQ(call(96, 3, 96),
            "gemm_plan: K must be a positive multiple of 64 (found 96 and 64)");
}

// Sums of sizes, rounded quotients among them: N + 1 boundaries, and chunks; a
// scalar has a least value.
TEST(PlanBuilderSumTest, SequencesAndChunks) {
  driver::Session session;
  session.context().loadDialect<mlir::arith::ArithDialect>();
  auto module = session.parseText(
      llvm::cantFail(driver::specText("kda_prefill", {{"plan", "on"}})),
      "kda_prefill");
  spec::KdaPrefillOp op;
  module->walk([&](spec::KdaPrefillOp found) { op = found; });
  mlir::OpBuilder builder(&module->getBodyRegion().front(),
                          module->getBodyRegion().front().begin());
  kernels::PlanBuilder(builder, "p", op);
  runtime::Plan plan;
  module->walk([&](spec::PlanOp found) {
    auto exported = driver::exportPlan(found);
    ASSERT_TRUE(succeeded(exported));
    plan = std::move(*exported);
  });
  auto error = [&](int64_t boundaries, int64_t chunks, int64_t maxSeqLen) {
    std::map<std::string, int64_t> sizes = {{"T", 130},    {"N", 3},
                                            {"S", 4},      {"L", 3},
                                            {"C", chunks}, {"N+1", boundaries}};
    std::vector<llvm::SmallVector<int64_t>> shapes, strides;
    for (const runtime::PlanOperand &operand : plan.operands) {
      llvm::SmallVector<int64_t> &shape = shapes.emplace_back();
      for (const runtime::OperandDim &dim : operand.dims) {
        shape.push_back(dim.symbol.empty() ? dim.size : sizes.at(dim.symbol));
      }
      llvm::SmallVector<int64_t> &stride =
          strides.emplace_back(shape.size(), 1);
      for (size_t d = shape.size() - 1; d-- > 0;) {
        stride[d] = stride[d + 1] * shape[d + 1];
      }
    }
    std::vector<runtime::OperandArgument> operands;
    for (size_t i = 0; i < shapes.size(); ++i) {
      operands.push_back({uint64_t(i + 1) << 36, shapes[i], strides[i]});
    }
    std::vector<int64_t> scalars = {maxSeqLen};
    auto result = runtime::evaluate(plan, operands, scalars);
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(error(4, 5, 130), "");
  EXPECT_EQ(error(3, 5, 130), "p: N+1 must be N + 1 (found 3 and 4)");
  EXPECT_EQ(error(4, 6, 130),
            "p: C must be T / 64 (rounded down) + N (found 6 and 5)");
  EXPECT_EQ(error(4, 5, -1),
            "p: max_seq_len must be at least 0 (found -1 and 0)");
}
