//===- LayoutTest.cpp - the map, its inverse, its validity ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RandomLayout.h"
#include "tenon/Layout/LinearMap.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tenon::layout;

/// A 16x16 tile of one wave: rows in the lanes above bit 3, columns below.
static RawLayout plain16x16() {
  RawLayout raw;
  raw.shape = {16, 16};
  raw.bases[0] = {{1, 0}, {2, 0}};
  raw.bases[1] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {4, 0}, {8, 0}};
  return raw;
}

static std::string rejection(const RawLayout &raw) {
  Expected<Layout> layout = raw.create();
  return layout ? "" : messageOf(layout.takeError());
}

/// Whether the digits that do not replicate reach every element exactly once.
static bool coversOnce(const RawLayout &raw) {
  uint64_t freeBits[3] = {};
  for (unsigned input = 0; input < 3; ++input) {
    for (auto [bit, basis] : enumerate(raw.bases[input])) {
      freeBits[input] |=
          uint64_t(all_of(basis, [](int64_t x) { return x == 0; })) << bit;
    }
  }
  auto isReplica = [&](HwDim dim, int64_t index) {
    unsigned input = static_cast<unsigned>(dim);
    if ((index & freeBits[input]) != 0) {
      return true;
    }
    index >>= raw.bases[input].size();
    for (const OuterMode &mode : raw.modes) {
      if (mode.input == dim) {
        if (mode.stride == 0 && index % mode.extent != 0) {
          return true;
        }
        index /= mode.extent;
      }
    }
    return false;
  };
  std::vector<int> held(elementCount(raw.shape), 0);
  bool isInside = true;
  forEachPlace(raw, [&](int64_t reg, int64_t lane, int64_t wave) {
    if (isReplica(HwDim::Register, reg) || isReplica(HwDim::Lane, lane) ||
        isReplica(HwDim::Wave, wave)) {
      return;
    }
    auto coords = raw.coordinates(reg, lane, wave);
    if (!all_of_zip(coords, raw.shape,
                    [](int64_t c, int64_t n) { return c < n; })) {
      isInside = false;
      return;
    }
    ++held[elementNumber(raw.shape, coords)];
  });
  return isInside && all_of(held, [](int n) { return n == 1; });
}

TEST(Layout, CoordinatesFollowTheDefinition) {
  LayoutGenerator generator(1);
  for (int trial = 0; trial < 300; ++trial) {
    RawLayout raw = generator.anyLayout();
    Expected<Layout> layout = raw.create();
    ASSERT_TRUE(bool(layout)) << messageOf(layout.takeError());
    for (HwDim dim : allHwDims) {
      ASSERT_EQ(layout->size(dim), raw.size(dim));
    }
    forEachPlace(raw, [&](int64_t reg, int64_t lane, int64_t wave) {
      ASSERT_EQ(layout->coordinates(reg, lane, wave),
                raw.coordinates(reg, lane, wave))
          << *layout << " at " << reg << ", " << lane << ", " << wave;
    });
  }
}

// The property on which conversions rest: lanes enter by xor alone.
TEST(Layout, LanesEnterByXor) {
  LayoutGenerator generator(2);
  for (int trial = 0; trial < 100; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      auto whole = layout.coordinates(reg, lane, wave);
      auto ofLane = layout.coordinates(0, lane, 0);
      auto rest = layout.coordinates(reg, 0, wave);
      for (unsigned dim = 0; dim < layout.rank(); ++dim) {
        ASSERT_EQ(whole[dim], ofLane[dim] ^ rest[dim]);
      }
    });
  }
}

