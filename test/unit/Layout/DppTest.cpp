//===- DppTest.cpp - DPP sequences against the lane maps they claim -*- C++ -*//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Dpp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>

using namespace llvm;
using namespace tenon::layout;

/// The lane whose value lane `lane` ends up with.
static unsigned sourceAfter(ArrayRef<DppStep> steps, unsigned lane) {
  std::array<unsigned, 64> value;
  for (unsigned l = 0; l < 64; ++l) {
    value[l] = l;
  }
  for (const DppStep &step : steps) {
    std::array<unsigned, 64> moved;
    for (unsigned l = 0; l < 64; ++l) {
      moved[l] = value[step.sourceLane(l)];
    }
    value = moved;
  }
  return value[lane];
}

static bool carriesOut(ArrayRef<DppStep> steps, const LaneMap &map) {
  return all_of(seq(0u, 64u), [&](unsigned lane) {
    return sourceAfter(steps, lane) == map(lane);
  });
}

TEST(Dpp, SingleMovesReadTheDocumentedLane) {
  using Kind = DppStep::Kind;
  // quad_perm:[1,2,3,0].
  DppStep rotateQuad{Kind::QuadPerm, 1 | 2 << 2 | 3 << 4 | 0 << 6};
  EXPECT_EQ(rotateQuad.sourceLane(36), 37u);
  EXPECT_EQ(rotateQuad.sourceLane(39), 36u);
  EXPECT_EQ((DppStep{Kind::RowMirror}.sourceLane(16)), 31u);
  EXPECT_EQ((DppStep{Kind::RowHalfMirror}.sourceLane(16)), 23u);
  EXPECT_EQ((DppStep{Kind::RowRotate, 1}.sourceLane(16)), 31u);
  EXPECT_EQ((DppStep{Kind::RowRotate, 1}.sourceLane(17)), 16u);
  EXPECT_EQ((DppStep{Kind::RowBroadcast, 5}.sourceLane(60)), 53u);
}

TEST(Dpp, EveryXorWithinARowTakesAtMostTwoMoves) {
  for (unsigned mask = 0; mask < 64; ++mask) {
    LaneMap map = LaneMap::identity();
    map.offset = mask;
    auto steps = dppSteps(map);
    ASSERT_EQ(steps.has_value(), mask < 16) << mask;
    if (steps) {
      EXPECT_TRUE(carriesOut(*steps, map)) << mask;
      // One move where one does it.
      bool isSingle = is_contained({1, 2, 3, 7, 8, 15}, mask);
      EXPECT_EQ(steps->size(), mask == 0 ? 0u : isSingle ? 1u : 2u) << mask;
    }
  }
}

TEST(Dpp, BroadcastsOfOneLane) {
  for (unsigned lane = 0; lane < 16; ++lane) {
    LaneMap map{{0, 0, 0, 0, 16, 32}, lane};
    auto steps = dppSteps(map);
    ASSERT_TRUE(steps);
    EXPECT_EQ(steps->size(), 1u);
    EXPECT_TRUE(carriesOut(*steps, map));
  }
}

// Random affine maps: what is found is right, and maps of the class described
// (affine within quads, then a xor) are always found.
TEST(Dpp, FoundSequencesAreRight) {
  std::mt19937 random(51);
  auto pick = [&](unsigned low, unsigned high) {
    return std::uniform_int_distribution<unsigned>(low, high)(random);
  };
  int found = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    LaneMap map = LaneMap::identity();
    bool isInClass = true;
    map.images[0] = pick(0, 3);
    map.images[1] = pick(0, 3);
    map.offset = pick(0, 15);
    if (trial % 2 == 1) {
      map.images[pick(0, 5)] = pick(0, 63);
      map.offset = pick(0, 31);
      isInClass = false;
    }
    auto steps = dppSteps(map);
    if (isInClass) {
      ASSERT_TRUE(steps);
    }
    if (steps) {
      ++found;
      ASSERT_LE(steps->size(), 2u);
      ASSERT_TRUE(carriesOut(*steps, map));
    }
  }
  EXPECT_GT(found, 2000);
}

// Against all pairs of moves: as few moves as possible, and none only when two
// do not suffice.
TEST(Dpp, AsFewMovesAsPossible) {
  using Kind = DppStep::Kind;
  SmallVector<DppStep> moves{{Kind::RowHalfMirror}, {Kind::RowMirror}};
  for (unsigned i = 0; i < 256; ++i) {
    moves.push_back({Kind::QuadPerm, i});
  }
  for (unsigned i = 0; i < 16; ++i) {
    moves.push_back({Kind::RowRotate, i});
    moves.push_back({Kind::RowBroadcast, i});
  }
  std::set<std::array<unsigned, 16>> byOne;
  std::set<std::array<unsigned, 16>> byTwo;
  for (const DppStep &first : moves) {
    for (const DppStep &second : moves) {
      std::array<unsigned, 16> row;
      for (unsigned lane = 0; lane < 16; ++lane) {
        row[lane] = first.sourceLane(second.sourceLane(lane));
      }
      byTwo.insert(row);
    }
    std::array<unsigned, 16> row;
    for (unsigned lane = 0; lane < 16; ++lane) {
      row[lane] = first.sourceLane(lane);
    }
    byOne.insert(row);
  }
  std::mt19937 random(52);
  auto pick = [&](unsigned high) {
    return std::uniform_int_distribution<unsigned>(0, high)(random);
  };
  int refused = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    LaneMap map = LaneMap::identity();
    for (int changes = pick(3); changes > 0; --changes) {
      map.images[pick(3)] = pick(15);
    }
    if (trial % 4 == 0) {
      map.images[2] = 12; // The quads of a row rotated or reversed.
      map.images[3] = 8;
    }
    map.offset = pick(15);
    std::array<unsigned, 16> row;
    for (unsigned lane = 0; lane < 16; ++lane) {
      row[lane] = map(lane);
    }
    auto steps = dppSteps(map);
    ASSERT_EQ(steps.has_value(), byTwo.contains(row));
    refused += !steps;
    if (steps) {
      ASSERT_TRUE(carriesOut(*steps, map));
      ASSERT_EQ(steps->size() < 2, byOne.contains(row));
    }
  }
  EXPECT_GT(refused, 1000);
}

TEST(Dpp, NothingLeavesItsRow) {
  LaneMap map = LaneMap::identity();
  map.images[4] = 1; // The row number moves lanes within the row.
  EXPECT_FALSE(dppSteps(map));
  map = LaneMap::identity();
  map.images[0] = 4;
  map.images[2] = 1; // Exchange of lane bits 0 and 2.
  EXPECT_FALSE(dppSteps(map));
}
