//===- CompareTest.cpp - Errors of a result against a reference -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tenon::reference;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Region region(std::vector<double> expected, std::string group = "row 0") {
  Region region;
  region.group = std::move(group);
  region.expected = std::move(expected);
  return region;
}

Region exactRegion(std::vector<uint64_t> codes, std::string group) {
  Region region;
  region.group = std::move(group);
  region.exact = true;
  region.expectedCodes = std::move(codes);
  return region;
}

TEST(CompareTest, Measures) {
  GroupError error = compareGroup({3, -4}, {3, -4.5});
  EXPECT_DOUBLE_EQ(error.maxRatio, 0.5 / 4);
  EXPECT_DOUBLE_EQ(error.relativeL2, 0.5 / 5);
}

// Real magnitudes of a model can be far from 1; squares must not vanish.
TEST(CompareTest, MeasuresDoNotDependOnScale) {
  GroupError error = compareGroup({3e-200, -4e-200}, {3e-200, -4.5e-200});
  EXPECT_NEAR(error.relativeL2, 0.1, 1e-12);
}

// bf16 has 8 significant bits: 1 + 2^-8 lies between the codes 1 and 1 + 2^-7.
TEST(CompareTest, RoundingToTheTypeIsNoError) {
  const double ulp = 0x1p-7;
  auto errorOf = [&](double want, double found) {
    return compareGroup({want, 0.25}, {found, 0.25}, ElementType::BF16)
        .maxRatio;
  };
  EXPECT_GT(compareGroup({1 + 0.49 * ulp}, {1}).maxRatio, 3e-3);
  EXPECT_EQ(errorOf(1 + 0.49 * ulp, 1), 0);
  EXPECT_EQ(errorOf(1 + 0.51 * ulp, 1 + ulp), 0);
  // On the wrong side of the boundary, but close to it: either is right.
  EXPECT_EQ(errorOf(1 + 0.499 * ulp, 1 + ulp), 0);
  EXPECT_EQ(errorOf(1 + 0.501 * ulp, 1), 0);
  // Further away the other code is an error of a whole unit.
  EXPECT_NEAR(errorOf(1 + 0.45 * ulp, 1 + ulp), ulp, 1e-12);
  EXPECT_NEAR(errorOf(1 + 0.55 * ulp, 1), ulp, ulp * ulp);
  // So is a code that is off by more.
  EXPECT_NEAR(errorOf(1, 1 + 2 * ulp), 2 * ulp, 1e-12);
}

// What is far below the largest of its group is compared with that, not with
// itself.
TEST(CompareTest, RoundingOfSmallElements) {
  EXPECT_EQ(compareGroup({1, 1e-6}, {1, 1e-7}, ElementType::BF16).maxRatio, 0);
  EXPECT_GT(compareGroup({1, 1e-3}, {1, 2e-3}, ElementType::BF16).maxRatio,
            9e-4);
  EXPECT_FALSE(
      compareGroup({1, INFINITY}, {1, 1}, ElementType::BF16).finiteReference);
}

TEST(CompareTest, WithinBoundsBothMeasures) {
  ErrorAccumulator both;
  both.add(region({3, -4}), {3, -4.5});
  EXPECT_TRUE(both.within(0.1001));
  EXPECT_FALSE(both.within(0.0999));

  // One error among many: small in the 2-norm, large at its place.
  std::vector<double> expected(10000, 1.0), result = expected;
  result[17] = 1.5;
  ErrorAccumulator spike;
  spike.add(region(expected), result);
  EXPECT_DOUBLE_EQ(spike.relativeL2().value, 0.005);
  EXPECT_FALSE(spike.within(0.124)); // 0.5 > 4 * 0.124
  EXPECT_TRUE(spike.within(0.125));
}

TEST(CompareTest, ZeroReferenceIsMatchedExactly) {
  ErrorAccumulator exact;
  exact.add(region({0, 0}), {0, -0.0});
  EXPECT_TRUE(exact.within(0));
  ErrorAccumulator missed;
  missed.add(region({0, 0}, "row 3"), {0, 1e-300});
  EXPECT_FALSE(missed.within(1e9));
  EXPECT_NE(missed.summary().find("row 3"), std::string::npos);
}

TEST(CompareTest, NaNAlwaysFails) {
  ErrorAccumulator errors;
  errors.add(region({1, 2}, "row 1"), {1, nan});
  EXPECT_FALSE(errors.within(1e9));
  EXPECT_EQ(errors.nans(), 1u);
  EXPECT_NE(errors.summary().find("1 NaN (first in row 1)"), std::string::npos);
  ErrorAccumulator zero;
  zero.add(region({0}), {nan});
  EXPECT_FALSE(zero.within(1e9));
}

