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
  synchronisedBelow.assign(size_t(waves) * waves, 0);
  clocks.clear();
  epoch = 0;
  copiesInFlight.assign(waves, 0);
}

uint32_t LdsOrder::begin(unsigned wave, uint32_t record, LdsAccessKind kind,
                         unsigned waits) {
  accesses.push_back(
      {record, uint16_t(wave), kind, never, never, uint8_t(waits)});
  copiesInFlight[wave] += kind == LdsAccessKind::Copy;
  return nextId++;
}

void LdsOrder::synchronise(uint32_t address, bool acquires) {
  const Access &now = accesses.back();
  uint32_t dword = address / 4;
  if (dword >= dwords) {
    return;
  }
  uint32_t *mine = &synchronisedBelow[size_t(now.wave) * waveCount];
  if (now.kind == LdsAccessKind::Poll) {
    for (unsigned wave = 0; wave < waveCount; ++wave) {
      uint32_t id = writes[size_t(wave) * dwords + dword] >> maskBits;
      if (wave != now.wave && id >= firstId &&
          info(id).kind == LdsAccessKind::Write) {
        mine[wave] = std::max(mine[wave], id + 1);
      }
    }
  }
  auto clock = clocks.find(dword);
  if (acquires && clock != clocks.end()) {
    for (unsigned wave = 0; wave < waveCount; ++wave) {
      mine[wave] = std::max(mine[wave], clock->second[wave]);
    }
  }
  if (now.kind == LdsAccessKind::Atomic) {
    std::vector<uint32_t> &released = clocks[dword];
    released.resize(waveCount);
    for (unsigned wave = 0; wave < waveCount; ++wave) {
      released[wave] = std::max(released[wave], mine[wave]);
    }
    released[now.wave] = nextId;
  }
}

void LdsOrder::complete(uint32_t access) {
  if (access < firstId) {
    return; // of an earlier workgroup
  }
  Access &entry = accesses[access - firstId];
  if (--entry.waits == 0) {
    entry.completeEpoch = epoch;
    entry.completeId = nextId;
    copiesInFlight[entry.wave] -= entry.kind == LdsAccessKind::Copy;
  }
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

bool LdsOrder::isOrdered(uint32_t id, const Access &earlier,
                         unsigned wave) const {
  if (earlier.completeEpoch != never && earlier.completeEpoch < epoch) {
    return true;
  }
  uint32_t below = synchronisedBelow[size_t(wave) * waveCount + earlier.wave];
  return earlier.kind == LdsAccessKind::Copy ? earlier.completeId <= below
                                             : id < below;
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
    bool isPolled = (earlier.kind == LdsAccessKind::Poll ||
                     now.kind == LdsAccessKind::Poll) &&
                    earlier.kind != LdsAccessKind::Copy &&
                    now.kind != LdsAccessKind::Copy;
    if (id < orderedBelow[otherWave] || bothAtomic || sameValue || isPolled ||
        isOrdered(id, earlier, now.wave)) {
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

/// Whether one of the shadow entries is not older than `limit`.
static bool anyFrom(const uint32_t *entries, uint32_t count, uint32_t limit) {
  uint32_t any = 0;
  for (uint32_t i = 0; i < count; ++i) {
    any |= uint32_t(entries[i] >= limit);
  }
  return any;
}

bool LdsOrder::touchDwords(uint32_t first, uint32_t count, bool isWrite) {
  const Access &now = accesses.back();
  for (unsigned wave = 0; wave < waveCount; ++wave) {
    if (wave == now.wave && !minds(now)) {
      continue;
    }
    uint32_t limit = (wave == now.wave ? firstId : orderedBelow[wave])
                     << maskBits;
    size_t place = size_t(wave) * dwords + first;
    if (anyFrom(&writes[place], count, limit) ||
        (isWrite && anyFrom(&reads[place], count, limit))) {
      return false;
    }
  }
  uint32_t entry = (nextId - 1) << maskBits | 15;
  std::fill_n(&(isWrite ? writes : reads)[size_t(now.wave) * dwords + first],
              count, entry);
  return true;
}

std::optional<LdsConflict> LdsOrder::touch(uint32_t address, unsigned bytes,
                                           bool unchanged) {
  const Access &now = accesses.back();
  uint32_t id = nextId - 1;
  bool isWrite =
      now.kind != LdsAccessKind::Read && now.kind != LdsAccessKind::Poll;
  if (address % 4 == 0 && bytes % 4 == 0 && address / 4 + bytes / 4 <= dwords &&
      touchDwords(address / 4, bytes / 4, isWrite)) [[likely]] {
    return std::nullopt;
  }
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
      if (wave == now.wave && !minds(now)) {
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
