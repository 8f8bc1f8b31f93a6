//===- DieMemory.h - caches of a die and what lies behind -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_DIEMEMORY_H
#define TENON_LIB_SIM_TIMING_DIEMEMORY_H

#include "CacheTags.h"

#include "tenon/Target/TargetInfo.h"

#include <vector>

namespace tenon::sim {

/// Bytes that crossed a level, and HBM's share of what the dies asked for.
struct MemoryTraffic {
  uint64_t l1Bytes = 0, l2Bytes = 0, mallBytes = 0, hbmBytes = 0;
  uint64_t hbmReadBytes = 0; ///< a part of hbmBytes
  double hbmClocks = 0;      ///< that HBM works for the die
  double hbmReadClocks = 0;  ///< a part of hbmClocks

  void add(const MemoryTraffic &other) { addScaled(other, MemoryTraffic(), 1); }
  /// Adds so many times what there is at `end` beyond `begin`.
  void addScaled(const MemoryTraffic &end, const MemoryTraffic &begin,
                 double times) {
    auto add = [&](uint64_t MemoryTraffic::*bytes) {
      this->*bytes += uint64_t(double(end.*bytes - begin.*bytes) * times);
    };
    add(&MemoryTraffic::l1Bytes);
    add(&MemoryTraffic::l2Bytes);
    add(&MemoryTraffic::mallBytes);
    add(&MemoryTraffic::hbmBytes);
    add(&MemoryTraffic::hbmReadBytes);
    hbmClocks += (end.hbmClocks - begin.hbmClocks) * times;
    hbmReadClocks += (end.hbmReadClocks - begin.hbmReadClocks) * times;
  }
  /// Bytes and clocks of writes to HBM.
  uint64_t hbmWriteBytes() const { return hbmBytes - hbmReadBytes; }
  double hbmWriteClocks() const { return hbmClocks - hbmReadClocks; }
};

class DieMemory;

/// What the dies share: the memory-side cache and HBM. It changes only between
/// epochs, so that dies may run at the same time.
class DeviceMemoryTiming {
public:
  DeviceMemoryTiming(const target::TargetInfo &chip,
                     const target::TimingFacts &facts, unsigned dies);

  bool holds(uint64_t line) const { return mall.contains(line); }
  /// Clocks between two lines that one die gets from HBM.
  double hbmClocksPerLine() const { return lineClocks; }
  /// The same for lines that it writes, which no other die does.
  double hbmClocksPerWrite() const { return writeClocks; }
  /// Fetches that several dies made in one epoch cost HBM once, and those that
  /// neither fetched nor wrote, and wait for nothing, leave their share of it
  /// to the others. Clears what the dies noted of the epoch that ends at `now`.
  void endEpoch(llvm::ArrayRef<DieMemory *> dies, uint64_t now);
  /// Bytes that were fetched by a die although another one fetched them in the
  /// same epoch.
  uint64_t doublyCountedBytes() const { return doublyCounted; }
  /// Of the lines that a sampled die fetches, the part that it is the first to
  /// fetch.
  void setFirstFetchShare(double share);
  void fill(uint64_t line) {
    if (!mall.find(line)) {
      mall.insert(line, 0);
    }
  }

private:
  void update(double activeDies, double uniqueShare);

  const target::TargetInfo chip;
  const target::TimingFacts &timing;
  CacheTags mall;
  double lineClocks = 0, writeClocks = 0;
  double firstFetchShare = 1;
  uint64_t doublyCounted = 0;
};

/// The caches of one die. Requests come with the clock at which they leave the
/// compute unit and return the clock at which their data are back.
class DieMemory {
public:
  DieMemory(const target::TargetInfo &chip, const target::TimingFacts &facts,
            DeviceMemoryTiming &device);

  unsigned lineBytes() const { return lineSize; }

  uint64_t load(unsigned unit, uint64_t line, uint64_t now, bool passesL1);
  /// `halves`: which halves of the line are written. A line that streams is
  /// written to HBM as soon as it is whole.
  uint64_t store(unsigned unit, uint64_t line, unsigned halves, bool streams,
                 uint64_t now);
  uint64_t atomic(uint64_t line, uint64_t now);
  uint64_t scalarLoad(unsigned unit, uint64_t line, uint64_t now);
  /// Instructions of the kernel, by line.
  uint64_t fetch(unsigned unit, uint64_t line, uint64_t now);

  /// Whether HBM still has work for this die after a clock.
  bool awaitsHbm(uint64_t now) const { return hbmFree > double(now); }

  /// Puts a line of data into the L2, or of code into an instruction cache.
  void fill(uint64_t line) {
    if (!l2.find(line)) {
      l2.insert(line, 0);
      ++filledLines;
    }
  }
  void fillCode(uint64_t line) {
    for (CacheTags &cache : codeCaches) {
      cache.insert(line, 0);
    }
  }

  /// Clocks after `now` until what was written is where the next kernel finds
  /// it: the rest of what streams in HBM, what was written back and what the
  /// L2 still holds in the memory-side cache.
  uint64_t drainClocks(uint64_t now);
  /// Bytes that the L2 held at the end: HBM gets them behind the kernel.
  uint64_t drainedBytes() const { return drained; }
  /// Whether the L2 has had as many lines as it can hold.
  bool hasFilled() const { return filledLines >= capacity; }
  uint64_t linesFilled() const { return filledLines; }
  uint64_t linesOfL2() const { return capacity; }

  MemoryTraffic traffic;
  std::vector<uint64_t> fetched; ///< lines from HBM in this epoch
  bool wrote = false;            ///< to HBM in this epoch

private:
  uint64_t fromL2(uint64_t line, uint64_t now);
  uint64_t startAtL2(uint64_t line, uint64_t now, unsigned bytes);
  void writeBack(unsigned halves, uint64_t now);
  /// Makes room in the L2, writing back at `now` what has to go.
  CacheTags::Way &insertIntoL2(uint64_t line, uint64_t arrival, uint64_t now);

  const target::TimingFacts &facts;
  DeviceMemoryTiming &device;
  unsigned lineSize;
  std::vector<CacheTags> l1, scalarCaches, codeCaches;
  unsigned codeCacheUnits;
  CacheTags l2;
  std::vector<double> channelFree;
  double fabricFree = 0, hbmFree = 0;
  double streamed = 0; ///< when HBM has all that streams
  uint64_t drained = 0;
  uint64_t capacity, filledLines = 0;
  double fabricLineClocks;
  uint64_t mallClocks, hbmClocks;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_DIEMEMORY_H
