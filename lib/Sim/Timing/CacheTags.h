//===- CacheTags.h - which lines a cache holds ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_CACHETAGS_H
#define TENON_LIB_SIM_TIMING_CACHETAGS_H

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace tenon::sim {

/// Tags of a set-associative cache that replaces the line not used for
/// longest. A line that is still on its way is held with the time at which it
/// arrives, so that a second request for it waits for the first.
///
/// Sets are zero until they are used, and the host makes zero pages when they
/// are touched: a big cache costs what is used of it.
class CacheTags {
public:
  struct Way {
    uint64_t line;
    uint64_t arrival; ///< clock at which its data are there
    uint8_t dirty;    ///< halves of the line that were written
  };

  /// `ways`: at most 255.
  CacheTags(uint64_t bytes, unsigned lineBytes, unsigned ways)
      : ways(ways), sets(std::max<uint64_t>(1, bytes / lineBytes / ways)),
        groups((ways + 7) / 8), waysOffset(8 * (1 + 3 * groups)),
        setBytes(waysOffset + ways * sizeof(Way)),
        storage(static_cast<uint8_t *>(std::calloc(sets, setBytes))) {
    if (!storage) {
      llvm::report_bad_alloc_error("no memory for the tags of a cache");
    }
  }

  /// The way that holds a line, or null.
  Way *find(uint64_t line) {
    Set set = setOf(line);
    int way = set.wayOf(line);
    if (way < 0) {
      return nullptr;
    }
    set.use(unsigned(way));
    return &set.ways[way];
  }

  /// The same question without counting as a use.
  bool contains(uint64_t line) const { return setOf(line).wayOf(line) >= 0; }

  /// Makes room for a line that is not here; what was there before is in
  /// `evicted`, whose `dirty` is zero if there was nothing.
  Way &insert(uint64_t line, uint64_t arrival, Way *evicted = nullptr) {
    Set set = setOf(line);
    unsigned way = set.head->count;
    if (way < ways) {
      ++set.head->count;
      set.pushFront(way);
      if (evicted) {
        *evicted = {};
      }
    } else {
      way = set.head->oldest;
      if (evicted) {
        *evicted = set.ways[way];
      }
      set.use(way);
    }
    set.signatures[way] = signatureOf(line);
    set.ways[way] = {line, arrival, 0};
    return set.ways[way];
  }

  /// Halves of lines that were written and are still here.
  uint64_t dirtyHalves() const {
    uint64_t count = 0;
    for (uint64_t index = 0; index < sets; ++index) {
      Set set = setAt(index);
      for (unsigned way = 0; way < set.head->count; ++way) {
        count += unsigned(std::popcount(set.ways[way].dirty));
      }
    }
    return count;
  }

private:
  /// Ways are filled in turn; those in use form a list from the one used last
  /// to the oldest.
  struct Head {
    uint8_t count, newest, oldest;
  };
  struct Set {
    Head *head;
    uint8_t *signatures; ///< a byte of each line: few have to be compared
    uint8_t *newer, *older;
    Way *ways;

    int wayOf(uint64_t line) const {
      constexpr uint64_t ones = 0x0101010101010101, highs = ones << 7;
      uint64_t wanted = ones * signatureOf(line);
      for (unsigned first = 0; first < head->count; first += 8) {
        uint64_t different;
        std::memcpy(&different, signatures + first, 8);
        different ^= wanted;
        // A high bit for each byte that is zero, and perhaps for more.
        uint64_t equal = (different - ones) & ~different & highs;
        for (; equal; equal &= equal - 1) {
          unsigned way = first + unsigned(std::countr_zero(equal)) / 8;
          if (way < head->count && ways[way].line == line) {
            return int(way);
          }
        }
      }
      return -1;
    }
    void pushFront(unsigned way) {
      if (head->count == 1) {
        head->oldest = uint8_t(way);
      } else {
        older[way] = head->newest;
        newer[head->newest] = uint8_t(way);
      }
      head->newest = uint8_t(way);
    }
    void use(unsigned way) {
      if (way == head->newest) {
        return;
      }
      if (way == head->oldest) {
        head->oldest = newer[way];
      } else {
        older[newer[way]] = older[way];
        newer[older[way]] = newer[way];
      }
      older[way] = head->newest;
      newer[head->newest] = uint8_t(way);
      head->newest = uint8_t(way);
    }
  };
  struct Free {
    void operator()(uint8_t *bytes) const { std::free(bytes); }
  };

  static uint8_t signatureOf(uint64_t line) {
    return uint8_t((line * 0x9E3779B97F4A7C15) >> 56);
  }
  Set setOf(uint64_t line) const {
    // Strides of a power of two must not fall on few sets.
    uint64_t mixed = line ^ (line >> 7) ^ (line >> 15) ^ (line >> 23);
    return setAt(std::has_single_bit(sets) ? mixed & (sets - 1) : mixed % sets);
  }
  Set setAt(uint64_t index) const {
    uint8_t *set = storage.get() + index * setBytes;
    uint8_t *signatures = set + 8;
    uint8_t *newer = signatures + 8 * groups;
    uint8_t *older = newer + 8 * groups;
    return {reinterpret_cast<Head *>(set), signatures, newer, older,
            reinterpret_cast<Way *>(set + waysOffset)};
  }

  unsigned ways;
  uint64_t sets;
  unsigned groups; ///< of eight ways
  uint64_t waysOffset, setBytes;
  std::unique_ptr<uint8_t[], Free> storage;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_CACHETAGS_H
