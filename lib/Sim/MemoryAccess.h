//===- MemoryAccess.h - lane addresses into device memory -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_MEMORYACCESS_H
#define TENON_LIB_SIM_MEMORYACCESS_H

#include "MemoryFormat.h"

namespace tenon::sim {

/// Where each lane of a memory instruction goes.
struct LaneAddresses {
  alignas(64) uint64_t address[waveSize];
  uint64_t active = 0; ///< lanes that access memory
};

/// How an instruction accesses device memory.
enum class MemoryAccessKind : uint8_t { Load, Store, Atomic, ToLds };

/// The last access of a wave that is followed, to device memory.
struct MemoryTrace {
  LaneAddresses lanes;
  unsigned bytes = 0; ///< per lane; 0: there was none
  MemoryAccessKind kind = MemoryAccessKind::Load;
  bool addressesOnly = false; ///< nothing is to be loaded or stored
};

/// Tells the checks of a wave, which there must be, where its lanes go.
void noteMemoryAccess(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
                      MemoryAccessKind kind);

/// The same for a scalar access that moves registers [reg, reg + dwords).
void noteScalarAccess(Wave &wave, unsigned reg, uint64_t address,
                      unsigned dwords, MemoryAccessKind kind);

/// Tells them of a register that an LDS operation still has to fill and a
/// vector memory load is about to overwrite.
void reportLoadTarget(Wave &wave);

/// Ends the launch: the lane's access is outside every allocation.
void reportBadAccess(Wave &wave, unsigned lane, uint64_t address,
                     unsigned bytes, bool isStore);

/// Ends the launch when the first or the last active lane is outside every
/// allocation.
void checkEnds(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
               bool isStore);

/// Part of awaitsAtomics: stops the wave at its current instruction.
bool findAwaited(Wave &wave, const LaneAddresses &lanes, unsigned bytes);

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

/// Whether an atomic of the workgroup has yet to change what the lanes access.
/// The instruction then comes again after the end of the quantum, and must not
/// have done anything yet.
inline bool awaitsAtomics(Wave &wave, const LaneAddresses &lanes,
                          unsigned bytes) {
  return wave.memory->hasAtomics() && findAwaited(wave, lanes, bytes);
}

/// Stops a wave that loads from one place past the caches a second time in a
/// quantum: it waits for another workgroup, and nothing changes before the end
/// of the quantum.
inline void endPoll(Wave &wave, uint64_t address) {
  if (wave.polled == address && wave.stop == WaveStop::Running) {
    wave.stop = WaveStop::AwaitsOthers;
  }
  wave.polled = address;
}
inline void endPoll(Wave &wave, const Instr &instr,
                    const LaneAddresses &lanes) {
  constexpr uint8_t sc1 = 4;
  if ((instr.cachePolicy & sc1) && lanes.active) [[unlikely]] {
    endPoll(wave, lanes.address[std::countr_zero(lanes.active)]);
  }
}

/// Tells whoever follows the wave where its lanes go.
inline void noteAccess(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
                       MemoryAccessKind kind) {
  if (wave.checks) [[unlikely]] {
    noteMemoryAccess(wave, lanes, bytes, kind);
  }
  if (wave.trace) [[unlikely]] {
    wave.trace->lanes = lanes;
    wave.trace->bytes = bytes;
    wave.trace->kind = kind;
  }
}

/// Whether an access was noted and counted, and that is all: the values are of
/// no interest. Of the lanes the first and the last are held against the
/// allocations.
inline bool endsAtAddresses(Wave &wave, const LaneAddresses &lanes,
                            unsigned bytes, bool isStore) {
  if (!wave.trace || !wave.trace->addressesOnly) {
    return false;
  }
  wave.waits.issueVmem(0, 0);
  checkEnds(wave, lanes, bytes, isStore);
  return true;
}

/// The same for the whole wave, from scalar memory instructions.
inline void noteScalarAccess(Wave &wave, uint64_t address, unsigned bytes,
                             MemoryAccessKind kind) {
  if (wave.trace) [[unlikely]] {
    wave.trace->lanes.address[0] = address;
    wave.trace->lanes.active = 1;
    wave.trace->bytes = bytes;
    wave.trace->kind = kind;
  }
}

/// Loads the active lanes and puts the registers in flight.
template <Format format>
inline void loadLanes(Wave &wave, unsigned row, const LaneAddresses &lanes) {
  constexpr unsigned bytes = memoryBytes(format);
  checkLoadTarget(wave, row, formatDwords(format));
  noteAccess(wave, lanes, bytes, MemoryAccessKind::Load);
  if (endsAtAddresses(wave, lanes, bytes, /*isStore=*/false)) {
    return;
  }
  wave.waits.issueVmem(row, formatDwords(format));
  if constexpr (bytes >= 4) {
    if (lanes.active == allLanes && areAdjacent(lanes, bytes)) {
      uint8_t own[bytes * waveSize];
      if (const uint8_t *host =
              wave.memory->read(lanes.address[0], bytes * waveSize, own)) {
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
      window = wave.memory->window(address);
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
  noteAccess(wave, lanes, bytes, MemoryAccessKind::Store);
  if (endsAtAddresses(wave, lanes, bytes, /*isStore=*/true)) {
    return;
  }
  wave.waits.issueVmem(0, 0);
  if constexpr (bytes >= 4) {
    if (lanes.active == allLanes && areAdjacent(lanes, bytes)) {
      uint8_t all[bytes * waveSize];
      storeAllLanes<format>(wave, row, all);
      if (wave.memory->write(lanes.address[0], all, sizeof(all))) {
        return;
      }
    }
  }
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t element[16];
    storeLane<format>(wave, row, lane, element);
    if (!wave.memory->write(lanes.address[lane], element, bytes)) {
      return reportBadAccess(wave, lane, lanes.address[lane], bytes,
                             /*isStore=*/true);
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

/// An atomic on the lanes in turn, at the end of the quantum. The data are in
/// the registers at `data`, for compare-and-swap with the value to compare
/// behind; registers at `row` receive the old value when `returns`.
template <typename T>
inline void atomicLanes(Wave &wave, unsigned row, bool returns, unsigned data,
                        const LaneAddresses &lanes,
                        PendingAtomic::Update update, bool compares) {
  constexpr unsigned dwords = sizeof(T) / 4;
  if (returns) {
    checkLoadTarget(wave, row, dwords);
  }
  noteAccess(wave, lanes, sizeof(T), MemoryAccessKind::Atomic);
  wave.waits.issueVmem(returns ? row : 0, returns ? dwords : 0);
  PendingAtomic atomic;
  atomic.update = update;
  atomic.wave = &wave;
  atomic.reg = uint16_t(row);
  atomic.bytes = sizeof(T);
  atomic.result =
      returns ? PendingAtomic::Result::Vector : PendingAtomic::Result::None;
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    atomic.address = lanes.address[lane];
    if (atomic.address % sizeof(T)) {
      return wave.fail("lane " + llvm::Twine(lane) +
                           ": atomic on an unaligned address",
                       Check::Align);
    }
    if (!wave.memory->isAllocated(atomic.address, sizeof(T))) {
      return reportBadAccess(wave, lane, atomic.address, sizeof(T),
                             /*isStore=*/true);
    }
    atomic.lane = uint8_t(lane);
    atomic.data = laneData<T>(wave, data, lane);
    if (compares) {
      atomic.compare = laneData<T>(wave, data + dwords, lane);
    }
    wave.memory->postpone(atomic);
  }
  if (returns && lanes.active) {
    wave.stop = WaveStop::AwaitsOthers;
  }
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_MEMORYACCESS_H
