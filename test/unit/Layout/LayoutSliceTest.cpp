//===- LayoutSliceTest.cpp - dropping dims ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomLayout.h"

#include <gtest/gtest.h>

#include <set>

using namespace llvm;
using namespace tenon::layout;

static SmallVector<int64_t> project(ArrayRef<int64_t> coords,
                                    ArrayRef<unsigned> removed) {
  SmallVector<int64_t> kept;
  for (auto [dim, coord] : enumerate(coords)) {
    if (!is_contained(removed, dim)) {
      kept.push_back(coord);
    }
  }
  return kept;
}

/// Some dims of `layout`, perhaps none, perhaps all.
static SmallVector<unsigned> someDims(LayoutGenerator &generator,
                                      const Layout &layout) {
  SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    if (generator.pick(0, 1) == 1) {
      dims.push_back(dim);
    }
  }
  return dims;
}

// Against enumeration: the sliced register of every register holds the
// projected element on the same thread, every sliced register is used, and the
// registers that remain are no replicas of each other.
TEST(LayoutSlice, HoldsTheProjectedElements) {
  LayoutGenerator generator(11);
  int separable = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    SmallVector<unsigned> removed = someDims(generator, layout);
    if (!layout.isSeparable(removed)) {
      continue;
    }
    ++separable;
    Layout sliced = layout.slice(removed);
    SmallVector<int64_t> map = layout.sliceRegisterMap(removed);
    ASSERT_EQ(int64_t(map.size()), layout.numRegisters());
    ASSERT_EQ(sliced.numWaves(), layout.numWaves());
    ASSERT_EQ(sliced.shape(),
              ArrayRef<int64_t>(project(layout.shape(), removed)));
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      ASSERT_EQ(sliced.coordinates(map[reg], lane, wave),
                project(layout.coordinates(reg, lane, wave), removed))
          << layout << " / " << sliced;
    });
    ASSERT_EQ(std::set<int64_t>(map.begin(), map.end()).size(),
              size_t(sliced.numRegisters()));
    ASSERT_EQ(sliced.freeRegisterMask(), 0u);
  }
  EXPECT_GT(separable, 200);
}

// Blocks lie where their elements lie, each once per register.
TEST(LayoutSlice, CoarsensToTheBlocksOfItsElements) {
  LayoutGenerator generator(12);
  int coarsened = 0;
  for (int trial = 0; trial < 600; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    unsigned dim = generator.pick(0, layout.rank() - 1);
    int64_t factor = int64_t(1) << generator.pick(0, 3);
    Expected<Layout> coarse = layout.coarsen(dim, factor);
    if (!coarse) {
      consumeError(coarse.takeError());
      continue;
    }
    ++coarsened;
    ASSERT_EQ(coarse->shape()[dim] * factor, layout.shape()[dim]);
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      SmallVector<int64_t> block = layout.coordinates(reg, lane, wave);
      block[dim] /= factor;
      auto held = coarse->registerOf(block, lane, wave);
      ASSERT_TRUE(held) << layout;
      ASSERT_EQ(coarse->coordinates(*held, lane, wave), block);
    });
    ASSERT_LE(coarse->numRegisters(), layout.numRegisters());
  }
  EXPECT_GT(coarsened, 100);
}

// Another order of register bits holds the same, and only that.
TEST(LayoutSlice, RegistersInAnotherOrderHoldTheSame) {
  RawLayout raw;
  raw.shape = {4, 256};
  raw.bases[0] = {{1, 0}, {2, 0}, {0, 1}, {0, 2}};
  raw.bases[1] = {{0, 4}, {0, 8}, {0, 16}, {0, 32}, {0, 64}, {0, 128}};
  Layout layout = cantFail(raw.create());
  Layout columnsFirst =
      layout.reorderRegisters([](const Basis &basis) { return basis[0]; });
  EXPECT_EQ(columnsFirst.coordinates(1, 0, 0), (SmallVector<int64_t>{0, 1}));
  EXPECT_EQ(columnsFirst.coordinates(4, 0, 0), (SmallVector<int64_t>{1, 0}));
  EXPECT_FALSE(layout == columnsFirst);
  EXPECT_TRUE(layout.holdsSameAs(columnsFirst));
  std::swap(raw.bases[0][0], raw.bases[1][0]);
  EXPECT_FALSE(layout.holdsSameAs(cantFail(raw.create())));
}

TEST(LayoutSlice, SaysWhyItCannotCoarsen) {
  Layout layout = cantFail(Layout::distribute1D(64, 64, 1, 1));
  EXPECT_EQ(toString(layout.coarsen(0, 3).takeError()),
            "64 elements along dim 0 are no blocks of 3");
  RawLayout raw;
  raw.shape = {4, 16};
  raw.bases[1] = {{1, 1}, {2, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 8}};
  EXPECT_EQ(toString(cantFail(raw.create()).coarsen(1, 2).takeError()),
            "a bit moves within a block of 2 elements along dim 1 and also to "
            "another block");
}

