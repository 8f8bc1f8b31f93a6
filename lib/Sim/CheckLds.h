//===- CheckLds.h - order of LDS accesses in a workgroup --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_CHECKLDS_H
#define TENON_LIB_SIM_CHECKLDS_H

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tenon::sim {

/// How an instruction accesses LDS.
enum class LdsAccessKind : uint8_t {
  Read,
  Write,
  Atomic,
  Copy, ///< a write by a load into LDS
  Poll, ///< a read in a loop that waits for what it reads
};

/// An earlier access that is not ordered before a later one.
struct LdsConflict {
  uint32_t wave;
  uint32_t record;
  bool isWrite;
  bool isCopy;
  bool inFlight;    ///< no wait has covered it
  uint32_t address; ///< of the dword
};

/// The accesses of one workgroup to LDS and their order.
///
/// An access is complete at the wait of its own wave that covers it. It is
/// ordered before what other waves do after the next barrier. Atomics order
/// too, by location, and so do loops that poll one: what a wave has issued
/// ahead of an atomic, or of a write that is polled, comes before what another
/// wave does after an atomic or a poll that sees it, for LDS works through the
/// ds_* instructions of a wave in order. Copies into LDS go another way and
/// have to be complete.
class LdsOrder {
public:
  /// Starts a workgroup.
  void reset(unsigned waves, uint32_t ldsBytes);

  /// Begins an access of a whole instruction; returns its number.
  /// It is complete when waits have covered it so many times.
  uint32_t begin(unsigned wave, uint32_t record, LdsAccessKind kind,
                 unsigned waits = 1);

  /// The access begun last, an atomic or a poll, synchronises at an address;
  /// an atomic that returns nothing acquires nothing.
  void synchronise(uint32_t address, bool acquires);

  /// Adds bytes [address, address + bytes) to the access begun last, and finds
  /// out whether something else is in the way. A write that leaves the bytes
  /// as they are does not conflict with other writes: waves may store the same
  /// values.
  std::optional<LdsConflict> touch(uint32_t address, unsigned bytes,
                                   bool unchanged = false);

  /// A wait has covered the access.
  void complete(uint32_t access);

  /// All waves have arrived at a barrier.
  void barrier();

private:
  struct Access {
    uint32_t record;
    uint16_t wave;
    LdsAccessKind kind;
    uint32_t completeEpoch; ///< `never` while in flight
    uint32_t completeId;    ///< number of the next access at that time
    uint8_t waits;          ///< that are missing
  };
  static constexpr uint32_t never = ~0u;

  const Access &info(uint32_t id) const { return accesses[id - firstId]; }
  bool isOrdered(uint32_t id, const Access &earlier, unsigned wave) const;
  /// Whether nothing in whole dwords can be in the way, which is then updated.
  bool touchDwords(uint32_t first, uint32_t count, bool isWrite);
  /// Whether accesses of the wave itself may be in the way of the current one.
  bool minds(const Access &now) const {
    return now.kind == LdsAccessKind::Copy || copiesInFlight[now.wave];
  }
  /// What the shadow entry of another (or the own) wave has against us.
  std::optional<LdsConflict> against(uint32_t entry, unsigned otherWave,
                                     bool isWrite, unsigned mask,
                                     uint32_t dword, bool unchanged) const;

  // A shadow entry is an access number and the bytes of the dword it touched.
  static constexpr unsigned maskBits = 4;
  static constexpr uint32_t largestId = (1u << (32 - maskBits)) - 1;

  unsigned waveCount = 0;
  uint32_t dwords = 0;
  std::vector<uint32_t> reads, writes; ///< by wave and dword
  std::vector<Access> accesses;        ///< from firstId on
  std::vector<uint32_t> orderedBelow;  ///< by wave: older ones are ordered
  /// By wave and other wave: what synchronisation has put in order.
  std::vector<uint32_t> synchronisedBelow;
  llvm::DenseMap<uint32_t, std::vector<uint32_t>> clocks; ///< by dword
  uint32_t firstId = 1, nextId = 1;
  uint32_t epoch = 0;
  std::vector<uint32_t> copiesInFlight; ///< by wave
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKLDS_H