// Whatever create accepts covers each element once up to replicas; what it
// refuses does not, unless a mode reaches into the block of the core.
TEST(Layout, CreateAgreesWithEnumeration) {
  LayoutGenerator generator(3);
  int accepted = 0;
  int refused = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    RawLayout raw = generator.anyLayout();
    int64_t damage = generator.pick(0, 4);
    unsigned dim = generator.pick(0, raw.rank() - 1);
    auto &bases = raw.bases[generator.pick(0, 2)];
    if (damage == 1 && !bases.empty()) {
      bases[generator.pick(0, bases.size() - 1)][dim] =
          generator.pick(0, raw.shape[dim] - 1);
    } else if (damage == 2 && !raw.modes.empty()) {
      raw.modes[generator.pick(0, raw.modes.size() - 1)].stride =
          generator.pick(0, raw.shape[dim]);
    } else if (damage == 3) {
      raw.shape[dim] = generator.pick(1, 2 * raw.shape[dim]);
    } else if (damage == 4 && !raw.modes.empty()) {
      raw.modes[generator.pick(0, raw.modes.size() - 1)].dim = dim;
    }
    std::string message = rejection(raw);
    if (message.empty()) {
      ++accepted;
      ASSERT_TRUE(coversOnce(raw)) << cantFail(raw.create());
      continue;
    }
    ++refused;
    if (!coversOnce(raw)) {
      continue;
    }
    bool reachesIntoCore = any_of(raw.modes, [&](const OuterMode &mode) {
      int64_t reach = 0;
      for (const auto &part : raw.bases) {
        for (const Basis &basis : part) {
          reach |= basis[mode.dim];
        }
      }
      int64_t block = reach == 0 ? 1 : int64_t(NextPowerOf2(reach));
      return mode.stride % block != 0;
    });
    ASSERT_TRUE(reachesIntoCore) << message;
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 300);
}

TEST(Layout, ErrorsNameWhatWasExpectedAndFound) {
  RawLayout raw = plain16x16();
  raw.bases[1].pop_back();
  EXPECT_EQ(rejection(raw), "expected 6 lane bases (a wave has 64 lanes), "
                            "found 5");

  raw = plain16x16();
  raw.bases[0][1] = {3, 4};
  EXPECT_EQ(rejection(raw), "");

  raw = plain16x16();
  raw.bases[1][4] = {3, 0};
  EXPECT_EQ(rejection(raw),
            "lane basis 4 = [3, 0] is a sum of the bases before it: elements "
            "may be held twice only through zero bases");

  raw = plain16x16();
  raw.bases[1][4] = {0, 0};
  EXPECT_EQ(rejection(raw), "the bases reach block [16, 16] but cover only 128 "
                            "of its 256 elements");

  raw = plain16x16();
  raw.bases[0][0] = {16, 0};
  EXPECT_EQ(rejection(raw), "register basis 0 moves dim 0 by 16, expected a "
                            "value in [0, 16)");

  raw = plain16x16();
  raw.bases[0][0] = {1};
  EXPECT_EQ(rejection(raw), "register basis 0 has 1 coordinates, expected 2 "
                            "(the rank of the tile)");

  raw = plain16x16();
  raw.shape[1] = 48;
  EXPECT_EQ(rejection(raw), "the layout covers 16 of the 48 elements of dim 1");
  raw.modes = {{HwDim::Register, 3, 1, 32}};
  EXPECT_EQ(rejection(raw), "register mode of extent 3 along dim 1: expected "
                            "stride 16 (what lies below it), found 32");
  raw.modes = {{HwDim::Wave, 4, 1, 16}};
  EXPECT_EQ(rejection(raw), "wave mode of extent 4 and stride 16 leaves dim 1 "
                            "of extent 48");
  raw.modes = {{HwDim::Lane, 3, 1, 16}};
  EXPECT_EQ(rejection(raw), "an outer mode is a digit of the register or the "
                            "wave index, found one of the lane");
  raw.modes = {{HwDim::Wave, 3, 2, 16}};
  EXPECT_EQ(rejection(raw), "wave mode along dim 2 of a tile of rank 2");

  // Products of sizes must not overflow: 8 bits here, and digits of 3 * 2^31.
  raw = plain16x16();
  raw.modes = {{HwDim::Register, int64_t(3) << 31, 0, 0}};
  EXPECT_EQ(rejection(raw),
            "a register mode of extent 6442450944 makes more than 2^40 "
            "registers, lanes and waves together");
  raw.modes = {{HwDim::Register, int64_t(1) << 31, 0, 0},
               {HwDim::Wave, 3, 0, 0}};
  EXPECT_EQ(rejection(raw), "a wave mode of extent 3 makes more than 2^40 "
                            "registers, lanes and waves together");
  raw.modes = {};
  raw.bases[0].append(40, Basis{0, 0});
  EXPECT_EQ(rejection(raw), "expected at most 40 hardware bits, found 48");
}

