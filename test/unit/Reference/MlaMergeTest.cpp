//===- MlaMergeTest.cpp - the reference of mla_merge ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MlaMerge.h"
#include "tenon/Reference/Compare.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace tenon::reference;

static constexpr double infinity = std::numeric_limits<double>::infinity();
static constexpr double nan64 = std::numeric_limits<double>::quiet_NaN();

// Attention over keys of scores 1, 2 and 3, and over those of scores 4 and 5,
// has the weights of the sums of their exponentials.
TEST(MlaMerge, WeightsAreSharesOfTheSum) {
  double left = std::exp(1) + std::exp(2) + std::exp(3);
  double right = std::exp(4) + std::exp(5);
  MergedRow row = mergeWeights({std::log(left), std::log(right)});
  EXPECT_NEAR(row.weights[0], left / (left + right), 1e-14);
  EXPECT_NEAR(row.weights[1], right / (left + right), 1e-14);
  EXPECT_NEAR(row.lse, std::log(left + right), 1e-14);
}

// NaN and both infinities mean that a part is empty.
TEST(MlaMerge, EmptyPartsHaveNoWeight) {
  MergedRow row = mergeWeights({nan64, 800.0, infinity, -infinity});
  EXPECT_EQ(row.weights, (std::vector<double>{0, 1, 0, 0}));
  EXPECT_DOUBLE_EQ(row.lse, 800.0);
  MergedRow none = mergeWeights({nan64, infinity});
  EXPECT_EQ(none.weights, (std::vector<double>{0, 0}));
  EXPECT_EQ(none.lse, -infinity);
}

// The values of an empty part, NaN here, do not reach the result; a logarithm
// of minus infinity is expected to the bit.
TEST(MlaMerge, EmptyPartsContributeNothing) {
  std::vector<float> values(2 * 2 * 512, 2.0F);
  std::fill(values.begin() + 512, values.begin() + 3 * 512,
            std::numeric_limits<float>::quiet_NaN());
  std::vector<float> logs = {0.5F, NAN, -INFINITY, NAN};
  auto bytes = [](const std::vector<float> &data) {
    return MemorySource({reinterpret_cast<const uint8_t *>(data.data()),
                         data.size() * sizeof(float)});
  };
  MemorySource valueBytes = bytes(values), logBytes = bytes(logs);
  MlaMerge::Operands operands;
  operands["parts"] =
      TensorView::dense(ElementType::F32, {2, 2, 512}, &valueBytes);
  operands["lse"] = TensorView::dense(ElementType::F32, {2, 2}, &logBytes);
  operands["out"] = TensorView::dense(ElementType::F32, {2, 512}, &valueBytes);
  operands["merged_lse"] = TensorView::dense(ElementType::F32, {2}, &logBytes);
  auto merge = MlaMerge::create(operands, std::nullopt);
  ASSERT_TRUE(static_cast<bool>(merge));
  std::vector<Region> regions;
  for (int64_t row : {0, 1}) {
    merge->emitRow(row, [&](Region &&region) { regions.push_back(region); });
  }
  ASSERT_EQ(regions.size(), 4U);
  EXPECT_EQ(regions[0].expected, std::vector<double>(512, 2.0));
  EXPECT_EQ(regions[1].expected, std::vector<double>{0.5});
  EXPECT_EQ(regions[2].expected, std::vector<double>(512, 0.0));
  EXPECT_TRUE(regions[3].exact);
  EXPECT_EQ(regions[3].expectedCodes, std::vector<uint64_t>{0xff800000});
}

// Errors of a value near 0 are relative to the least magnitude.
TEST(MlaMerge, LogarithmsNearZeroAreComparedAbsolutely) {
  GroupError error = compareGroup({1e-6}, {3e-6}, {}, /*leastMagnitude=*/1);
  EXPECT_NEAR(error.maxRatio, 2e-6, 1e-12);
  EXPECT_NEAR(error.relativeL2, 2e-6, 1e-12);
  GroupError large = compareGroup({4.0}, {5.0}, {}, /*leastMagnitude=*/1);
  EXPECT_DOUBLE_EQ(large.maxRatio, 0.25);
  EXPECT_DOUBLE_EQ(large.relativeL2, 0.25);
}
