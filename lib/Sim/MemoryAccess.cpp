//===- MemoryAccess.cpp - lane addresses into device memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryAccess.h"

#include "LdsAccess.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

namespace tenon::sim {

void reportBadAccess(Wave &wave, unsigned lane, uint64_t address,
                     unsigned bytes, bool isStore) {
  // The first byte that is outside, when the access begins inside.
  uint64_t outside = address;
  while (outside + 1 < address + bytes &&
         wave.memory->isAllocated(outside, 1)) {
    ++outside;
  }
  wave.fail(llvm::formatv("lane {0}: {1} of {2} bytes at {3:x} is outside "
                          "every allocation: {4}",
                          lane, isStore ? "store" : "load", bytes, address,
                          wave.memory->describe(outside))
                .str(),
            Check::Bounds);
}

void checkEnds(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
               bool isStore) {
  if (!lanes.active) {
    return;
  }
  for (unsigned lane : {unsigned(std::countr_zero(lanes.active)),
                        63 - unsigned(std::countl_zero(lanes.active))}) {
    uint64_t address = lanes.address[lane];
    if (!wave.memory->isInAllocation(address, bytes)) {
      return reportBadAccess(wave, lane, address, bytes, isStore);
    }
  }
}

bool findAwaited(Wave &wave, const LaneAddresses &lanes, unsigned bytes) {
  for (uint64_t rest = lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    if (wave.memory->isAwaited(lanes.address[lane], bytes)) {
      wave.stop = WaveStop::Again;
      return true;
    }
  }
  return false;
}

bool copyAcrossPages(Wave &wave, unsigned lane, uint64_t address,
                     uint8_t *bytes, unsigned count, bool isStore) {
  if (isStore) {
    if (!wave.memory->write(address, bytes, count)) {
      reportBadAccess(wave, lane, address, count, isStore);
      return false;
    }
    return true;
  }
  for (unsigned i = 0; i < count; ++i) {
    const uint8_t *host = wave.memory->window(address + i).at(address + i, 1);
    if (!host) {
      reportBadAccess(wave, lane, address, count, isStore);
      return false;
    }
    bytes[i] = *host;
  }
  return true;
}

void loadToLds(Wave &wave, const LaneAddresses &lanes, uint64_t written,
               uint32_t base, unsigned bytes, bool isSigned) {
  if (awaitsAtomics(wave, lanes, bytes)) {
    return;
  }
  uint32_t stored = std::max(bytes, 4u);
  noteAccess(wave, lanes, bytes, MemoryAccessKind::ToLds);
  if (endsAtAddresses(wave, lanes, bytes, /*isStore=*/false)) {
    return;
  }
  auto copy = std::make_unique_for_overwrite<WaitCounters::LdsCopy>();
  copy->base = base;
  copy->stride = stored;
  copy->lanes = written;
  std::memset(copy->data, 0, waveSize * stored);
  Memory::Window window;
  for (uint64_t rest = written & lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t *to = copy->data + lane * stored;
    uint64_t address = lanes.address[lane];
    const uint8_t *host = window.at(address, bytes);
    if (!host) {
      window = wave.memory->window(address);
      host = window.at(address, bytes);
    }
    if (host) {
      std::memcpy(to, host, bytes);
    } else if (!copyAcrossPages(wave, lane, address, to, bytes,
                                /*isStore=*/false)) {
      return;
    }
    if (isSigned && to[bytes - 1] & 0x80) {
      std::fill(to + bytes, to + 4, uint8_t(0xFF));
    }
  }
  wave.waits.issueVmemToLds(std::move(copy));
}

} // namespace tenon::sim
