//===- SlotQueue.h - what happens next on a die -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_SLOTQUEUE_H
#define TENON_LIB_SIM_TIMING_SLOTQUEUE_H

#include <array>
#include <bit>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

namespace tenon::sim {

/// Sources of events, each of which has at most one to come: the clock at which
/// a SIMD is looked at. Events come in the order of clocks, and of sources at
/// the same clock. Nearly all are few clocks away, so that they wait in a ring
/// of clocks and not in a heap.
class SlotQueue {
public:
  struct Event {
    uint64_t time;
    unsigned source;
    bool operator>(const Event &other) const {
      return std::tie(time, source) > std::tie(other.time, other.source);
    }
  };
  static constexpr uint64_t never = ~uint64_t(0);

  explicit SlotQueue(unsigned sources)
      : times(sources, never), words((sources + 63) / 64),
        ring(span * words, 0) {}

  /// The clock of a source's event, or `never`.
  uint64_t timeOf(unsigned source) const { return times[source]; }

  /// Gives a source an event in place of the one it may have; not before the
  /// last one taken.
  void set(unsigned source, uint64_t time) {
    if (times[source] != never && times[source] - base < span) {
      clear(times[source], source);
    }
    times[source] = time;
    if (time - base < span) {
      mark(time, source);
    } else {
      far.push({time, source});
    }
  }

  /// Takes the next event if it is before `end`.
  bool takeBefore(uint64_t end, Event &event) {
    uint64_t time = nextInRing();
    if (time == never) {
      if (far.empty() || far.top().time >= end) {
        return false;
      }
      advance(far.top().time);
      return takeBefore(end, event); // it may have been replaced
    }
    if (time >= end) {
      return false;
    }
    advance(time);
    uint64_t *slot = &ring[time % span * words];
    unsigned word = 0;
    while (!slot[word]) {
      ++word;
    }
    event = {time, 64 * word + unsigned(std::countr_zero(slot[word]))};
    clear(time, event.source);
    times[event.source] = never;
    return true;
  }

private:
  static constexpr uint64_t span = 1024; ///< clocks in the ring

  void mark(uint64_t time, unsigned source) {
    uint64_t place = time % span;
    ring[place * words + source / 64] |= uint64_t(1) << (source % 64);
    used[place / 64] |= uint64_t(1) << (place % 64);
  }
  void clear(uint64_t time, unsigned source) {
    uint64_t place = time % span;
    uint64_t *slot = &ring[place * words];
    slot[source / 64] &= ~(uint64_t(1) << (source % 64));
    uint64_t rest = 0;
    for (unsigned word = 0; word < words; ++word) {
      rest |= slot[word];
    }
    if (!rest) {
      used[place / 64] &= ~(uint64_t(1) << (place % 64));
    }
  }
  uint64_t nextInRing() const {
    uint64_t first = base % span;
    // The word that holds `first` is looked at twice, for both of its parts.
    for (unsigned i = 0; i <= used.size(); ++i) {
      unsigned word = unsigned(first / 64 + i) % used.size();
      uint64_t bits = used[word];
      if (i == 0) {
        bits &= ~uint64_t(0) << (first % 64);
      } else if (i == used.size()) {
        bits &= ~(~uint64_t(0) << (first % 64));
      }
      if (bits) {
        uint64_t place = 64 * word + unsigned(std::countr_zero(bits));
        return base + (place - first) % span;
      }
    }
    return never;
  }
  void advance(uint64_t time) {
    base = time;
    while (!far.empty() && far.top().time - base < span) {
      if (times[far.top().source] == far.top().time) {
        mark(far.top().time, far.top().source);
      }
      far.pop();
    }
  }

  std::vector<uint64_t> times; ///< by source
  unsigned words;              ///< of the sources of a clock
  uint64_t base = 0;           ///< clock of the last event taken
  std::vector<uint64_t> ring;
  std::array<uint64_t, span / 64> used = {}; ///< clocks with sources
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> far;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_SLOTQUEUE_H
