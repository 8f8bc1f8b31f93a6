//===- MemoryAccess.h - lane addresses into device memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_MEMORYACCESS_H
#define TENON_LIB_SIM_MEMORYACCESS_H

#include "MemoryFormat.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>

namespace tenon::sim {

/// Where each lane of a memory instruction goes.
struct LaneAddresses {
  alignas(64) uint64_t address[waveSize];
  uint64_t active = 0; ///< lanes that access memory
};

/// How an instruction accesses device memory.
enum class MemoryAccessKind : uint8_t { Load, Store, Atomic, ToLds };

/// Tells the checks of a wave, which there must be, where its lanes go.
void noteMemoryAccess(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
                      MemoryAccessKind kind);

/// Tells them of a register that an LDS operation still has to fill and a
/// vector memory load is about to overwrite.
void reportLoadTarget(Wave &wave);

/// Ends the launch: the lane's access is outside every allocation.
void reportBadAccess(Wave &wave, unsigned lane, uint64_t address,
                     unsigned bytes, bool isStore);

/// An element that crosses a page, byte by byte; false after an error.
bool copyAcrossPages(Wave &wave, unsigned lane, uint64_t address,
                     uint8_t *bytes, unsigned count, bool isStore);

/// Whether lane i is at the address of lane 0 plus i elements.
inline bool areAdjacent(const LaneAddresses &lanes, unsigned bytes) {
  uint64_t different = 0;
  uint64_t first = lanes.address[0];
  for (unsigned i = 0; i < waveSize; ++i) {
    different |= lanes.address[i] ^ (first + uint64_t(i) * bytes);
  }
  return different == 0;
}

/// What checks want to know before a load fills registers.
inline void checkLoadTarget(Wave &wave, unsigned row, unsigned count) {
  if (wave.checks && wave.waits.anyPending() &&
      wave.waits.ldsPending(row, count)) [[unlikely]] {
    reportLoadTarget(wave);
  }
}

/// Loads the active lanes and puts the registers in flight.
template <Format format>
inline void loadLanes(Wave &wave, unsigned row, const LaneAddresses &lanes) {
  constexpr unsigned bytes = memoryBytes(format);
  checkLoadTarget(wave, row, formatDwords(format));
  if (wave.checks) [[unlikely]] {
    noteMemoryAccess(wave, lanes, bytes, MemoryAccessKind::Load);
  }
  wave.waits.issueVmem(row, formatDwords(format));
  if constexpr (bytes >= 4) {
    if (lanes.active == allLanes && areAdjacent(lanes, bytes)) {
      if (const uint8_t *host = wave.memory->translate(
              lanes.address[0], bytes * waveSize, /*forWrite=*/false)) {
        loadAllLanes<format>(wave, row, host);
        return;
      }
    }
  }
  Memory::Window window;
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint64_t address = lanes.address[lane];
    const uint8_t *host = window.at(address, bytes);
    if (!host) {
      window = wave.memory->window(address, /*forWrite=*/false);
      host = window.at(address, bytes);
    }
    uint8_t split[16];
    if (!host) {
      if (!copyAcrossPages(wave, lane, address, split, bytes,
                           /*isStore=*/false)) {
        return;
      }
      host = split;
    }
    loadLane<format>(wave, row, lane, host);
  }
}

template <Format format>
inline void storeLanes(Wave &wave, unsigned row, const LaneAddresses &lanes) {
  constexpr unsigned bytes = memoryBytes(format);
  wave.waits.issueVmem(0, 0);
  if (wave.checks) [[unlikely]] {
    noteMemoryAccess(wave, lanes, bytes, MemoryAccessKind::Store);
  }
  if constexpr (bytes >= 4) {
    if (lanes.active == allLanes && areAdjacent(lanes, bytes)) {
      if (uint8_t *host = wave.memory->translate(
              lanes.address[0], bytes * waveSize, /*forWrite=*/true)) {
        storeAllLanes<format>(wave, row, host);
        return;
      }
    }
  }
  Memory::Window window;
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint64_t address = lanes.address[lane];
    uint8_t *host = window.at(address, bytes);
    if (!host) {
      window = wave.memory->window(address, /*forWrite=*/true);
      host = window.at(address, bytes);
    }
    if (host) {
      storeLane<format>(wave, row, lane, host);
      continue;
    }
    uint8_t split[16];
    storeLane<format>(wave, row, lane, split);
    if (!copyAcrossPages(wave, lane, address, split, bytes, /*isStore=*/true)) {
      return;
    }
  }
}

/// An atomic on the lanes in turn: `update` maps the old value to the new one,
/// given the lane. Registers at `row` receive the old value when `returns`.
template <typename T>
inline void atomicLanes(Wave &wave, unsigned row, bool returns,
                        const LaneAddresses &lanes,
                        llvm::function_ref<T(T old, unsigned lane)> update) {
  constexpr unsigned dwords = sizeof(T) / 4;
  if (returns) {
    checkLoadTarget(wave, row, dwords);
  }
  if (wave.checks) [[unlikely]] {
    noteMemoryAccess(wave, lanes, sizeof(T), MemoryAccessKind::Atomic);
  }
  wave.waits.issueVmem(returns ? row : 0, returns ? dwords : 0);
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint64_t address = lanes.address[lane];
    uint8_t *host =
        address % sizeof(T)
            ? nullptr
            : wave.memory->translate(address, sizeof(T), /*forWrite=*/true);
    if (!host) {
      if (address % sizeof(T)) {
        return wave.fail("lane " + llvm::Twine(lane) +
                             ": atomic on an unaligned address",
                         Check::Align);
      }
      return reportBadAccess(wave, lane, address, sizeof(T), /*isStore=*/true);
    }
    std::atomic_ref<T> cell(*reinterpret_cast<T *>(host));
    T old = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(old, update(old, lane))) {
    }
    if (returns) {
      for (unsigned d = 0; d < dwords; ++d) {
        wave.v[row + d][lane] = uint32_t(uint64_t(old) >> (32 * d));
      }
    }
  }
}

/// The 32- or 64-bit value of a lane's data registers.
template <typename T>
inline T laneData(const Wave &wave, unsigned row, unsigned lane) {
  if constexpr (sizeof(T) == 8) {
    return wave.v[row][lane] | uint64_t(wave.v[row + 1][lane]) << 32;
  } else {
    return wave.v[row][lane];
  }
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_MEMORYACCESS_H
