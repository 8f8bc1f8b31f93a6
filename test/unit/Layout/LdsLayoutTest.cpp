//===- LdsLayoutTest.cpp - LDS addresses against enumeration ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LdsLayout.h"
#include "RandomLayout.h"

#include <gtest/gtest.h>

#include <map>

using namespace llvm;
using namespace tenon::layout;

/// Calls `visit` with every coordinate tuple of `shape`.
template <typename Visit>
static void forEachElement(ArrayRef<int64_t> shape, Visit visit) {
  for (int64_t number = 0; number < elementCount(shape); ++number) {
    SmallVector<int64_t> coords(shape.size(), 0);
    int64_t rest = number;
    for (unsigned dim = shape.size(); dim-- > 0;) {
      coords[dim] = rest % shape[dim];
      rest /= shape[dim];
    }
    visit(coords);
  }
}

/// A random description, about half of them valid.
static Expected<LdsLayout> randomLds(LayoutGenerator &generator) {
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, rank = generator.pick(1, 3); dim < rank; ++dim) {
    shape.push_back(generator.pick(0, 1) == 0
                        ? generator.pick(1, 24)
                        : int64_t(1) << generator.pick(0, 5));
  }
  unsigned bits = 4u << generator.pick(0, 3);
  SmallVector<int64_t> strides(shape.size(), 1);
  for (unsigned dim = shape.size(); dim-- > 1;) {
    strides[dim - 1] = strides[dim] * shape[dim];
    if (generator.pick(0, 2) == 0) {
      strides[dim - 1] = alignTo(strides[dim - 1], 1 << generator.pick(0, 6));
    }
  }
  if (generator.pick(0, 5) == 0) {
    strides[generator.pick(0, shape.size() - 1)] = generator.pick(1, 40);
  }
  SmallVector<SwizzleTerm> terms;
  for (int64_t i = 0, count = generator.pick(0, 3); i < count; ++i) {
    terms.push_back({static_cast<unsigned>(generator.pick(0, shape.size() - 1)),
                     static_cast<unsigned>(generator.pick(0, 3)),
                     int64_t(1) << generator.pick(0, 5)});
  }
  LdsPadding padding;
  if (generator.pick(0, 2) == 0) {
    padding = {int64_t(1) << generator.pick(2, 7), generator.pick(0, 3) * 4};
  }
  return LdsLayout::create(shape, strides, bits, terms, padding);
}

// What create accepts gives each element bits of its own, inside the stated
// size, and coordinatesAt inverts it.
TEST(LdsLayout, ElementsHaveAddressesOfTheirOwn) {
  LayoutGenerator generator(71);
  int accepted = 0;
  int swizzled = 0;
  for (int trial = 0; trial < 8000; ++trial) {
    Expected<LdsLayout> lds = randomLds(generator);
    if (!lds) {
      consumeError(lds.takeError());
      continue;
    }
    ++accepted;
    swizzled += !lds->swizzle().empty();
    std::map<int64_t, SmallVector<int64_t>> elementAt;
    forEachElement(lds->shape(), [&](ArrayRef<int64_t> coords) {
      int64_t bit = lds->bitAddress(coords);
      ASSERT_EQ(bit % lds->elementBits(), 0);
      ASSERT_LE(bit + lds->elementBits(), lds->sizeInBytes() * 8);
      ASSERT_TRUE(elementAt.emplace(bit, SmallVector<int64_t>(coords)).second);
    });
    for (int64_t byte = -1; byte <= lds->sizeInBytes(); ++byte) {
      auto element = elementAt.find(byte * 8);
      auto found = lds->coordinatesAt(byte);
      ASSERT_EQ(found.has_value(), element != elementAt.end()) << byte;
      if (found) {
        ASSERT_EQ(*found, element->second);
      }
    }
    ASSERT_FALSE(HasFatalFailure());
  }
  EXPECT_GT(accepted, 800);
  EXPECT_GT(swizzled, 200);
}

// The definition, evaluated step by step.
TEST(LdsLayout, AddressFollowsTheDefinition) {
  LdsLayout lds = cantFail(LdsLayout::create(
      {8, 96}, {96, 1}, 32, {{0, 1, 16}, {0, 2, 32}}, {1024, 64}));
  EXPECT_EQ(lds.byteAddress({0, 5}), 20);
  EXPECT_EQ(lds.byteAddress({2, 5}), (2 * 384 + 20) ^ 16);
  EXPECT_EQ(lds.byteAddress({6, 5}), ((6 * 384 + 20) ^ 48) + 2 * 64);
  EXPECT_EQ(lds.sizeInBytes(), 8 * 384 + 2 * 64);
  LdsLayout nibbles = LdsLayout::rowMajor({2, 64}, 4);
  EXPECT_EQ(nibbles.bitAddress({1, 3}), 268);
  EXPECT_EQ(nibbles.byteAddress({1, 3}), 33);
  EXPECT_EQ(nibbles.sizeInBytes(), 64);
}

