//===- ScatterTest.cpp - moving register bits to lane bits ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Scatter.h"

#include "RandomLayout.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tenon::layout;

/// Four rows of 64 over the lanes, summed: the four sums on every lane.
static Layout sumsOfFourRows() {
  SmallVector<Basis> lanes(6, Basis{0});
  return cantFail(
      Layout::create({4}, {Basis{1}, Basis{2}}, lanes, ArrayRef<Basis>(), {}));
}

static uint64_t bit(unsigned number) { return uint64_t(1) << number; }

/// `moves` in any order that scatter accepts, with distinct lane bits that
/// replicate and distinct register bits.
static SmallVector<RegisterToLane> randomMoves(LayoutGenerator &generator,
                                               const Layout &layout) {
  auto registers =
      to_vector(seq<unsigned>(0, layout.bases(HwDim::Register).size()));
  SmallVector<RegisterToLane> moves;
  for (unsigned lane = 0; lane < 6; ++lane) {
    bool isFree = (layout.freeLaneMask() & bit(lane)) != 0;
    if (!isFree || registers.empty() || generator.pick(0, 2) == 0) {
      continue;
    }
    size_t at = generator.pick(0, registers.size() - 1);
    moves.push_back({registers[at], lane});
    registers.erase(registers.begin() + at);
  }
  // Not by descending lane bit, the order of matchScatter.
  if (moves.size() > 1 && generator.pick(0, 1) == 0) {
    std::swap(moves.front(), moves.back());
  }
  return moves;
}

/// The register of `layout` that thread `lane` keeps as its register `reg`
/// after `moves`: bits that moved are the lane's, the others close up.
static int64_t keptRegister(const Layout &layout,
                            ArrayRef<RegisterToLane> moves, int64_t reg,
                            int64_t lane) {
  unsigned coreBits = layout.bases(HwDim::Register).size();
  int64_t result = 0;
  unsigned next = 0;
  for (unsigned number = 0; number < coreBits; ++number) {
    const auto *move = find_if(moves, [&](const RegisterToLane &candidate) {
      return candidate.registerBit == number;
    });
    bool set = move != moves.end() ? (lane & bit(move->laneBit)) != 0
                                   : (reg & bit(next++)) != 0;
    result |= set ? bit(number) : 0;
  }
  // Digits above the core are untouched.
  return result | (reg >> next) << coreBits;
}

// What a lane holds after a scatter is what it held before in the registers
// that its own number picks: elements do not move, they are dropped elsewhere.
TEST(Scatter, LanesKeepTheirShareOfWhatTheyHeld) {
  LayoutGenerator generator(41);
  unsigned moved = 0;
  for (int round = 0; round < 400; ++round) {
    Layout layout = cantFail(generator.anyLayout().create());
    SmallVector<RegisterToLane> moves = randomMoves(generator, layout);
    Layout scattered = cantFail(scatter(layout, moves));
    moved += !moves.empty();

    ASSERT_EQ(scattered.shape(), layout.shape());
    ASSERT_EQ(scattered.numWaves(), layout.numWaves());
    ASSERT_EQ(scattered.numRegisters() << moves.size(), layout.numRegisters());
    forEachPlace(scattered, [&](int64_t reg, int64_t lane, int64_t wave) {
      int64_t source = keptRegister(layout, moves, reg, lane);
      ASSERT_EQ(scattered.coordinates(reg, lane, wave),
                layout.coordinates(source, lane, wave))
          << layout << " to " << scattered;
    });
  }
  EXPECT_GT(moved, 50u);
}

// No element is lost: together the threads still hold every one.
TEST(Scatter, EveryElementIsStillHeld) {
  LayoutGenerator generator(42);
  for (int round = 0; round < 200; ++round) {
    Layout layout = cantFail(generator.anyLayout().create());
    Layout scattered =
        cantFail(scatter(layout, randomMoves(generator, layout)));
    std::vector<bool> held(elementCount(layout.shape()), false);
    forEachPlace(scattered, [&](int64_t reg, int64_t lane, int64_t wave) {
      held[elementNumber(layout.shape(),
                         scattered.coordinates(reg, lane, wave))] = true;
    });
    EXPECT_TRUE(all_of(held, [](bool isHeld) { return isHeld; })) << scattered;
  }
}

// The moves are found again, from the two layouts alone, by descending lane
// bit.
TEST(Scatter, MatchFindsTheMoves) {
  LayoutGenerator generator(43);
  for (int round = 0; round < 400; ++round) {
    Layout layout = cantFail(generator.anyLayout().create());
    SmallVector<RegisterToLane> moves = randomMoves(generator, layout);
    // A register bit that replicates can move nowhere that shows.
    if (any_of(moves, [&](const RegisterToLane &move) {
          return (layout.freeRegisterMask() & bit(move.registerBit)) != 0;
        })) {
      continue;
    }
    auto found = matchScatter(layout, cantFail(scatter(layout, moves)));
    ASSERT_TRUE(found) << layout;
    llvm::sort(moves, [](const RegisterToLane &a, const RegisterToLane &b) {
      return a.laneBit > b.laneBit;
    });
    EXPECT_EQ(*found, moves) << layout;
  }
}

