//===- MfmaTileTest.cpp - layouts of whole products -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Mfma.h"

#include <gtest/gtest.h>

#include <set>

using namespace llvm;
using namespace tenon::layout;

namespace {
struct TileCase {
  int64_t m, n, k;
  MfmaTiling tiling;
  int64_t instructionK;
  MfmaFormat lhs, rhs;
};

const TileCase tileCases[] = {
    {16, 64, 64, {16, 1, 4, 1}, 32, MfmaFormat::F16, MfmaFormat::F16},
    {16, 128, 64, {16, 1, 4, 1}, 32, MfmaFormat::F16, MfmaFormat::F16},
    {64, 64, 64, {32, 2, 2, 1}, 16, MfmaFormat::F16, MfmaFormat::F16},
    {128, 256, 64, {32, 2, 2, 1}, 16, MfmaFormat::F16, MfmaFormat::F16},
    {128, 128, 32, {16, 2, 2, 0}, 32, MfmaFormat::F16, MfmaFormat::F16},
    {48, 96, 96, {16, 1, 1, 1}, 32, MfmaFormat::F16, MfmaFormat::F16},
    {32, 160, 48, {16, 1, 1, 0}, 4, MfmaFormat::F32, MfmaFormat::F32},
    {64, 64, 256, {16, 2, 2, 1}, 128, MfmaFormat::F8, MfmaFormat::F4},
    {64, 64, 128, {32, 1, 2, 1}, 64, MfmaFormat::F4, MfmaFormat::F8},
};
} // namespace

// Register by register, the operands that an instruction reads belong to the
// rows and columns that it writes, and together the instructions cover every k
// once.
TEST(MfmaTile, OperandsMatchTheAccumulator) {
  for (const TileCase &c : tileCases) {
    Layout acc = cantFail(mfmaTile(c.m, c.n, c.tiling));
    MfmaOperands operands = cantFail(
        mfmaOperands(acc, c.tiling.mn, c.instructionK, c.k, c.lhs, c.rhs));
    ASSERT_EQ(operands.rowDim, c.tiling.rowDim);
    Layout accAtom = cantFail(mfmaAccumulator(c.tiling.mn));
    const Layout &rowOperand = c.tiling.rowDim ? operands.rhs : operands.lhs;
    const Layout &colOperand = c.tiling.rowDim ? operands.lhs : operands.rhs;
    unsigned rowIndex = c.tiling.rowDim ? 1 : 0;
    unsigned colIndex = 1 - rowIndex;
    int64_t held = accAtom.numRegisters();
    int64_t elements = c.tiling.mn * c.instructionK / 64;
    for (int64_t wave = 0; wave < acc.numWaves(); ++wave) {
      for (int64_t reg = 0; reg < acc.numRegisters(); reg += held) {
        SmallVector<int64_t> first = acc.coordinates(reg, 0, wave);
        int64_t row0 = first[rowIndex];
        int64_t col0 = first[colIndex];
        for (int64_t k0 = 0; k0 < c.k; k0 += c.instructionK) {
          auto at = [&](int64_t along, unsigned index) {
            SmallVector<int64_t> coords(2, k0);
            coords[index] = along;
            return coords;
          };
          auto rowReg = rowOperand.registerOf(at(row0, rowIndex), 0, wave);
          auto colReg = colOperand.registerOf(at(col0, colIndex), 0, wave);
          ASSERT_TRUE(rowReg && colReg);
          ASSERT_EQ(*rowReg % elements, 0);
          ASSERT_EQ(*colReg % elements, 0);
          for (int64_t lane = 0; lane < 64; ++lane) {
            // Lane l of operand A holds the row that the instruction calls
            // l mod mn; that row of the result must have the same coordinate.
            int64_t index = lane % c.tiling.mn;
            auto owner = accAtom.ownerOf({index, 0});
            ASSERT_TRUE(owner);
            SmallVector<int64_t> result =
                acc.coordinates(reg + owner->reg, owner->lane, wave);
            EXPECT_EQ(rowOperand.coordinates(*rowReg, lane, wave)[rowIndex],
                      result[rowIndex]);
            auto colOwner = accAtom.ownerOf({0, index});
            EXPECT_EQ(colOperand.coordinates(*colReg, lane, wave)[colIndex],
                      acc.coordinates(reg + colOwner->reg, colOwner->lane,
                                      wave)[colIndex]);
          }
        }
      }
    }
  }
}

