//===- GenerateTest.cpp - Reproducible test data ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/Generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace tenon::reference;

namespace {

std::vector<uint8_t> bytesOf(const ByteSource &source, uint64_t offset,
                             size_t count) {
  std::vector<uint8_t> bytes(count);
  source.read(offset, bytes);
  return bytes;
}

std::unique_ptr<GeneratedSource> make(GeneratedSource::Options options,
                                      llvm::StringRef operand = "x") {
  return llvm::cantFail(GeneratedSource::create(operand, std::move(options)));
}

// Published outputs of SplitMix64 for the seed 1234567.
TEST(GenerateTest, RandomBitsAreSplitMix64) {
  EXPECT_EQ(randomBits(1234567, 0), 6457827717110365317u);
  EXPECT_EQ(randomBits(1234567, 1), 3203168211198807973u);
  EXPECT_EQ(randomBits(1234567, 2), 9817491932198370423u);
}

TEST(GenerateTest, SeedsAndOperandsDiffer) {
  GeneratedSource::Options options{.rowElements = 64, .rowStride = 64};
  std::vector<uint8_t> first = bytesOf(*make(options), 0, 256);
  EXPECT_EQ(first, bytesOf(*make(options), 0, 256));
  EXPECT_NE(first, bytesOf(*make(options, "y"), 0, 256));
  options.seed = 1;
  EXPECT_NE(first, bytesOf(*make(options), 0, 256));
}

// Any piece, at any byte, is the same as read with the whole.
TEST(GenerateTest, PiecesEqualTheWhole) {
  for (ElementType type : {ElementType::F32, ElementType::BF16,
                           ElementType::FP8E4M3, ElementType::FP4E2M1}) {
    auto source = make({.type = type, .rowElements = 6, .rowStride = 10});
    std::vector<uint8_t> whole = bytesOf(*source, 0, 3000);
    for (uint64_t offset : {0, 1, 7, 38, 39, 40, 41, 1023, 2997}) {
      for (size_t count : {1, 2, 3, 9, 1500}) {
        if (offset + count > whole.size()) {
          continue;
        }
        std::vector<uint8_t> piece(whole.begin() + offset,
                                   whole.begin() + offset + count);
        EXPECT_EQ(bytesOf(*source, offset, count), piece)
            << name(type).str() << " at " << offset << ", " << count;
      }
    }
  }
}

TEST(GenerateTest, ValuesDoNotDependOnTheStrideAndGapsAreNaN) {
  auto dense = make({.rowElements = 6, .rowStride = 6});
  auto strided = make({.rowElements = 6, .rowStride = 10});
  TensorView denseView =
      TensorView::dense(ElementType::F32, {50, 6}, dense.get());
  TensorView stridedView{ElementType::F32, {50, 6}, {10, 1}, strided.get()};
  EXPECT_EQ(denseView.block({0, 0}, {50, 6}),
            stridedView.block({0, 0}, {50, 6}));
  TensorView all = TensorView::dense(ElementType::F32, {50, 10}, strided.get());
  for (double gap : all.block({0, 6}, {50, 4})) {
    EXPECT_TRUE(std::isnan(gap));
  }
}

TEST(GenerateTest, OnlyLiveRowsHoldData) {
  const uint64_t far = uint64_t(1) << 40;
  for (Fill fill : {Fill::Random, Fill::Zero}) {
    auto source = make({.fill = fill,
                        .rowElements = 4,
                        .rowStride = 4,
                        .liveRows = llvm::DenseSet<uint64_t>({1, far})});
    TensorView view = TensorView::dense(ElementType::F32, {int64_t(far) + 1, 4},
                                        source.get());
    for (int64_t row :
         {int64_t(0), int64_t(1), int64_t(2), int64_t(far) - 1, int64_t(far)}) {
      bool live = row == 1 || row == int64_t(far);
      for (double value : view.block({row, 0}, {1, 4})) {
        EXPECT_EQ(std::isnan(value), !live) << row;
        EXPECT_TRUE(!live || fill == Fill::Random || value == 0);
      }
    }
  }
}

TEST(GenerateTest, NaNFill) {
  auto source = make({.type = ElementType::BF16, .fill = Fill::NaN});
  EXPECT_TRUE(std::isnan(
      TensorView::dense(ElementType::BF16, {100}, source.get()).at({99})));
}

std::string errorOf(llvm::StringRef operand, GeneratedSource::Options options) {
  return llvm::toString(
      GeneratedSource::create(operand, std::move(options)).takeError());
}

TEST(GenerateTest, ImpossibleFillsNameTheOperand) {
  EXPECT_EQ(errorOf("slot", {.type = ElementType::I32, .fill = Fill::NaN}),
            "operand 'slot': cannot be filled with NaN, i32 has none");
  EXPECT_EQ(errorOf("slot", {.type = ElementType::I32}),
            "operand 'slot': integers have no general random fill");
  EXPECT_EQ(errorOf("qkv", {.rowElements = 8, .rowStride = 7}),
            "operand 'qkv': a row of 8 elements does not fit a stride of 7");
}

/// Fraction of 100,000 samples of \p distribution below \p bound.
double fractionBelow(const Distribution &distribution, double bound) {
  unsigned below = 0;
  for (uint64_t i = 0; i < 100000; ++i) {
    below += distribution.sample(randomKey(7, "x"), i) < bound;
  }
  return below / 1e5;
}

// The empirical distribution function has a standard deviation of at most
// 0.0016 here: six of them.
TEST(GenerateTest, Distributions) {
  for (double z : {-3.3, -2.5, -1.0, -0.1, 0.0, 0.7, 1.9, 3.2}) {
    double expected = std::erfc(-z / std::sqrt(2.0)) / 2;
    EXPECT_NEAR(fractionBelow(Distribution::normal(3, 0.5), 3 + 0.5 * z),
                expected, 0.01)
        << z;
  }
  for (double share : {0.0, 0.25, 0.9, 1.0}) {
    EXPECT_NEAR(fractionBelow(Distribution::uniform(-2, 6), -2 + 8 * share),
                share, 0.01);
  }
  Distribution tailed = Distribution::normal(0, 1);
  tailed.tailProbability = 0.25;
  tailed.tailMean = 100;
  EXPECT_NEAR(fractionBelow(tailed, 50), 0.75, 0.01);
}

// Scales of blocks: a kernel that takes its neighbour's shows it.
TEST(GenerateTest, PowersOfTwoDifferFromTheirNeighbours) {
  Distribution distribution = Distribution::powersOfTwo(-4);
  std::set<double> values;
  uint64_t alike = 0;
  for (uint64_t i = 0; i < 600; ++i) {
    double value = distribution.sample(7, i);
    values.insert(value);
    EXPECT_NE(value, distribution.sample(7, i + 1));
    alike += value == distribution.sample(7, i + 12);
  }
  EXPECT_EQ(values, (std::set<double>{0x1p-4, 0x1p-3, 0x1p-2, 0x1p-1, 1, 2}));
  // Rows whose sizes share a factor with the pattern are not alike either.
  EXPECT_LT(alike, 400u);
}

TEST(GenerateTest, NormalReachesItsTails) {
  double largest = 0, sum = 0, squares = 0;
  const int count = 1000000;
  for (uint64_t i = 0; i < count; ++i) {
    double value = Distribution::normal(0, 1).sample(42, i);
    largest = std::max(largest, std::fabs(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_GT(largest, 4);
  EXPECT_LT(largest, 6.5);
  EXPECT_NEAR(sum / count, 0, 0.006);
  EXPECT_NEAR(squares / count, 1, 0.01);
}

TEST(GenerateTest, DistinctIntegers) {
  for (auto [count, end] : {std::pair<uint64_t, int64_t>{63, 64},
                            {7, 64},
                            {128, int64_t(1) << 31}}) {
    std::vector<int32_t> values =
        llvm::cantFail(generateDistinct(5, count, 1, end));
    EXPECT_EQ(values.size(), count);
    EXPECT_EQ(std::set<int32_t>(values.begin(), values.end()).size(), count);
    EXPECT_FALSE(llvm::is_sorted(values));
    for (int32_t value : values) {
      EXPECT_GE(value, 1);
      EXPECT_LT(value, end);
    }
    // A large pool is used to its far end.
    EXPECT_GT(*std::max_element(values.begin(), values.end()), end / 2);
  }
  EXPECT_EQ(llvm::toString(generateDistinct(5, 64, 1, 64).takeError()),
            "64 distinct values wanted, 63 available from 1 to below 64");
  EXPECT_TRUE(llvm::cantFail(generateDistinct(5, 0, 1, 0)).empty());
}

TEST(GenerateTest, IntegersCoverTheirRange) {
  std::vector<int32_t> values = generateIntegers(9, 1000, -1, 3);
  EXPECT_EQ(std::set<int32_t>(values.begin(), values.end()),
            (std::set<int32_t>{-1, 0, 1, 2}));
}

} // namespace