// What is found turns the one layout into the other, for any pair of layouts.
TEST(Scatter, MatchIsRightOrSaysNo) {
  LayoutGenerator generator(44);
  unsigned matches = 0;
  for (int round = 0; round < 2000; ++round) {
    LayoutGenerator::Tile tile;
    tile.bits = {static_cast<unsigned>(generator.pick(0, 3))};
    tile.odd = {1};
    tile.waveBits = 0;
    Layout a = cantFail(generator.layout(tile, 0, true).create());
    Layout b = cantFail(generator.layout(tile, 0, true).create());
    if (auto moves = matchScatter(a, b)) {
      ++matches;
      EXPECT_EQ(cantFail(scatter(a, *moves)), b) << a << " to " << b;
    }
  }
  EXPECT_GT(matches, 20u);
}

TEST(Scatter, NoMovesForEqualLayouts) {
  LayoutGenerator generator(45);
  for (int round = 0; round < 100; ++round) {
    Layout layout = cantFail(generator.anyLayout().create());
    EXPECT_EQ(cantFail(scatter(layout, {})), layout);
    auto moves = matchScatter(layout, layout);
    ASSERT_TRUE(moves);
    EXPECT_TRUE(moves->empty());
  }
}

// One way only: a scattered tile is no scatter of what it came from, nor of
// another order of registers, nor of another shape.
TEST(Scatter, OtherLayoutsDoNotMatch) {
  Layout sums = sumsOfFourRows();
  Layout scattered = cantFail(scatter(sums, {{1, 5}}));
  EXPECT_TRUE(matchScatter(sums, scattered));
  EXPECT_FALSE(matchScatter(scattered, sums));

  SmallVector<Basis> lanes(6, Basis{0});
  Layout swapped = cantFail(
      Layout::create({4}, {Basis{2}, Basis{1}}, lanes, ArrayRef<Basis>(), {}));
  EXPECT_FALSE(matchScatter(sums, swapped));
  EXPECT_FALSE(matchScatter(sums, Layout()));

  // The same lanes, but another number of waves.
  Layout waves =
      cantFail(Layout::create({4}, scattered.bases(HwDim::Register),
                              scattered.bases(HwDim::Lane), {Basis{0}}, {}));
  EXPECT_FALSE(matchScatter(sums, waves));
}

TEST(Scatter, LaneBitsChangeHands) {
  Layout scattered = cantFail(scatter(sumsOfFourRows(), {{1, 5}, {0, 3}}));
  EXPECT_EQ(scattered.numRegisters(), 1);
  // Lane bit 5 is row bit 1, lane bit 3 row bit 0; the others still replicate.
  EXPECT_EQ(scattered.coordinates(0, 0, 0), (SmallVector<int64_t>{0}));
  EXPECT_EQ(scattered.coordinates(0, 8, 0), (SmallVector<int64_t>{1}));
  EXPECT_EQ(scattered.coordinates(0, 32, 0), (SmallVector<int64_t>{2}));
  EXPECT_EQ(scattered.coordinates(0, 63, 0), (SmallVector<int64_t>{3}));
  EXPECT_EQ(scattered.freeLaneMask(), 63u & ~40u);
}

// Digits of integer extent are no bits: they stay in the registers.
TEST(Scatter, DigitsStay) {
  SmallVector<Basis> lanes(6, Basis{0});
  Layout layout = cantFail(Layout::create(
      {6}, {Basis{1}}, lanes, ArrayRef<Basis>(), {{HwDim::Register, 3, 0, 2}}));
  Layout scattered = cantFail(scatter(layout, {{0, 2}}));
  EXPECT_EQ(scattered.numRegisters(), 3);
  EXPECT_EQ(scattered.coordinates(2, 4, 0), (SmallVector<int64_t>{5}));
  auto moves = matchScatter(layout, scattered);
  ASSERT_TRUE(moves);
  EXPECT_EQ(*moves, (SmallVector<RegisterToLane>{{0, 2}}));
}

TEST(Scatter, ErrorsNameTheMove) {
  Layout sums = sumsOfFourRows();
  auto errorOf = [&](ArrayRef<RegisterToLane> moves) {
    auto result = scatter(sums, moves);
    return result ? std::string("no error") : messageOf(result.takeError());
  };
  EXPECT_EQ(errorOf({{2, 5}}),
            "there is no register bit 2 to move to lane bit 5");
  EXPECT_EQ(errorOf({{0, 5}, {0, 4}}),
            "there is no register bit 0 to move to lane bit 4");
  EXPECT_EQ(errorOf({{0, 6}}),
            "lane bit 6 does not replicate, register bit 0 cannot move there");
  // Taken by the move before.
  EXPECT_EQ(errorOf({{0, 5}, {1, 5}}),
            "lane bit 5 does not replicate, register bit 1 cannot move there");

  Layout rows = cantFail(Layout::distribute1D(128, 64, 1, 1));
  auto result = scatter(rows, {{0, 3}});
  ASSERT_FALSE(result);
  EXPECT_EQ(messageOf(result.takeError()),
            "lane bit 3 does not replicate, register bit 0 cannot move there");
}