TEST(CompareTest, InfinityFails) {
  ErrorAccumulator errors;
  errors.add(region({1, 2}), {1, INFINITY});
  EXPECT_FALSE(errors.within(1e9));
  ErrorAccumulator reference;
  reference.add(region({1, INFINITY}, "row 9"), {1, INFINITY});
  EXPECT_FALSE(reference.within(1e9));
  EXPECT_NE(reference.summary().find("row 9"), std::string::npos);
}

TEST(CompareTest, ExactDataCompareByCode) {
  ErrorAccumulator equal;
  // Also the codes of NaNs, and zeros of either sign apart.
  equal.addExact(exactRegion({0x7fc1, 0x8000}, "row 0"), {0x7fc1, 0x8000});
  EXPECT_TRUE(equal.within(0));
  ErrorAccumulator different;
  different.addExact(exactRegion({0x7fc1, 0x8000}, "row 5"), {0x7fc0, 0});
  EXPECT_FALSE(different.within(1e9));
  EXPECT_EQ(different.mismatches(), 2u);
  EXPECT_NE(different.summary().find("2 differ (first in row 5)"),
            std::string::npos);
}

// An operand of which a part is moved and another computed shows both.
TEST(CompareTest, ExactAndComputedRegions) {
  ErrorAccumulator both;
  both.addExact(exactRegion({1, 2}, "row 0"), {1, 2});
  EXPECT_EQ(both.summary().find("L2"), std::string::npos);
  Region region;
  region.group = "row 1";
  region.expected = {1, 2};
  both.add(region, {1, 3});
  EXPECT_FALSE(both.within(0.1));
  EXPECT_NE(both.summary().find("0 differ"), std::string::npos);
  EXPECT_NE(both.summary().find("5.000e-01 (row 1)"), std::string::npos)
      << both.summary();
}

// An element may differ by its own bound; a NaN has none.
TEST(CompareTest, BoundsOfElements) {
  Region bounded = region({0, 100}, "row 4");
  bounded.measure = Measure::Element;
  bounded.absoluteBound = 0.5;
  bounded.relativeBound = 0.01;
  ErrorAccumulator errors;
  errors.add(bounded, {0.25, 101.5});
  EXPECT_TRUE(errors.within(0));
  EXPECT_DOUBLE_EQ(errors.overBound().value, 1.0);
  EXPECT_NE(errors.summary().find("error / bound 1.000e+00 (row 4)"),
            std::string::npos)
      << errors.summary();
  ErrorAccumulator far;
  far.add(bounded, {0.75, 100});
  EXPECT_FALSE(far.within(1e9));
  ErrorAccumulator missing;
  missing.add(bounded, {nan, 100});
  EXPECT_FALSE(missing.within(1e9));
}

// Errors of all regions together, in whichever order they were found: a row
// that is far off may be outweighed by others.
TEST(CompareTest, WholeOperands) {
  auto whole = [](std::vector<double> values, const char *group) {
    Region made = region(std::move(values), group);
    made.measure = Measure::Whole;
    return made;
  };
  ErrorAccumulator one, other;
  one.add(whole({0.5}, "row 0"), {1.0});
  other.add(whole({12}, "row 1"), {12});
  EXPECT_DOUBLE_EQ(one.wholeL2(), 1.0);
  EXPECT_FALSE(one.within(0.9));
  ErrorAccumulator together = one;
  together.merge(other);
  other.merge(one);
  double expected = 0.5 / std::sqrt(144.25);
  EXPECT_DOUBLE_EQ(together.wholeL2(), expected);
  EXPECT_EQ(together.summary(), other.summary());
  EXPECT_TRUE(together.within(expected * 1.001));
  EXPECT_FALSE(together.within(expected * 0.999));
}

// Whatever the threads did first, the report is the same.
TEST(CompareTest, MergingIsOrderIndependent) {
  auto accumulate = [](std::initializer_list<int> rows) {
    ErrorAccumulator errors;
    for (int row : rows) {
      // Rows 1 and 4 are equally bad.
      double error = row == 1 || row == 4 ? 0.25 : 0.125;
      errors.add(region({1, 0}, "row " + std::to_string(row)),
                 {1, row == 2 ? nan : error});
    }
    return errors;
  };
  ErrorAccumulator left = accumulate({4, 0}), right = accumulate({3, 1, 2});
  ErrorAccumulator leftFirst = left, rightFirst = right;
  leftFirst.merge(right);
  rightFirst.merge(left);
  EXPECT_EQ(leftFirst.summary(), rightFirst.summary());
  EXPECT_EQ(leftFirst.groups(), 5u);
  EXPECT_EQ(leftFirst.maxRatio().value, 0.25);
  EXPECT_EQ(leftFirst.maxRatio().group, "row 1");
  EXPECT_FALSE(leftFirst.within(1));
}

} // namespace
