//===- CheckLds.cpp - order of LDS accesses in a workgroup ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckLds.h"

#include <algorithm>

namespace tenon::sim {

void LdsOrder::reset(unsigned waves, uint32_t ldsBytes) {
  uint32_t wanted = (ldsBytes + 3) / 4;
  // Numbers go on from workgroup to workgroup, so that the shadow of the last
  // one is merely old.
  if (waves != waveCount || wanted != dwords || nextId > largestId / 2) {
    waveCount = waves;
    dwords = wanted;
    reads.assign(size_t(waves) * dwords, 0);
    writes.assign(size_t(waves) * dwords, 0);
    nextId = 1;
  }
  firstId = nextId;
  accesses.clear();
  orderedBelow.assign(waves, firstId);
  atomicTimes.assign(waves, {});
  epoch = atomicTime = 0;
  anyCopies = false;
}

uint32_t LdsOrder::begin(unsigned wave, uint32_t record, LdsAccessKind kind) {
  accesses.push_back({record, uint16_t(wave), kind, never, never});
  anyCopies |= kind == LdsAccessKind::Copy;
  if (kind == LdsAccessKind::Atomic) {
    atomicTimes[wave].push_back(++atomicTime);
  }
  return nextId++;
}

void LdsOrder::complete(uint32_t access) {
  if (access < firstId) {
    return; // of an earlier workgroup
  }
  Access &entry = accesses[access - firstId];
  entry.completeEpoch = epoch;
  entry.completeTime = atomicTime;
}

void LdsOrder::barrier() {
  ++epoch;
  std::fill(orderedBelow.begin(), orderedBelow.end(), nextId);
  for (size_t i = accesses.size(); i-- > 0;) {
    if (accesses[i].completeEpoch == never) {
      orderedBelow[accesses[i].wave] = firstId + uint32_t(i);
    }
  }
  // Nobody asks for what is older than everything in flight.
  uint32_t oldest = *std::min_element(orderedBelow.begin(), orderedBelow.end());
  accesses.erase(accesses.begin(), accesses.begin() + (oldest - firstId));
  firstId = oldest;
}

bool LdsOrder::isOrdered(const Access &earlier, unsigned wave) const {
  if (earlier.completeEpoch == never) {
    return false;
  }
  if (earlier.completeEpoch < epoch) {
    return true;
  }
  // Released by the first atomic after its completion, acquired by a later one.
  const std::vector<uint32_t> &releases = atomicTimes[earlier.wave];
  const std::vector<uint32_t> &acquires = atomicTimes[wave];
  auto release =
      std::upper_bound(releases.begin(), releases.end(), earlier.completeTime);
  return release != releases.end() && !acquires.empty() &&
         acquires.back() > *release;
}

std::optional<LdsConflict> LdsOrder::against(uint32_t entry, unsigned otherWave,
                                             bool isWrite, unsigned mask,
                                             uint32_t dword,
                                             bool unchanged) const {
  uint32_t id = entry >> maskBits;
  if (!(entry & mask) || id < firstId) {
    return std::nullopt;
  }
  const Access &now = accesses.back();
  const Access &earlier = info(id);
  if (otherWave == now.wave) {
    // Copies and ds_* instructions of one wave are ordered by waits only.
    bool mixed = (earlier.kind == LdsAccessKind::Copy) !=
                 (now.kind == LdsAccessKind::Copy);
    if (!mixed || earlier.completeEpoch != never) {
      return std::nullopt;
    }
  } else {
    bool sameValue = unchanged && isWrite &&
                     earlier.kind == LdsAccessKind::Write &&
                     now.kind == LdsAccessKind::Write;
    bool bothAtomic = earlier.kind == LdsAccessKind::Atomic &&
                      now.kind == LdsAccessKind::Atomic;
    if (id < orderedBelow[otherWave] || bothAtomic || sameValue ||
        isOrdered(earlier, now.wave)) {
      return std::nullopt;
    }
  }
  return LdsConflict{otherWave,
                     earlier.record,
                     isWrite,
                     earlier.kind == LdsAccessKind::Copy,
                     earlier.completeEpoch == never,
                     dword * 4};
}

std::optional<LdsConflict> LdsOrder::touch(uint32_t address, unsigned bytes,
                                           bool unchanged) {
  const Access &now = accesses.back();
  uint32_t id = nextId - 1;
  bool isWrite = now.kind != LdsAccessKind::Read;
  std::optional<LdsConflict> conflict;
  uint64_t end = uint64_t(address) + bytes;
  for (uint64_t at = address; at < end; at = (at / 4 + 1) * 4) {
    uint64_t dword = at / 4;
    if (dword >= dwords) {
      break; // beyond the segment nothing is stored
    }
    unsigned last = unsigned(std::min<uint64_t>(end - dword * 4, 4));
    unsigned mask = ((1u << last) - 1) & ~((1u << (at % 4)) - 1);
    for (unsigned wave = 0; wave < waveCount && !conflict; ++wave) {
      if (wave == now.wave && !anyCopies) {
        continue;
      }
      size_t place = size_t(wave) * dwords + dword;
      uint32_t limit = wave == now.wave ? firstId : orderedBelow[wave];
      auto mayMatter = [&](uint32_t entry) {
        return (entry & mask) && (entry >> maskBits) >= limit;
      };
      if (mayMatter(writes[place])) [[unlikely]] {
        conflict = against(writes[place], wave, true, mask, uint32_t(dword),
                           unchanged);
      }
      if (!conflict && isWrite && mayMatter(reads[place])) [[unlikely]] {
        conflict =
            against(reads[place], wave, false, mask, uint32_t(dword), false);
      }
    }
    uint32_t &entry =
        (isWrite ? writes : reads)[size_t(now.wave) * dwords + dword];
    // Bytes of an older access stay as long as their order may matter.
    uint32_t oldMask =
        (entry >> maskBits) >= orderedBelow[now.wave] ? entry & 15 : 0;
    entry = id << maskBits | mask | oldMask;
  }
  return conflict;
}

} // namespace tenon::sim