// Two descriptions of one map give equal layouts, and only those do.
TEST(Layout, EqualExactlyWhenTheMapsAre) {
  LayoutGenerator generator(4);
  int equal = 0;
  for (int trial = 0; trial < 300; ++trial) {
    RawLayout raw = generator.anyLayout();
    Layout layout = cantFail(raw.create());
    // The same map, with modes split into digits.
    RawLayout split = raw;
    split.modes.clear();
    for (OuterMode mode : raw.modes) {
      for (int64_t factor : {2, 3, 5}) {
        while (mode.extent % factor == 0) {
          split.modes.push_back({mode.input, factor, mode.dim, mode.stride});
          mode.extent /= factor;
          mode.stride *= factor;
        }
      }
    }
    Layout other = cantFail(split.create());
    ASSERT_EQ(layout, other);
    ASSERT_EQ(hash_value(layout), hash_value(other));

    // A layout of the same shape with two digits exchanged.
    if (split.modes.size() < 2) {
      continue;
    }
    size_t a = generator.pick(0, split.modes.size() - 1);
    size_t b = generator.pick(0, split.modes.size() - 1);
    std::swap(split.modes[a], split.modes[b]);
    Layout exchanged = cantFail(split.create());
    bool isSame = true;
    for (HwDim dim : allHwDims) {
      isSame &= layout.size(dim) == exchanged.size(dim);
    }
    if (isSame) {
      forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
        isSame &= layout.coordinates(reg, lane, wave) ==
                  exchanged.coordinates(reg, lane, wave);
      });
    }
    equal += isSame;
    ASSERT_EQ(layout == exchanged, isSame) << layout << " / " << exchanged;
  }
  EXPECT_GT(equal, 10);
}

TEST(Layout, CanonicalFormMovesModesIntoTheCore) {
  RawLayout raw = plain16x16();
  raw.shape = {48, 64};
  raw.modes = {{HwDim::Register, 2, 1, 16},
               {HwDim::Wave, 2, 1, 32},
               {HwDim::Register, 3, 0, 16}};
  Layout layout = cantFail(raw.create());
  EXPECT_EQ(layout.bases(HwDim::Register),
            ArrayRef<Basis>({{1, 0}, {2, 0}, {0, 16}}));
  EXPECT_EQ(layout.bases(HwDim::Wave), ArrayRef<Basis>({{0, 32}}));
  EXPECT_EQ(layout.outerModes(),
            ArrayRef<OuterMode>({{HwDim::Register, 3, 0, 16}}));
  EXPECT_EQ(layout.coreBits(0), 4u);
  EXPECT_EQ(layout.coreBits(1), 6u);
}

TEST(Layout, OwnerAndRegisterInvertCoordinates) {
  LayoutGenerator generator(5);
  for (int trial = 0; trial < 120; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      auto coords = layout.coordinates(reg, lane, wave);
      auto owner = layout.ownerOf(coords);
      ASSERT_TRUE(owner);
      ASSERT_EQ(layout.coordinates(owner->reg, owner->lane, owner->wave),
                coords);
      ASSERT_TRUE(layout.isFirstReplica(owner->lane, owner->wave));
      auto found = layout.registerOf(coords, lane, wave);
      ASSERT_TRUE(found);
      ASSERT_LE(*found, reg);
      ASSERT_EQ(layout.coordinates(*found, lane, wave), coords);
    });
    SmallVector<int64_t> outside(layout.shape());
    ASSERT_EQ(layout.ownerOf(outside), std::nullopt);
    ASSERT_EQ(layout.registerOf(outside, 0, 0), std::nullopt);
  }
}

