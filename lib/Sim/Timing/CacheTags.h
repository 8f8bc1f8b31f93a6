//===- CacheTags.h - which lines a cache holds ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_CACHETAGS_H
#define TENON_LIB_SIM_TIMING_CACHETAGS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tenon::sim {

/// Tags of a set-associative cache that replaces the line not used for
/// longest. A line that is still on its way is held with the time at which it
/// arrives, so that a second request for it waits for the first.
class CacheTags {
public:
  struct Way {
    uint64_t line = ~uint64_t(0);
    uint64_t arrival = 0; ///< clock at which its data are there
    uint64_t used = 0;
    uint8_t dirty = 0; ///< halves of the line that were written
  };

  CacheTags() = default;
  CacheTags(uint64_t bytes, unsigned lineBytes, unsigned ways)
      : ways(ways), sets(std::max<uint64_t>(1, bytes / lineBytes / ways)),
        entries(sets * ways) {}

  /// The way that holds a line, or null.
  Way *find(uint64_t line) {
    Way *set = setOf(line);
    for (Way *way = set; way != set + ways; ++way) {
      if (way->line == line) {
        way->used = ++time;
        return way;
      }
    }
    return nullptr;
  }

  /// The same question without counting as a use.
  bool contains(uint64_t line) const {
    const Way *set = const_cast<CacheTags *>(this)->setOf(line);
    return std::any_of(set, set + ways,
                       [&](const Way &way) { return way.line == line; });
  }

  /// Makes room for a line; what was there before is in `evicted`.
  Way &insert(uint64_t line, uint64_t arrival, Way *evicted = nullptr) {
    Way *set = setOf(line);
    Way *oldest =
        std::min_element(set, set + ways, [](const Way &a, const Way &b) {
          return a.used < b.used;
        });
    if (evicted) {
      *evicted = *oldest;
    }
    *oldest = {line, arrival, ++time, 0};
    return *oldest;
  }

  /// Halves of lines that were written and are still here.
  uint64_t dirtyHalves() const {
    uint64_t count = 0;
    for (const Way &way : entries) {
      count += (way.dirty & 1) + (way.dirty >> 1);
    }
    return count;
  }

private:
  Way *setOf(uint64_t line) {
    // Strides of a power of two must not fall on few sets.
    uint64_t mixed = line ^ (line >> 7) ^ (line >> 15) ^ (line >> 23);
    return &entries[mixed % sets * ways];
  }

  unsigned ways = 1;
  uint64_t sets = 0;
  uint64_t time = 0;
  std::vector<Way> entries;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_CACHETAGS_H
