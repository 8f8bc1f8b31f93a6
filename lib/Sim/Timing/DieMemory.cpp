//===- DieMemory.cpp - caches of a die and what lies behind -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DieMemory.h"

#include "llvm/ADT/DenseSet.h"

#include <bit>
#include <cmath>

using namespace llvm;

namespace tenon::sim {

/// Halves are what the L2 writes to memory.
static constexpr unsigned halvesPerLine = 2;

DeviceMemoryTiming::DeviceMemoryTiming(const target::TargetInfo &chip,
                                       const target::TimingFacts &facts,
                                       unsigned dies)
    : chip(chip), timing(facts),
      mall(chip.facts().mallBytes, chip.facts().l2LineBytes, /*ways=*/16) {
  update(dies, 1);
}

void DeviceMemoryTiming::update(double activeDies, double uniqueShare) {
  const target::ChipFacts &facts = chip.facts();
  double bytesPerClock = timing.hbmBandwidth / facts.clockHz;
  writeClocks = facts.l2LineBytes * activeDies / bytesPerClock;
  lineClocks = writeClocks * uniqueShare * firstFetchShare;
}

void DeviceMemoryTiming::setFirstFetchShare(double share) {
  firstFetchShare = share;
  update(chip.facts().xcds, 1);
}

void DeviceMemoryTiming::endEpoch(ArrayRef<DieMemory *> dies, uint64_t now) {
  DenseSet<uint64_t> unique;
  uint64_t requests = 0, active = 0;
  for (DieMemory *die : dies) {
    active += die->wrote || !die->fetched.empty() || die->awaitsHbm(now);
    requests += die->fetched.size();
    for (uint64_t line : die->fetched) {
      unique.insert(line);
      if (!mall.find(line)) {
        mall.insert(line, 0);
      }
    }
    die->fetched.clear();
    die->wrote = false;
  }
  // The share is that of the epoch just past: traffic changes slowly.
  if (dies.size() > 1 && active) {
    double share = requests ? double(unique.size()) / double(requests) : 1;
    update(double(active), share);
    doublyCounted += (requests - unique.size()) * chip.facts().l2LineBytes;
  }
}

DieMemory::DieMemory(const target::TargetInfo &chip,
                     const target::TimingFacts &facts,
                     DeviceMemoryTiming &device)
    : facts(facts), device(device), lineSize(chip.facts().l2LineBytes),
      codeCacheUnits(chip.facts().instructionCacheCus),
      l2(chip.facts().l2Bytes, chip.facts().l2LineBytes, facts.l2Ways),
      channelFree(facts.l2Channels),
      capacity(chip.facts().l2Bytes / chip.facts().l2LineBytes) {
  const target::ChipFacts &chipFacts = chip.facts();
  unsigned units = chipFacts.computeUnits / chipFacts.xcds;
  for (unsigned i = 0; i < units; ++i) {
    l1.emplace_back(chipFacts.l1Bytes, chipFacts.l1LineBytes, facts.l1Ways);
  }
  for (unsigned i = 0; i < units; i += codeCacheUnits) {
    scalarCaches.emplace_back(facts.scalarCacheBytes, lineSize, /*ways=*/4);
    codeCaches.emplace_back(chipFacts.instructionCacheBytes,
                            facts.fetchLineBytes, /*ways=*/8);
  }
  fabricLineClocks =
      lineSize * chipFacts.xcds / (facts.mallBandwidth / chipFacts.clockHz);
  mallClocks = uint64_t(facts.mallNs * 1e-9 * chipFacts.clockHz);
  hbmClocks = uint64_t(facts.hbmNs * 1e-9 * chipFacts.clockHz);
}

uint64_t DieMemory::startAtL2(uint64_t line, uint64_t now, unsigned bytes) {
  uint64_t mixed = line ^ (line >> 4) ^ (line >> 8) ^ (line >> 12);
  double &free = channelFree[mixed % channelFree.size()];
  double start = std::max(double(now), free);
  free = start + double(bytes) / facts.l2ChannelBytesPerClock;
  traffic.l2Bytes += bytes;
  return uint64_t(start);
}

void DieMemory::writeBack(unsigned halves, uint64_t now) {
  double part = double(halves) / halvesPerLine;
  double start = std::max(double(now), fabricFree);
  fabricFree = start + fabricLineClocks * part;
  double clocks = device.hbmClocksPerWrite() * part;
  hbmFree = std::max(start, hbmFree) + clocks;
  traffic.hbmClocks += clocks;
  wrote = true;
  traffic.mallBytes += halves * lineSize / halvesPerLine;
  traffic.hbmBytes += halves * lineSize / halvesPerLine;
}

CacheTags::Way &DieMemory::insertIntoL2(uint64_t line, uint64_t arrival,
                                        uint64_t now) {
  CacheTags::Way evicted;
  CacheTags::Way &way = l2.insert(line, arrival, &evicted);
  ++filledLines;
  if (evicted.dirty) {
    writeBack(unsigned(std::popcount(evicted.dirty)), now);
  }
  return way;
}

uint64_t DieMemory::fromL2(uint64_t line, uint64_t now) {
  uint64_t start = startAtL2(line, now, lineSize);
  uint64_t half = facts.l2HitClocks / 2;
  if (CacheTags::Way *way = l2.find(line)) {
    return std::max(start + facts.l2HitClocks, way->arrival + half);
  }
  double leaves = std::max(double(start + half), fabricFree);
  fabricFree = leaves + fabricLineClocks;
  traffic.mallBytes += lineSize;
  uint64_t arrival;
  if (device.holds(line)) {
    arrival = uint64_t(leaves) + mallClocks;
  } else {
    double begins = std::max(leaves, hbmFree);
    hbmFree = begins + device.hbmClocksPerLine();
    arrival = uint64_t(begins) + hbmClocks;
    traffic.hbmBytes += lineSize;
    traffic.hbmReadBytes += lineSize;
    traffic.hbmClocks += device.hbmClocksPerLine();
    traffic.hbmReadClocks += device.hbmClocksPerLine();
    fetched.push_back(line);
  }
  insertIntoL2(line, arrival, start);
  return arrival + half;
}

uint64_t DieMemory::load(unsigned unit, uint64_t line, uint64_t now,
                         bool passesL1) {
  traffic.l1Bytes += lineSize;
  if (passesL1) {
    return fromL2(line, now);
  }
  if (CacheTags::Way *way = l1[unit].find(line)) {
    return std::max(now + facts.l1HitClocks, way->arrival);
  }
  uint64_t arrival = fromL2(line, now);
  l1[unit].insert(line, arrival);
  return arrival;
}

uint64_t DieMemory::store(unsigned unit, uint64_t line, unsigned halves,
                          bool streams, uint64_t now) {
  unsigned bytes = unsigned(std::popcount(halves)) * lineSize / halvesPerLine;
  traffic.l1Bytes += bytes;
  uint64_t start = startAtL2(line, now, bytes);
  CacheTags::Way *way = l2.find(line);
  if (!way) {
    way = &insertIntoL2(line, start, start);
  }
  way->dirty |= uint8_t(halves);
  if (streams && unsigned(std::popcount(way->dirty)) == halvesPerLine) {
    way->dirty = 0;
    writeBack(halvesPerLine, start);
    streamed = hbmFree;
  }
  return start + facts.l2HitClocks;
}

uint64_t DieMemory::atomic(uint64_t line, uint64_t now) {
  uint64_t arrival = fromL2(line, now) + facts.atomicClocks;
  if (CacheTags::Way *way = l2.find(line)) {
    way->dirty |= 1;
  }
  return arrival;
}

uint64_t DieMemory::scalarLoad(unsigned unit, uint64_t line, uint64_t now) {
  CacheTags &cache = scalarCaches[unit / codeCacheUnits];
  if (CacheTags::Way *way = cache.find(line)) {
    return std::max(now + facts.scalarHitClocks, way->arrival);
  }
  uint64_t arrival = fromL2(line, now);
  cache.insert(line, arrival);
  return arrival;
}

uint64_t DieMemory::fetch(unsigned unit, uint64_t line, uint64_t now) {
  CacheTags &cache = codeCaches[unit / codeCacheUnits];
  // The line behind is asked for as well: code runs forward.
  uint64_t arrivals[2];
  for (unsigned i = 0; i < 2; ++i) {
    CacheTags::Way *way = cache.find(line + i);
    arrivals[i] = way ? way->arrival : now + facts.fetchMissClocks;
    if (!way) {
      cache.insert(line + i, arrivals[i]);
    }
  }
  return std::max(now, arrivals[0]);
}

uint64_t DieMemory::drainClocks(uint64_t now) {
  uint64_t halves = l2.dirtyHalves();
  drained = halves * lineSize / halvesPerLine;
  traffic.mallBytes += drained;
  traffic.hbmBytes += drained;
  double flush = double(halves) / halvesPerLine * fabricLineClocks;
  double behind = std::max({streamed, fabricFree, double(now)}) - double(now);
  return uint64_t(std::ceil(behind + flush));
}

} // namespace tenon::sim