// Interleaved steps give a lane runs along k, and still cover every k once.
TEST(MfmaTile, ContractionsInterleaveSteps) {
  Layout acc = cantFail(mfmaTile(16, 16, {16, 1, 1, 1}));
  MfmaOperands operands = cantFail(mfmaOperands(
      acc, 16, 32, 256, MfmaFormat::F16, MfmaFormat::F16, Contraction{8, 4}));
  for (int64_t lane : {0, 17, 63}) {
    std::set<int64_t> seen;
    for (int64_t reg = 0; reg < operands.lhs.numRegisters(); ++reg) {
      int64_t k = operands.lhs.coordinates(reg, lane, 0)[1];
      EXPECT_EQ(k, reg / 32 * 128 + lane / 16 * 32 + reg % 32);
      EXPECT_EQ(operands.rhs.coordinates(reg, lane, 0)[0], k);
      EXPECT_TRUE(seen.insert(k).second);
    }
  }
  EXPECT_EQ(toString(mfmaOperands(acc, 16, 32, 64, MfmaFormat::F16,
                                  MfmaFormat::F16, Contraction{8, 4})
                         .takeError()),
            "runs of 8 values and 4 steps do not divide 2 instructions of 32 "
            "values");
}

// Half of an FP8 instruction's values of k are in the lower half of its
// registers.
TEST(MfmaTile, HalfAnInstruction) {
  for (int64_t mn : {16, 32}) {
    int64_t k = 2048 / mn;
    Layout acc = cantFail(mfmaTile(2 * mn, 2 * mn, {mn, 1, 1, 0}));
    MfmaOperands half = cantFail(
        mfmaOperands(acc, mn, k, k / 2, MfmaFormat::F8, MfmaFormat::F8));
    MfmaOperands whole =
        cantFail(mfmaOperands(acc, mn, k, k, MfmaFormat::F8, MfmaFormat::F8));
    constexpr int64_t held = 32;
    ASSERT_EQ(half.lhs.numRegisters(), whole.lhs.numRegisters() / 2);
    for (int64_t reg = 0; reg < half.lhs.numRegisters(); ++reg) {
      int64_t same = reg / (held / 2) * held + reg % (held / 2);
      for (int64_t lane : {0, 17, 63}) {
        EXPECT_EQ(half.lhs.coordinates(reg, lane, 0),
                  whole.lhs.coordinates(same, lane, 0));
        EXPECT_EQ(half.rhs.coordinates(reg, lane, 0),
                  whole.rhs.coordinates(same, lane, 0));
      }
    }
  }
  // The lanes of an FP4 operand share all values of k.
  Layout acc = cantFail(mfmaTile(16, 16, {16, 1, 1, 0}));
  EXPECT_EQ(
      toString(mfmaOperands(acc, 16, 128, 64, MfmaFormat::F8, MfmaFormat::F4)
                   .takeError()),
      "64 values of the contraction index are no multiple of the "
      "instruction's 128");
}

// The scales of FP4 operands lie in the lanes that hold their blocks.
TEST(MfmaTile, BlocksOfFp4AreScales) {
  Layout acc = cantFail(mfmaTile(32, 32, {16, 1, 1, 1}));
  MfmaOperands operands =
      cantFail(mfmaOperands(acc, 16, 128, 128, MfmaFormat::F4, MfmaFormat::F4));
  Layout scales = cantFail(operands.lhs.coarsen(1, 32));
  Layout atom = cantFail(mfmaScaleA(16, 128));
  for (int64_t lane = 0; lane < 64; ++lane) {
    EXPECT_EQ(scales.coordinates(0, lane, 0), atom.coordinates(0, lane, 0));
    EXPECT_EQ(scales.coordinates(1, lane, 0)[0],
              operands.lhs.coordinates(32, lane, 0)[0]);
  }
}

