//===- LayoutVectorTest.cpp - vector widths against enumeration -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomLayout.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tenon::layout;

/// Whether in each aligned group of `width` registers register j is j elements
/// after register 0, whatever the unknown strides are.
static bool isRun(const Layout &layout, ArrayRef<int64_t> strides,
                  int64_t width) {
  bool holds = true;
  forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
    auto first = layout.coordinates(reg / width * width, lane, wave);
    auto coords = layout.coordinates(reg, lane, wave);
    int64_t distance = 0;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      if (strides[dim] < 0) {
        holds &= coords[dim] == first[dim];
      } else {
        distance += (coords[dim] - first[dim]) * strides[dim];
      }
    }
    holds &= distance == reg % width;
  });
  return holds;
}

static unsigned widest(const Layout &layout, ArrayRef<int64_t> strides,
                       int64_t limit) {
  int64_t core = int64_t(1) << layout.bases(HwDim::Register).size();
  int64_t width = 1;
  while (width * 2 <= std::min(core, limit) &&
         isRun(layout, strides, width * 2)) {
    width *= 2;
  }
  return width;
}

// Layouts whose low register bits run along a dim, so that there is something
// to find.
static Layout runLayout(LayoutGenerator &generator) {
  if (generator.pick(0, 2) == 0) {
    return cantFail(generator.anyLayout().create());
  }
  SmallVector<int64_t> perThread;
  SmallVector<int64_t> lanes;
  SmallVector<int64_t> waves;
  SmallVector<int64_t> shape;
  SmallVector<unsigned> order{1, 0};
  if (generator.pick(0, 1) == 1) {
    std::swap(order[0], order[1]);
  }
  int64_t laneBits = generator.pick(0, 6);
  for (int64_t dim = 0; dim < 2; ++dim) {
    perThread.push_back(int64_t(1) << generator.pick(0, 3));
    lanes.push_back(int64_t(1) << (dim == 0 ? laneBits : 6 - laneBits));
    waves.push_back(generator.pick(1, 2));
    shape.push_back(perThread[dim] * lanes[dim] * waves[dim] *
                    generator.pick(1, 3));
  }
  return cantFail(Layout::blocked(shape, order, perThread, lanes, waves));
}

TEST(LayoutVector, WidthMatchesEnumeration) {
  LayoutGenerator generator(21);
  int wide = 0;
  for (int trial = 0; trial < 300; ++trial) {
    Layout layout = runLayout(generator);
    SmallVector<int64_t> strides(layout.rank());
    // Row major, in some order of the dims, some of them unknown or zero.
    SmallVector<unsigned> dims = to_vector(seq(0u, layout.rank()));
    if (generator.pick(0, 1) == 1) {
      std::reverse(dims.begin(), dims.end());
    }
    int64_t stride = 1;
    for (unsigned dim : dims) {
      strides[dim] = stride;
      stride *= layout.shape()[dim];
      int64_t change = generator.pick(0, 7);
      strides[dim] = change == 0 ? -1 : change == 1 ? 0 : strides[dim];
    }
    unsigned bits = 8u << generator.pick(0, 2);
    unsigned found = layout.vectorWidth(strides, bits, 128);
    ASSERT_EQ(found, widest(layout, strides, 128 / bits)) << layout;
    wide += found > 1;
  }
  EXPECT_GT(wide, 60);
}

TEST(LayoutVector, ContiguousMatchesEnumeration) {
  LayoutGenerator generator(22);
  int wide = 0;
  for (int trial = 0; trial < 200; ++trial) {
    Layout layout = runLayout(generator);
    unsigned dim = generator.pick(0, layout.rank() - 1);
    SmallVector<int64_t> strides(layout.rank(), -1);
    strides[dim] = 1;
    unsigned found = layout.contiguous(dim);
    ASSERT_EQ(found, widest(layout, strides, 1 << 20)) << layout;
    // The run starts at a multiple of its length.
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      if (reg % found == 0) {
        ASSERT_EQ(layout.coordinates(reg, lane, wave)[dim] % found, 0);
      }
    });
    wide += found > 1;
  }
  EXPECT_GT(wide, 60);
}

TEST(LayoutVector, AlignmentIsThatOfAllGroups) {
  LayoutGenerator generator(23);
  for (int trial = 0; trial < 200; ++trial) {
    Layout layout = runLayout(generator);
    SmallVector<int64_t> divisors;
    for (unsigned dim = 0; dim < layout.rank(); ++dim) {
      divisors.push_back(int64_t(1) << generator.pick(0, 6));
    }
    unsigned run = layout.contiguous(0);
    int64_t found = layout.runAlignment(divisors, run);
    // Largest power of two that divides all offsets; the bits of all dims are
    // free to take any value, so this is also a lower bound over all divisors.
    uint64_t offsets = uint64_t(1) << 30;
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      if (reg % run != 0) {
        return;
      }
      auto coords = layout.coordinates(reg, lane, wave);
      for (auto [coord, divisor] : zip_equal(coords, divisors)) {
        offsets |= coord * divisor;
      }
    });
    ASSERT_EQ(found, int64_t(1) << countr_zero(offsets)) << layout;
  }
}

// A lane that xors into the low bits of a run reverses it for half of the
// lanes: that is no run.
TEST(LayoutVector, SwizzledRunIsNoRun) {
  RawLayout raw;
  raw.shape = {256};
  raw.bases[0] = {{1}, {2}};
  raw.bases[1] = {{4}, {8}, {16}, {32}, {64}, {128}};
  EXPECT_EQ(cantFail(raw.create()).contiguous(0), 4u);
  raw.bases[1][5] = {130};
  EXPECT_EQ(cantFail(raw.create()).contiguous(0), 2u);
  raw.bases[1][5] = {129};
  EXPECT_EQ(cantFail(raw.create()).contiguous(0), 1u);
}

// A run continues into the next dim where the tile is dense in memory.
TEST(LayoutVector, RunCrossesDimsOfADenseTile) {
  Layout layout = cantFail(
      Layout::blocked({4, 4, 64}, {1, 0, 2}, {4, 4, 1}, {1, 1, 64}, {1, 1, 1}));
  EXPECT_EQ(layout.vectorWidth({4, 1, 16}, 8, 128), 16u);
  EXPECT_EQ(layout.vectorWidth({4, 1, 16}, 16, 128), 8u);
  EXPECT_EQ(layout.vectorWidth({8, 1, 32}, 8, 128), 4u);
  EXPECT_EQ(layout.vectorWidth({-1, 1, -1}, 8, 128), 4u);
  EXPECT_EQ(layout.vectorWidth({4, -1, 16}, 8, 128), 1u);
}
