//===- MlaPlanTest.cpp - splitting histories --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MlaPlan.h"

#include <gtest/gtest.h>

using namespace tenon::reference;

// The keys of a rank are the positions that it has, counted one by one.
TEST(ContextParallel, KeysAreThosePositions) {
  for (int64_t size : {1, 2, 3, 4, 8}) {
    for (int64_t interleave : {1, 3, 16}) {
      for (int64_t rank = 0; rank < size; ++rank) {
        ContextParallel parallel{size, interleave, rank};
        int64_t mine = 0;
        for (int64_t global = 0; global < 200; ++global) {
          ASSERT_EQ(parallel.localLength(global), mine)
              << size << " " << interleave << " " << rank << " " << global;
          if (global / interleave % size == rank) {
            ASSERT_EQ(parallel.globalPosition(mine), global);
            ++mine;
          }
        }
      }
    }
  }
  EXPECT_EQ((ContextParallel{4, 16, 3}).localLength(-5), 0);
}

using Rows = std::vector<std::array<int32_t, 4>>;

/// Slots of each request, after checking that they cover its keys in order.
static std::vector<int64_t> slotsOf(const Rows &plan,
                                    const std::vector<int64_t> &keys) {
  size_t room = plan.size() - keys.size();
  std::vector<int64_t> counts;
  size_t slot = 0;
  for (size_t request = 0; request < keys.size(); ++request) {
    auto [first, count, own, zero] = plan[room + request];
    EXPECT_EQ(first, int64_t(slot));
    EXPECT_EQ(own, keys[request]);
    EXPECT_EQ(zero, 0);
    EXPECT_GE(count, 1);
    int64_t at = 0;
    for (int32_t part = 0; part < count && slot < room; ++part, ++slot) {
      EXPECT_EQ(plan[slot][0], int64_t(request));
      EXPECT_EQ(plan[slot][1], at);
      EXPECT_EQ(plan[slot][1] % mlaPlanKeys, 0);
      EXPECT_TRUE(plan[slot][2] > at || keys[request] == 0);
      at = plan[slot][2];
      EXPECT_EQ(plan[slot][3], count);
    }
    EXPECT_EQ(at, keys[request]);
    counts.push_back(count);
  }
  for (; slot < room; ++slot) {
    EXPECT_EQ(plan[slot], (std::array<int32_t, 4>{-1, 0, 0, 0}));
  }
  return counts;
}

static std::vector<int64_t> split(const std::vector<int64_t> &keys,
                                  int64_t room = 0) {
  MlaPlanParams params{16, 256};
  int64_t requests = keys.size();
  room = room == 0 ? requests + std::max<int64_t>(requests, 256) : room;
  auto plan = mlaPlan(params, keys, room + requests);
  EXPECT_TRUE(bool(plan));
  return slotsOf(*plan, keys);
}

// Any lengths are covered, with as few slots as there are requests, too.
TEST(MlaPlan, SlotsCoverTheKeys) {
  for (int64_t room : {0, 6, 7, 11}) {
    split({0, 1, 64, 65, 100'000, 327'600}, room);
    split({5, 0, 0, 0, 0, 0}, room);
    split({64, 64, 64, 64, 64, 64}, room);
  }
  split({0});
  split({1'000'000});
}

// One long request is worked on by enough of the chip to use its memory's
// bandwidth.
TEST(MlaPlan, OneLongRequestFillsTheChip) {
  EXPECT_GE(split({1'000'000})[0], 240);
  EXPECT_GE(split({100'000})[0], 192);
  std::vector<int64_t> mixed(20, 100);
  mixed[7] = 500'000;
  EXPECT_GE(split(mixed)[7], 100);
}

// One that leaves half of the chip idle is.
TEST(MlaPlan, HalfAChipIsFilled) {
  for (int64_t count : split(std::vector<int64_t>(128, 68'432))) {
    EXPECT_EQ(count, 2);
  }
}

// A batch that uses the bandwidth unsplit is not split, nor is a short request.
TEST(MlaPlan, NothingIsSplitForNothing) {
  for (int64_t count : split(std::vector<int64_t>(256, 8192))) {
    EXPECT_EQ(count, 1);
  }
  for (int64_t count : split(std::vector<int64_t>(250, 68'432))) {
    EXPECT_EQ(count, 1);
  }
  EXPECT_EQ(split({17})[0], 1);
}

// Without room nothing is split, and with too little it is an error.
TEST(MlaPlan, Room) {
  EXPECT_EQ(split({100'000, 100'000}, 2), (std::vector<int64_t>{1, 1}));
  auto plan = mlaPlan({16, 256}, {1, 2}, 3);
  ASSERT_FALSE(bool(plan));
  EXPECT_EQ(toString(plan.takeError()),
            "operand 'plan': at least 4 rows expected for 2 requests, 3 found");
}