TEST(LdsLayout, ErrorsNameWhatWasExpectedAndFound) {
  auto message = [](Expected<LdsLayout> lds) {
    return lds ? std::string() : messageOf(lds.takeError());
  };
  EXPECT_EQ(message(LdsLayout::create({4, 8}, {7, 1}, 16)),
            "dim 0: expected a stride of at least 8 elements (what lies below "
            "it), found 7");
  EXPECT_EQ(message(LdsLayout::create({4, 8}, {8}, 16)),
            "expected 2 strides (the rank), found 1");
  EXPECT_EQ(message(LdsLayout::create({4, 24}, {24, 1}, 16, {{0, 0, 16}})),
            "the swizzle permutes blocks of 32 bytes, but a step along dim 0 "
            "is 384 bits");
  EXPECT_EQ(message(LdsLayout::create({4, 16}, {16, 1}, 16, {{0, 2, 16}})),
            "swizzle term of bit 2 of dim 0, which has only 2 bits");
  EXPECT_EQ(message(LdsLayout::create({4, 16}, {16, 1}, 16, {{2, 0, 16}})),
            "swizzle term of dim 2 with mask 16: expected a dim below 2 and a "
            "positive mask");
  EXPECT_EQ(message(LdsLayout::create({4, 16}, {16, 1}, 32, {{0, 0, 18}})),
            "swizzle mask 18 tears elements of 32 bits apart");
  // Rows of 384 bytes are three blocks of 128: fine.
  EXPECT_EQ(message(LdsLayout::create({4, 384}, {384, 1}, 8, {{0, 0, 64}})),
            "");
}

/// Whether all aligned groups of `width` registers are runs of addresses,
/// aligned to their size.
static bool isRun(const Layout &layout, const LdsLayout &lds, int64_t width) {
  bool holds = true;
  int64_t bits = lds.elementBits();
  forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
    int64_t first =
        lds.bitAddress(layout.coordinates(reg / width * width, lane, wave));
    holds &= first % (width * bits) == 0;
    holds &= lds.bitAddress(layout.coordinates(reg, lane, wave)) ==
             first + reg % width * bits;
  });
  return holds;
}

TEST(LdsLayout, VectorWidthIsSafeAndFindsTheObvious) {
  LayoutGenerator generator(72);
  int wide = 0;
  int asWide = 0;
  int trials = 0;
  for (int trial = 0; trial < 200; ++trial) {
    int64_t run = int64_t(1) << generator.pick(0, 3);
    int64_t columns = 64 * generator.pick(1, 3);
    Layout layout = cantFail(
        Layout::blocked({16, columns}, {1, 0}, {1, run}, {8, 8}, {1, 1}));
    int64_t stride = columns + generator.pick(0, 4) * generator.pick(0, 8);
    SmallVector<SwizzleTerm> terms;
    if (generator.pick(0, 1) == 1) {
      terms.push_back({0, 0, int64_t(1) << generator.pick(1, 5)});
    }
    unsigned bits = 8u << generator.pick(0, 2);
    auto lds = LdsLayout::create({16, columns}, {stride, 1}, bits, terms);
    if (!lds) {
      consumeError(lds.takeError());
      continue;
    }
    ++trials;
    unsigned found = lds->vectorWidth(layout, 128);
    ASSERT_TRUE(isRun(layout, *lds, found)) << layout;
    ASSERT_LE(found * bits, 128u);
    wide += found > 1;
    unsigned twice = found * 2;
    asWide += twice * bits > 128 || layout.numRegisters() % twice != 0 ||
              !isRun(layout, *lds, twice);
  }
  // Nothing wider was there to be had.
  EXPECT_EQ(asWide, trials);
  EXPECT_GT(wide, 30);
}

TEST(LdsLayout, EqualityAndHash) {
  LdsLayout plain = LdsLayout::rowMajor({16, 128}, 8);
  LdsLayout swizzled = cantFail(plain.withSwizzle({{0, 0, 16}}));
  EXPECT_FALSE(plain == swizzled);
  EXPECT_EQ(plain, cantFail(swizzled.withSwizzle({})));
  EXPECT_EQ(hash_value(plain), hash_value(cantFail(swizzled.withSwizzle({}))));
  EXPECT_NE(hash_value(plain), hash_value(swizzled));
}
