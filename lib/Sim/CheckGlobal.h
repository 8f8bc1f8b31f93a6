//===- CheckGlobal.h - order of memory accesses of workgroups ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_CHECKGLOBAL_H
#define TENON_LIB_SIM_CHECKGLOBAL_H

#include "llvm/ADT/SmallVector.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tenon::sim {

/// The accesses of all workgroups of a launch to device memory.
///
/// Two workgroups that access the same bytes race when one of them writes,
/// unless atomics order them: what a workgroup did before an atomic comes
/// before what another one does after a later atomic of its own, on whatever
/// location. Accesses with sc1 go past the caches of a die and count as such
/// atomics. Of each dword the two lowest workgroups that read it and the two
/// lowest that wrote it are known, so that the pair of lowest workgroups that
/// race is found in whatever order they run.
class GlobalOrder {
public:
  /// One access of a wave.
  struct Access {
    uint64_t workgroup = 0;
    uint32_t wave = 0;
    uint32_t record = 0;
    bool isWrite = false;
  };

  /// Adds bytes [address, address + bytes) to what the access touches. Earlier
  /// accesses that race with it are appended to `conflicts`.
  void touch(const Access &access, uint64_t address, unsigned bytes,
             llvm::SmallVectorImpl<Access> &conflicts);

  /// The workgroup issues an atomic, which takes place at the end of the
  /// quantum; those of one quantum are taken to follow one another either way.
  void synchronise(uint64_t workgroup);

  /// All workgroups have come to the end of a quantum.
  void endQuantum() { ++quantum; }

private:
  // An entry packs workgroup + 1, record, wave, bytes and releases.
  static constexpr unsigned recordBits = 20, waveBits = 4, maskBits = 4,
                            releaseBits = 12;
  static constexpr uint64_t mostWorkgroups = (uint64_t(1) << 24) - 2;

  struct Cell {
    uint64_t readers[2] = {}, writers[2] = {};
  };
  static constexpr uint64_t pageBytes = 4096;
  struct Page {
    std::mutex lock;
    std::array<Cell, pageBytes / 4> cells;
  };
  /// More pages than this are not watched.
  static constexpr uint64_t mostPages = 1 << 15;

  struct Order {
    std::vector<uint64_t> releases; ///< quanta of its atomics, ascending
  };

  Page *pageOf(uint64_t address);
  uint64_t releaseCount(uint64_t workgroup);
  bool isOrdered(uint64_t entry, uint64_t workgroup);

  static constexpr unsigned shardCount = 64;
  struct Shard {
    std::mutex lock;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };
  std::array<Shard, shardCount> shards;
  std::atomic<uint64_t> pages = 0;
  std::atomic<bool> anyAtomics = false;
  std::mutex orderLock;
  uint64_t quantum = 0;
  std::unordered_map<uint64_t, Order> orders; ///< by workgroup
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKGLOBAL_H
