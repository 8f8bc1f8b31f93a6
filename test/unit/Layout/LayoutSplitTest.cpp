//===- LayoutSplitTest.cpp - dims cut into blocks ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomLayout.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tenon::layout;

using Blocks = SmallVector<SmallVector<int64_t, 2>>;

// Each element is where it was, its coordinate given by digits.
TEST(LayoutSplit, DigitsGiveTheCoordinates) {
  LayoutGenerator generator(11);
  int splits = 0;
  for (int attempt = 0; attempt < 400; ++attempt) {
    auto layout = cantFail(generator.anyLayout().create());
    Blocks blocks(layout.rank());
    for (auto &ofDim : blocks) {
      for (int64_t count = generator.pick(0, 2); count > 0; --count) {
        ofDim.push_back(int64_t(1) << generator.pick(1, 3));
      }
    }
    auto split = layout.split(blocks);
    if (!split) {
      consumeError(split.takeError());
      continue;
    }
    ++splits;
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      auto coords = layout.coordinates(reg, lane, wave);
      auto digits = split->coordinates(reg, lane, wave);
      unsigned next = 0;
      for (unsigned dim = 0; dim < layout.rank(); ++dim) {
        int64_t step = 1;
        int64_t sum = 0;
        for (int64_t block : blocks[dim]) {
          ASSERT_LT(digits[next], block);
          sum += digits[next++] * step;
          step *= block;
        }
        ASSERT_EQ(sum + digits[next++] * step, coords[dim]) << layout;
      }
    });
  }
  EXPECT_GT(splits, 200);
}

// What cannot be counted in whole blocks is said.
TEST(LayoutSplit, ExtentsDivideIntoBlocks) {
  auto layout =
      cantFail(Layout::blocked({24, 8}, {1, 0}, {1, 1}, {8, 8}, {1, 1}));
  EXPECT_EQ(toString(layout.split(Blocks{{16}, {}}).takeError()),
            "dim 0 of 24 elements does not divide into blocks of 16");
  // A power of two may be less than a block.
  EXPECT_EQ(cantFail(layout.split(Blocks{{8}, {16}})).shape(),
            ArrayRef<int64_t>({8, 3, 8, 1}));
  auto digits =
      cantFail(Layout::blocked({96, 4}, {1, 0}, {1, 1}, {16, 4}, {1, 1}));
  EXPECT_EQ(cantFail(digits.split(Blocks{{16}, {}})).shape(),
            ArrayRef<int64_t>({16, 6, 4}));
}
