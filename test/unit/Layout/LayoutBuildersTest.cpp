//===- LayoutBuildersTest.cpp - the usual distributions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomLayout.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace llvm;
using namespace tenon::layout;

// The position along each dim, digit by digit: element in the run, lane, wave,
// repeat.
TEST(LayoutBuilders, BlockedFollowsItsDescription) {
  LayoutGenerator generator(31);
  for (int trial = 0; trial < 100; ++trial) {
    SmallVector<int64_t> perThread;
    SmallVector<int64_t> lanes;
    SmallVector<int64_t> waves;
    SmallVector<int64_t> repeats;
    SmallVector<int64_t> shape;
    SmallVector<unsigned> order{0, 1};
    if (generator.pick(0, 1) == 1) {
      order = {1, 0};
    }
    int64_t laneBits = generator.pick(0, 5);
    for (int64_t dim = 0; dim < 2; ++dim) {
      perThread.push_back(int64_t(1) << generator.pick(0, 2));
      lanes.push_back(int64_t(1) << (dim == 0 ? laneBits : 5 - laneBits));
      waves.push_back(generator.pick(1, 3));
      repeats.push_back(generator.pick(1, 3));
      shape.push_back(perThread[dim] * lanes[dim] * waves[dim] * repeats[dim]);
    }
    Layout layout =
        cantFail(Layout::blocked(shape, order, perThread, lanes, waves));
    ASSERT_EQ(layout.numWaves(), waves[0] * waves[1]);
    // Half of the lanes replicate: 32 of them have a place.
    ASSERT_EQ(layout.freeLaneMask(), 32u);
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      SmallVector<int64_t> expected(2, 0);
      SmallVector<int64_t> weight(2, 1);
      auto take = [&](int64_t index, ArrayRef<int64_t> counts) {
        for (unsigned dim : order) {
          expected[dim] += index % counts[dim] * weight[dim];
          weight[dim] *= counts[dim];
          index /= counts[dim];
        }
      };
      int64_t run = perThread[0] * perThread[1];
      take(reg % run, perThread);
      take(lane % 32, lanes);
      take(wave, waves);
      take(reg / run, repeats);
      ASSERT_EQ(layout.coordinates(reg, lane, wave), expected) << layout;
    });
  }
}

TEST(LayoutBuilders, BlockedNamesTheDimThatDoesNotFit) {
  auto message = [](Expected<Layout> layout) {
    return layout ? std::string() : messageOf(layout.takeError());
  };
  EXPECT_EQ(message(Layout::blocked({48, 96}, {1, 0}, {1, 8}, {4, 16}, {1, 1})),
            "dim 1: extent 96 is no multiple of perThread * lanes * waves = 8 "
            "* 16 * 1");
  EXPECT_EQ(message(Layout::blocked({48, 96}, {1, 1}, {1, 8}, {4, 16}, {1, 1})),
            "order is not a permutation of the 2 dims");
  EXPECT_EQ(
      message(Layout::blocked({128, 128}, {1, 0}, {1, 1}, {16, 16}, {1, 1})),
      "lanes multiply to 256, expected at most 64");
  EXPECT_EQ(message(Layout::blocked({48}, {0}, {3}, {16}, {1})),
            "dim 0: perThread 3 and lanes 16 must be powers of two, waves 1 "
            "positive");
}

// Shares are the largest that divide, level by level, and nothing is lost.
TEST(LayoutBuilders, Distribute1DTakesTheLargestShares) {
  for (int64_t n : {1, 2, 3, 48, 80, 96, 128, 160, 384, 896, 3584, 7168}) {
    for (int64_t waves : {1, 2, 3, 4, 8, 12}) {
      for (int64_t run : {1, 4, 8}) {
        Layout layout = cantFail(Layout::distribute1D(n, 64, waves, run));
        int64_t usedRun = std::gcd(n, run);
        int64_t usedLanes = std::gcd(n / usedRun, int64_t(64));
        int64_t usedWaves = std::gcd(n / usedRun / usedLanes, waves);
        EXPECT_EQ(layout.numWaves(), waves);
        EXPECT_EQ(layout.numRegisters(), n / usedLanes / usedWaves);
        EXPECT_GE(layout.contiguous(0), usedRun);
        int64_t owners = 0;
        for (int64_t wave = 0; wave < waves; ++wave) {
          for (int64_t lane = 0; lane < 64; ++lane) {
            owners += layout.isFirstReplica(lane, wave);
          }
        }
        EXPECT_EQ(owners, usedLanes * usedWaves);
        for (int64_t j = 0; j < usedRun; ++j) {
          for (int64_t lane = 0; lane < 64; ++lane) {
            EXPECT_EQ(layout.coordinates(j, lane, 0)[0],
                      lane % usedLanes * usedRun + j);
          }
        }
      }
    }
  }
}

TEST(LayoutBuilders, RepeatPlacesCopiesSideBySide) {
  LayoutGenerator generator(32);
  for (int trial = 0; trial < 60; ++trial) {
    Layout atom =
        cantFail(generator.layout(generator.tile(true), 4, true).create());
    unsigned dim = generator.pick(0, atom.rank() - 1);
    int64_t copies = generator.pick(1, 5);
    Layout wide =
        cantFail(Layout::repeat(atom, Repeat{HwDim::Register, copies, dim}));
    Layout waves =
        cantFail(Layout::repeat(atom, Repeat{HwDim::Wave, copies, dim}));
    Layout replicas = cantFail(
        Layout::repeat(atom, Repeat{HwDim::Wave, copies, std::nullopt}));
    forEachPlace(atom, [&](int64_t reg, int64_t lane, int64_t wave) {
      auto coords = atom.coordinates(reg, lane, wave);
      for (int64_t copy = 0; copy < copies; ++copy) {
        ASSERT_EQ(
            replicas.coordinates(reg, lane, wave + copy * atom.numWaves()),
            coords);
        auto moved = coords;
        moved[dim] += copy * atom.shape()[dim];
        ASSERT_EQ(
            wide.coordinates(reg + copy * atom.numRegisters(), lane, wave),
            moved);
        ASSERT_EQ(waves.coordinates(reg, lane, wave + copy * atom.numWaves()),
                  moved);
      }
    });
  }
}