// registerOf answers only for threads that hold the element.
TEST(Layout, RegisterOfMatchesEnumeration) {
  LayoutGenerator generator(6);
  for (int trial = 0; trial < 60; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    SmallVector<int64_t> coords;
    for (int64_t extent : layout.shape()) {
      coords.push_back(generator.pick(0, extent - 1));
    }
    for (int64_t wave = 0; wave < layout.numWaves(); ++wave) {
      for (int64_t lane = 0; lane < layout.numLanes(); ++lane) {
        std::optional<int64_t> expected;
        for (int64_t reg = layout.numRegisters(); reg-- > 0;) {
          if (layout.coordinates(reg, lane, wave) == coords) {
            expected = reg;
          }
        }
        ASSERT_EQ(layout.registerOf(coords, lane, wave), expected);
      }
    }
  }
}

// The threads that are first replicas hold each element exactly once, when the
// registers do not replicate.
TEST(Layout, FirstReplicasHoldEachElementOnce) {
  LayoutGenerator generator(7);
  int replicated = 0;
  for (int trial = 0; trial < 150; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    std::vector<int> held(elementCount(layout.shape()), 0);
    int64_t places = 0;
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      ++places;
      if (layout.isFirstReplica(lane, wave) &&
          (reg & layout.freeRegisterMask()) == 0) {
        ++held[elementNumber(layout.shape(),
                             layout.coordinates(reg, lane, wave))];
      }
    });
    ASSERT_TRUE(all_of(held, [](int n) { return n == 1; })) << layout;
    ASSERT_EQ(layout.isReplicated(), places != int64_t(held.size()));
    replicated += layout.isReplicated();
  }
  EXPECT_GT(replicated, 20);
}

TEST(Layout, CoreMapIsTheCore) {
  LayoutGenerator generator(8);
  for (int trial = 0; trial < 50; ++trial) {
    RawLayout raw = generator.layout(generator.tile(false), 8, true);
    Layout layout = cantFail(raw.create());
    LinearMap map = layout.coreMap();
    EXPECT_TRUE(map.isSurjective());
    EXPECT_EQ(map.freeVariableMask("lane"), layout.freeLaneMask());
    EXPECT_EQ(map.freeVariableMask("wave"), layout.freeWaveMask());
    forEachPlace(layout, [&](int64_t reg, int64_t lane, int64_t wave) {
      auto coords = layout.coordinates(reg, lane, wave);
      auto values = map.apply(
          ArrayRef<uint64_t>({uint64_t(reg), uint64_t(lane), uint64_t(wave)}));
      ASSERT_TRUE(all_of_zip(coords, values, [](int64_t c, uint64_t v) {
        return uint64_t(c) == v;
      }));
    });
  }
}

TEST(Layout, PrintsItsParts) {
  RawLayout raw = plain16x16();
  raw.shape = {48, 16};
  raw.modes = {{HwDim::Wave, 3, 0, 16}};
  std::string text;
  raw_string_ostream(text) << cantFail(raw.create());
  EXPECT_EQ(text, "48x16 register = [[1, 0], [2, 0]] lane = [[0, 1], [0, 2], "
                  "[0, 4], [0, 8], [4, 0], [8, 0]] wave = [] wave 3 at 16 "
                  "along 0");
}

TEST(Layout, DefaultIsOneElementEverywhere) {
  Layout layout;
  EXPECT_EQ(layout.rank(), 0u);
  EXPECT_EQ(layout.numRegisters(), 1);
  EXPECT_EQ(layout.numLanes(), 64);
  EXPECT_EQ(layout.numWaves(), 1);
  EXPECT_EQ(layout.freeLaneMask(), 63u);
  EXPECT_TRUE(layout.ownerOf({}).has_value());
}
