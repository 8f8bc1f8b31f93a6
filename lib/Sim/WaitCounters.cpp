//===- WaitCounters.cpp - loads in flight of a wave -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "WaitCounters.h"

#include "Wave.h"

#include <algorithm>
#include <bit>

namespace tenon::sim {

std::string registerName(unsigned row) {
  return row < rowAgpr ? "v" + std::to_string(row)
                       : "a" + std::to_string(row - rowAgpr);
}

std::string WaitCounters::firstConflict(const Footprint &footprint) const {
  for (unsigned i = 0; i < 8; ++i) {
    if (uint64_t hit = footprint.vector[i] & pending.vector[i]) {
      return registerName(64 * i + std::countr_zero(hit));
    }
  }
  for (unsigned i = 0; i < 2; ++i) {
    if (uint64_t hit = footprint.scalar[i] & pending.scalar[i]) {
      unsigned reg = 64 * i + std::countr_zero(hit);
      return reg == sgprVcc || reg == sgprVcc + 1 ? "vcc"
                                                  : "s" + std::to_string(reg);
    }
  }
  return "";
}

bool WaitCounters::ldsPending(unsigned firstRow, unsigned count) const {
  return std::any_of(ldsCounts + firstRow, ldsCounts + firstRow + count,
                     [](uint8_t inFlight) { return inFlight != 0; });
}

void WaitCounters::issueSmem(unsigned first, unsigned count) {
  lgkm.push_back({uint16_t(first), uint8_t(count), Queue::Smem, 0, nullptr});
  ++smemInFlight;
  for (unsigned reg = first; reg < first + count && reg < sgprCount; ++reg) {
    ++smemCounts[reg];
    pending.scalar[reg / 64] |= uint64_t(1) << (reg % 64);
  }
  pendingRegisters += count;
}

void WaitCounters::complete(const Entry &entry) {
  if (entry.access) {
    completed->push_back(entry.access);
  }
  pendingRegisters -= entry.count;
  for (unsigned reg = entry.first; reg < unsigned(entry.first + entry.count);
       ++reg) {
    if (entry.queue == Queue::Smem) {
      if (reg < sgprCount && --smemCounts[reg] == 0) {
        pending.scalar[reg / 64] &= ~(uint64_t(1) << (reg % 64));
      }
      continue;
    }
    uint8_t *counts = entry.queue == Queue::Vmem ? vmemCounts : ldsCounts;
    if (--counts[reg] == 0 && vmemCounts[reg] == 0 && ldsCounts[reg] == 0) {
      pending.vector[reg / 64] &= ~(uint64_t(1) << (reg % 64));
    }
  }
}

/// Bytes beyond the group segment are dropped, dword by dword.
static void writeLdsCopy(std::vector<uint8_t> &lds,
                         const WaitCounters::LdsCopy &copy) {
  if (copy.lanes == allLanes &&
      uint64_t(copy.base) + waveSize * copy.stride <= lds.size()) {
    std::memcpy(lds.data() + copy.base, copy.data, waveSize * copy.stride);
    return;
  }
  for (uint64_t rest = copy.lanes; rest; rest &= rest - 1) {
    unsigned first = unsigned(std::countr_zero(rest)) * copy.stride;
    for (unsigned i = first; i < first + copy.stride; i += 4) {
      if (uint64_t(copy.base) + i + 4 <= lds.size()) {
        std::memcpy(lds.data() + copy.base + i, copy.data + i, 4);
      }
    }
  }
}

void WaitCounters::waitVmem(unsigned n, Wave &wave) {
  while (vmem.size() > n) {
    Entry &entry = vmem.front();
    complete(entry);
    if (entry.copy) {
      writeLdsCopy(wave.workgroup->lds, *entry.copy);
    }
    vmem.pop_front();
  }
}

void WaitCounters::waitLgkm(unsigned n) {
  if (n == 0) {
    for (const Entry &entry : lgkm) {
      complete(entry);
    }
    lgkm.clear();
    smemInFlight = 0;
    return;
  }
  // Scalar loads may all have returned before the first LDS operation, so of
  // the completions that the counter proves, LDS gets what is left over.
  if (lgkm.size() <= n + smemInFlight) {
    return;
  }
  unsigned proven = lgkm.size() - n - smemInFlight;
  for (auto entry = lgkm.begin(); entry != lgkm.end() && proven;) {
    if (entry->queue == Queue::Lds) {
      complete(*entry);
      entry = lgkm.erase(entry);
      --proven;
    } else {
      ++entry;
    }
  }
}

} // namespace tenon::sim