// A lane owns runs along the rows' dim: what makes stores wide.
TEST(MfmaTile, LanesOwnRuns) {
  EXPECT_EQ(cantFail(mfmaTile(16, 128, {16, 1, 4, 1})).contiguous(1), 8u);
  EXPECT_EQ(cantFail(mfmaTile(16, 64, {16, 1, 4, 1})).contiguous(1), 4u);
  EXPECT_EQ(cantFail(mfmaTile(64, 64, {32, 2, 2, 1})).contiguous(1), 16u);
  EXPECT_EQ(cantFail(mfmaTile(64, 64, {32, 2, 2, 0})).contiguous(0), 16u);
}

// Whole rows: the lanes of an operand's register read consecutive rows, the
// other way round than without.
TEST(MfmaTile, InstructionsReadConsecutiveRows) {
  for (bool wholeRows : {true, false}) {
    Layout acc = cantFail(mfmaTile(16, 128, {16, 1, 1, 1, 1, wholeRows}));
    EXPECT_EQ(acc.contiguous(1), wholeRows ? 4u : 8u);
    Layout rhs = cantFail(mfmaOperands(acc, 16, 32, 64, MfmaFormat::F16,
                                       MfmaFormat::F16))
                     .rhs;
    bool areConsecutive = true;
    for (int64_t lane = 0; lane < 16; ++lane) {
      areConsecutive &= rhs.coordinates(0, lane, 0)[1] == lane;
    }
    EXPECT_EQ(areConsecutive, wholeRows);
  }
}

TEST(MfmaTile, RefusesWhatDoesNotDivide) {
  EXPECT_EQ(toString(mfmaTile(24, 64, {16, 1, 1, 1}).takeError()),
            "24 elements do not divide into 1 waves of 16x16 instructions");
  EXPECT_EQ(toString(mfmaTile(64, 64, {8, 1, 1, 1}).takeError()),
            "no MFMA has 8 rows");
  Layout acc = cantFail(mfmaTile(64, 64, {16, 1, 1, 1}));
  EXPECT_EQ(
      toString(mfmaOperands(acc, 16, 32, 40, MfmaFormat::F16, MfmaFormat::F16)
                   .takeError()),
      "40 values of the contraction index are no multiple of the "
      "instruction's 32");
  Layout plain = cantFail(Layout::distribute1D(64, 64, 1, 1));
  EXPECT_EQ(
      toString(mfmaOperands(plain, 16, 32, 32, MfmaFormat::F16, MfmaFormat::F16)
                   .takeError()),
      "an accumulator has two dims, found 1");
  Layout rows =
      cantFail(Layout::blocked({64, 64}, {1, 0}, {1, 4}, {4, 16}, {1, 1}));
  EXPECT_EQ(
      toString(mfmaOperands(rows, 16, 32, 32, MfmaFormat::F16, MfmaFormat::F16)
                   .takeError()),
      "the accumulator's layout is not that of a 16x16 instruction with "
      "its rows along one dim and its columns along the other");
}

// Slices of a product take the wave bits that the tile leaves free.
TEST(MfmaTile, SlicesTakeFreeWaves) {
  MfmaTiling tiling{16, 1, 2, 1, 4};
  Layout tile = cantFail(mfmaTile(16, 64, tiling));
  EXPECT_EQ(tile.numWaves(), 8);
  Layout sliced = cantFail(sliceOverWaves(tile, 4));
  EXPECT_EQ(sliced.shape(), ArrayRef<int64_t>({4, 16, 64}));
  EXPECT_FALSE(sliced.isReplicated());
  for (int64_t wave = 0; wave < 8; ++wave) {
    EXPECT_EQ(sliced.coordinates(0, 0, wave)[0], wave % 4);
    EXPECT_EQ(sliced.coordinates(0, 0, wave)[2], wave / 4 * 32);
  }
  EXPECT_EQ(toString(sliceOverWaves(tile, 8).takeError()),
            "wave bit 2 moves elements of a slice");
  EXPECT_EQ(toString(sliceOverWaves(tile, 3).takeError()),
            "3 slices are no power of two of at most 8 waves");
}
