//===- TimingPartsTest.cpp - parts of the timing model ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tags of caches and the queue of events against plain ones.
//
//===----------------------------------------------------------------------===//

#include "lib/Sim/Timing/CacheTags.h"
#include "lib/Sim/Timing/SlotQueue.h"

#include <gtest/gtest.h>

#include <list>
#include <random>
#include <set>

using namespace tenon::sim;

namespace {

/// One set, as a list from the line used last to the oldest, replaces what was
/// not used for longest.
TEST(SimTimingParts, TagsReplaceTheOldest) {
  for (unsigned ways : {1u, 4u, 12u, 16u, 64u}) {
    CacheTags tags(uint64_t(128) * ways, 128, ways);
    std::list<uint64_t> lines;
    std::mt19937_64 random(ways);
    for (unsigned step = 0; step < 20000; ++step) {
      uint64_t line = random() % (2 * ways);
      auto held = std::find(lines.begin(), lines.end(), line);
      ASSERT_EQ(tags.contains(line), held != lines.end());
      CacheTags::Way *way = tags.find(line);
      ASSERT_EQ(way != nullptr, held != lines.end());
      if (way) {
        ASSERT_EQ(way->arrival, 7 * line);
        lines.erase(held);
      } else {
        CacheTags::Way evicted;
        tags.insert(line, 7 * line, &evicted).dirty = line % 4;
        if (lines.size() == ways) {
          ASSERT_EQ(evicted.line, lines.back());
          ASSERT_EQ(evicted.dirty, lines.back() % 4);
          lines.pop_back();
        } else {
          ASSERT_EQ(evicted.dirty, 0);
        }
      }
      lines.push_front(line);
    }
    uint64_t dirty = 0;
    for (uint64_t line : lines) {
      dirty += (line & 1) + (line >> 1 & 1);
    }
    EXPECT_EQ(tags.dirtyHalves(), dirty);
  }
}

/// Events come in the order of clocks and sources, near and far ones, also
/// those that replaced others.
TEST(SimTimingParts, QueueKeepsTheOrder) {
  constexpr unsigned sources = 129;
  SlotQueue queue(sources);
  std::set<std::pair<uint64_t, unsigned>> expected;
  std::vector<uint64_t> times(sources, SlotQueue::never);
  std::mt19937_64 random(1);
  uint64_t now = 0;
  for (unsigned step = 0; step < 200000; ++step) {
    unsigned source = unsigned(random() % sources);
    uint64_t distance = random() % 8 ? random() % 40 : random() % 5000;
    uint64_t time = now + distance;
    if (random() % 2 && time < times[source]) {
      expected.erase({times[source], source});
      expected.insert({time, source});
      times[source] = time;
      queue.set(source, time);
      continue;
    }
    ASSERT_EQ(queue.timeOf(source), times[source]);
    SlotQueue::Event event;
    uint64_t end = now + random() % 64;
    bool isThere = !expected.empty() && expected.begin()->first < end;
    ASSERT_EQ(queue.takeBefore(end, event), isThere);
    if (isThere) {
      ASSERT_EQ(std::make_pair(event.time, event.source), *expected.begin());
      expected.erase(expected.begin());
      times[event.source] = SlotQueue::never;
      now = event.time;
    } else {
      now = end; // nothing comes before it any more
    }
  }
}

} // namespace
