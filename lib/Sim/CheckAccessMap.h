//===- CheckAccessMap.h - who accessed which bytes --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_CHECKACCESSMAP_H
#define TENON_LIB_SIM_CHECKACCESSMAP_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace tenon::sim {

/// An access of a wave to bytes of one dword.
struct AccessEntry {
  static constexpr uint64_t mostWorkgroups = (uint64_t(1) << 22) - 2;
  static constexpr uint32_t lastId = (1 << 14) - 1, lastPhase = (1 << 14) - 1;

  uint64_t workgroup = 0;
  uint32_t id = 0; ///< of the instruction
  uint32_t wave = 0;
  uint32_t phase = 0; ///< of the workgroup; the last one stands for all later
  uint32_t lane = 0;  ///< that accesses the first byte
  uint32_t laneBytes = 0; ///< of each lane, which are side by side; 0: no lanes

  /// Number of instruction and wave.
  uint32_t key() const { return wave << 14 | id; }
};

/// For every dword of device memory the accesses that may matter to later ones:
/// of the reads and of the writes those of the two lowest workgroups that are
/// not known to come before others. So the pair of lowest workgroups that race
/// is found in whatever order they run. Blocks that waves access as a whole
/// share one cell. Takes about a third of the memory that is accessed in blocks
/// and eight times what is accessed otherwise. Has locks of its own.
class AccessMap {
public:
  /// Calls `visit` for each entry of another workgroup that overlaps with the
  /// bytes: with writes for a read, with both for a write. An entry for which
  /// it returns true comes before all that follow and goes. `address` is that
  /// of a dword in question.
  using Visitor = llvm::function_ref<bool(const AccessEntry &entry,
                                          bool isWrite, uint64_t address)>;
  void look(const AccessEntry &access, bool isWrite, uint64_t address,
            uint64_t bytes, Visitor visit) {
    walk(access, isWrite, /*adds=*/false, address, bytes, visit);
  }
  /// The same, and adds the access.
  void add(const AccessEntry &access, bool isWrite, uint64_t address,
           uint64_t bytes, Visitor visit) {
    walk(access, isWrite, /*adds=*/true, address, bytes, visit);
  }

private:
  struct Cell {
    uint64_t readers[2] = {}, writers[2] = {};
  };
  static constexpr uint64_t blockBytes = 128, pageBytes = 4096;
  struct Block {
    Cell all; ///< as long as there are no cells
    std::unique_ptr<std::array<Cell, blockBytes / 4>> cells;
  };
  struct Page {
    std::mutex lock;
    std::array<Block, pageBytes / blockBytes> blocks;
  };

  void walk(const AccessEntry &access, bool isWrite, bool adds,
            uint64_t address, uint64_t bytes, Visitor visit);
  static void update(Cell &cell, const AccessEntry &access, bool isWrite,
                     bool adds, uint64_t mask, uint64_t address,
                     uint64_t offset, Visitor visit);
  Page *pageOf(uint64_t number, bool make);

  static constexpr unsigned shardCount = 64;
  struct Shard {
    std::mutex lock;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };
  std::array<Shard, shardCount> shards;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKACCESSMAP_H