// A bit that moves two dims at once is in the way of a reduction over the one
// that no pure bits fill.
TEST(LayoutSlice, MixedBitsPreventAReduction) {
  RawLayout raw;
  raw.shape = {2, 64};
  // The register moves both dims; no bit moves dim 0 alone.
  raw.bases[0] = {{1, 1}};
  raw.bases[1] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}};
  Layout layout = cantFail(raw.create());
  EXPECT_FALSE(layout.isSeparable(0u));
  // Dim 1 is filled by pure bits: a reduction over it is sound.
  EXPECT_TRUE(layout.isSeparable(1u));
  EXPECT_TRUE(layout.isSeparable({0u, 1u}));
  EXPECT_EQ(layout.slice(1u).shape(), ArrayRef<int64_t>({2}));
}

// base + offset over the lane bits, wave offsets and register offsets along a
// dim reaches every coordinate of that dim once, the other coordinates fixed.
TEST(LayoutSlice, BitsAndOffsetsWalkTheDim) {
  LayoutGenerator generator(12);
  int walked = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    unsigned dim = generator.pick(0, layout.rank() - 1);
    if (!layout.isSeparable(dim)) {
      continue;
    }
    ++walked;
    SmallVector<int64_t> laneOffsets{0};
    for (unsigned bit : layout.laneBitsAlong(dim)) {
      for (size_t i = 0, e = laneOffsets.size(); i < e; ++i) {
        laneOffsets.push_back(laneOffsets[i] | (int64_t(1) << bit));
      }
    }
    auto registerOffsets = layout.registerOffsetsAlong(dim);
    auto waveOffsets = layout.waveOffsetsAlong(dim);
    if (!layout.hasWaveModesAlong(dim)) {
      ASSERT_EQ(waveOffsets.size(), size_t(1)
                                        << layout.waveBitsAlong(dim).size());
    }
    // Every digit along dim set to zero gives an earlier place, so that the
    // first place not yet seen is a base.
    std::set<std::array<int64_t, 3>> seen;
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      if (seen.contains({reg, lane, wave})) {
        return;
      }
      auto origin = layout.coordinates(reg, lane, wave);
      std::set<int64_t> along;
      for (int64_t r : registerOffsets) {
        for (int64_t l : laneOffsets) {
          for (int64_t w : waveOffsets) {
            ASSERT_LT(reg + r, layout.numRegisters());
            ASSERT_LT(wave + w, layout.numWaves());
            ASSERT_TRUE(seen.insert({reg + r, lane + l, wave + w}).second);
            auto coords = layout.coordinates(reg + r, lane + l, wave + w);
            ASSERT_TRUE(along.insert(coords[dim]).second);
            coords[dim] = origin[dim];
            ASSERT_EQ(coords, origin);
          }
        }
      }
      ASSERT_EQ(int64_t(along.size()), layout.shape()[dim]);
    });
    ASSERT_FALSE(HasFatalFailure()) << layout << " along " << dim;
  }
  EXPECT_GT(walked, 100);
}

TEST(LayoutSlice, ReductionOfAnMfmaShapedTile) {
  RawLayout raw;
  raw.shape = {16, 16};
  raw.bases[0] = {{1, 0}, {2, 0}};
  raw.bases[1] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {4, 0}, {8, 0}};
  Layout atom = cantFail(raw.create());
  Layout layout = cantFail(
      Layout::repeat(atom, {{HwDim::Register, 3, 1}, {HwDim::Wave, 3, 0}}));
  EXPECT_EQ(layout.shape(), ArrayRef<int64_t>({48, 48}));
  EXPECT_EQ(layout.laneBitsAlong(0), (SmallVector<unsigned>{4, 5}));
  EXPECT_EQ(layout.laneBitsAlong(1), (SmallVector<unsigned>{0, 1, 2, 3}));
  EXPECT_EQ(layout.registerOffsetsAlong(0), (SmallVector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(layout.registerOffsetsAlong(1), (SmallVector<int64_t>{0, 4, 8}));
  EXPECT_EQ(layout.waveOffsetsAlong(0), (SmallVector<int64_t>{0, 1, 2}));
  EXPECT_EQ(layout.waveOffsetsAlong(1), (SmallVector<int64_t>{0}));
  Layout rows = layout.slice(1u);
  EXPECT_EQ(rows.shape(), ArrayRef<int64_t>({48}));
  EXPECT_EQ(rows.numRegisters(), 4);
  EXPECT_EQ(rows.freeLaneMask(), 15u);
  Layout columns = layout.slice(0u);
  EXPECT_EQ(columns.numRegisters(), 3);
  EXPECT_EQ(columns.freeLaneMask(), 48u);
  // The three waves hold the same columns.
  EXPECT_TRUE(columns.isFirstReplica(0, 0));
  EXPECT_FALSE(columns.isFirstReplica(0, 1));
  EXPECT_FALSE(columns.isFirstReplica(0, 2));
}

TEST(LayoutSlice, TransposePermutesCoordinates) {
  LayoutGenerator generator(13);
  for (int trial = 0; trial < 60; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    SmallVector<unsigned> permutation;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      permutation.push_back((dim + 1) % layout.rank());
    }
    Layout moved = layout.transposed(permutation);
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      auto coords = layout.coordinates(reg, lane, wave);
      auto found = moved.coordinates(reg, lane, wave);
      for (auto [dim, source] : enumerate(permutation)) {
        ASSERT_EQ(found[dim], coords[source]);
      }
    });
  }
}
