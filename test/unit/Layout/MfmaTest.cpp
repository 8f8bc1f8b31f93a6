//===- MfmaTest.cpp - MFMA maps against the published formulas --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Mfma.h"
#include "RandomLayout.h"

#include <gtest/gtest.h>

#include <functional>

using namespace llvm;
using namespace tenon::layout;

namespace {
/// One line of the operand table: the k that register j of group g holds.
struct OperandCase {
  int64_t mn;
  int64_t k;
  MfmaFormat format;
  int64_t registers;
  std::function<int64_t(int64_t g, int64_t j)> heldK;
};

int64_t oneEach(int64_t g, int64_t) { return g; }
int64_t runsOf4(int64_t g, int64_t j) { return 4 * g + j; }
int64_t runsOf8(int64_t g, int64_t j) { return 8 * g + j; }
int64_t runsOf16(int64_t g, int64_t j) { return 16 * g + j; }
int64_t runsOf32(int64_t g, int64_t j) { return 32 * g + j; }
/// Two halves of 16: those of the second half lie `half` further.
std::function<int64_t(int64_t, int64_t)> splitHalves(int64_t half) {
  return [half](int64_t g, int64_t j) {
    return j < 16 ? 16 * g + j : half + 16 * g + (j - 16);
  };
}

const OperandCase operandCases[] = {
    {16, 4, MfmaFormat::F64, 1, oneEach},
    {16, 4, MfmaFormat::F32, 1, oneEach},
    {32, 2, MfmaFormat::F32, 1, oneEach},
    {16, 16, MfmaFormat::F16, 4, runsOf4},
    {32, 8, MfmaFormat::F16, 4, runsOf4},
    {16, 32, MfmaFormat::F16, 8, runsOf8},
    {32, 16, MfmaFormat::F16, 8, runsOf8},
    {16, 32, MfmaFormat::I8, 8, runsOf8},
    {32, 16, MfmaFormat::I8, 8, runsOf8},
    {16, 64, MfmaFormat::I8, 16, runsOf16},
    {32, 32, MfmaFormat::I8, 16, runsOf16},
    {16, 32, MfmaFormat::F8, 8, runsOf8},
    {32, 16, MfmaFormat::F8, 8, runsOf8},
    {16, 128, MfmaFormat::F8, 32, splitHalves(64)},
    {32, 64, MfmaFormat::F8, 32, splitHalves(32)},
    {16, 128, MfmaFormat::F6, 32, runsOf32},
    {32, 64, MfmaFormat::F6, 32, runsOf32},
    {16, 128, MfmaFormat::F4, 32, runsOf32},
    {32, 64, MfmaFormat::F4, 32, runsOf32},
};
} // namespace

TEST(Mfma, OperandsFollowTheTable) {
  for (const OperandCase &c : operandCases) {
    SCOPED_TRACE(testing::Message() << c.mn << "x" << c.mn << "x" << c.k << " "
                                    << stringifyMfmaFormat(c.format).str());
    Layout a = cantFail(mfmaOperandA(c.mn, c.k, c.format));
    Layout b = cantFail(mfmaOperandB(c.mn, c.k, c.format));
    EXPECT_EQ(a.shape(), ArrayRef<int64_t>({c.mn, c.k}));
    EXPECT_EQ(b.shape(), ArrayRef<int64_t>({c.k, c.mn}));
    ASSERT_EQ(a.numRegisters(), c.registers);
    ASSERT_EQ(b.numRegisters(), c.registers);
    EXPECT_EQ(a.numWaves(), 1);
    EXPECT_FALSE(a.isReplicated());
    for (int64_t lane = 0; lane < 64; ++lane) {
      for (int64_t j = 0; j < c.registers; ++j) {
        int64_t i = lane % c.mn;
        int64_t k = c.heldK(lane / c.mn, j);
        ASSERT_EQ(a.coordinates(j, lane, 0), (SmallVector<int64_t>{i, k}));
        ASSERT_EQ(b.coordinates(j, lane, 0), (SmallVector<int64_t>{k, i}));
      }
    }
  }
}

TEST(Mfma, AccumulatorsFollowTheTable) {
  Layout small = cantFail(mfmaAccumulator(16));
  Layout large = cantFail(mfmaAccumulator(32));
  Layout wide = cantFail(mfmaAccumulator(16, MfmaFormat::F64));
  ASSERT_EQ(small.numRegisters(), 4);
  ASSERT_EQ(wide.numRegisters(), 4);
  ASSERT_EQ(large.numRegisters(), 16);
  for (int64_t lane = 0; lane < 64; ++lane) {
    for (int64_t v = 0; v < 4; ++v) {
      ASSERT_EQ(small.coordinates(v, lane, 0),
                (SmallVector<int64_t>{4 * (lane / 16) + v, lane % 16}));
      ASSERT_EQ(wide.coordinates(v, lane, 0),
                (SmallVector<int64_t>{4 * v + lane / 16, lane % 16}));
    }
    for (int64_t v = 0; v < 16; ++v) {
      ASSERT_EQ(large.coordinates(v, lane, 0),
                (SmallVector<int64_t>{8 * (v / 4) + 4 * (lane / 32) + v % 4,
                                      lane % 32}));
    }
  }
}

// Lane (i, g) holds the scale of row i and block g, for every format.
TEST(Mfma, ScalesFollowTheBlockNumber) {
  for (auto [mn, k] : {std::pair<int64_t, int64_t>{16, 128}, {32, 64}}) {
    Layout a = cantFail(mfmaScaleA(mn, k));
    Layout b = cantFail(mfmaScaleB(mn, k));
    EXPECT_EQ(a.shape(), ArrayRef<int64_t>({mn, k / 32}));
    ASSERT_EQ(a.numRegisters(), 1);
    for (int64_t lane = 0; lane < 64; ++lane) {
      ASSERT_EQ(a.coordinates(0, lane, 0),
                (SmallVector<int64_t>{lane % mn, lane / mn}));
      ASSERT_EQ(b.coordinates(0, lane, 0),
                (SmallVector<int64_t>{lane / mn, lane % mn}));
    }
  }
}

TEST(Mfma, UnknownShapesAreRefused) {
  auto message = [](Expected<Layout> layout) {
    return layout ? std::string() : messageOf(layout.takeError());
  };
  EXPECT_EQ(message(mfmaOperandA(16, 64, MfmaFormat::F8)),
            "no MFMA 16x16x64 with f8 operands");
  EXPECT_EQ(message(mfmaOperandB(32, 4, MfmaFormat::F64)),
            "no MFMA 32x32x4 with f64 operands");
  EXPECT_EQ(message(mfmaAccumulator(32, MfmaFormat::F64)),
            "no MFMA 32x32 with f64 result");
  EXPECT_EQ(message(mfmaScaleA(16, 64)), "no scaled MFMA 16x16x64");
}

// The layout of a whole wave tile: 48 rows of three repeats, K of two steps.
TEST(Mfma, RepeatMakesATile) {
  Layout atom = cantFail(mfmaOperandA(16, 32, MfmaFormat::F16));
  Layout tile = cantFail(
      Layout::repeat(atom, {{HwDim::Register, 2, 1}, {HwDim::Register, 3, 0}}));
  EXPECT_EQ(tile.shape(), ArrayRef<int64_t>({48, 64}));
  EXPECT_EQ(tile.numRegisters(), 48);
  EXPECT_EQ(tile.coordinates(8 + 16 * 2 + 3, 17, 0),
            (SmallVector<int64_t>{33, 32 + 8 + 3}));
  EXPECT_EQ(tile.contiguous(1), 8u);
}
