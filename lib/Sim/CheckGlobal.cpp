//===- CheckGlobal.cpp - order of memory accesses of workgroups -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckGlobal.h"

#include <algorithm>

namespace tenon::sim {

static constexpr unsigned recordShift = 24, waveShift = 44, maskShift = 48,
                          releaseShift = 52;

static uint64_t workgroupOf(uint64_t entry) {
  return (entry & 0xFFFFFF) - 1; // entries of nobody give the largest number
}

GlobalOrder::Page *GlobalOrder::pageOf(uint64_t address) {
  uint64_t number = address / pageBytes;
  Shard &shard = shards[number % shardCount];
  std::lock_guard<std::mutex> guard(shard.lock);
  std::unique_ptr<Page> &page = shard.pages[number];
  if (!page && pages.fetch_add(1) < mostPages) {
    page = std::make_unique<Page>();
  }
  return page.get();
}

uint64_t GlobalOrder::releaseCount(uint64_t workgroup) {
  if (!anyAtomics.load(std::memory_order_relaxed)) {
    return 0;
  }
  std::lock_guard<std::mutex> guard(orderLock);
  auto found = orders.find(workgroup);
  return found == orders.end() ? 0 : found->second.releases.size();
}

void GlobalOrder::synchronise(uint64_t workgroup) {
  std::lock_guard<std::mutex> guard(orderLock);
  anyAtomics = true;
  orders[workgroup].releases.push_back(quantum);
}

/// Whether an atomic of the entry's workgroup behind its access may lie before
/// the last one of `workgroup`.
bool GlobalOrder::isOrdered(uint64_t entry, uint64_t workgroup) {
  if (!anyAtomics.load(std::memory_order_relaxed)) {
    return false;
  }
  std::lock_guard<std::mutex> guard(orderLock);
  auto earlier = orders.find(workgroupOf(entry));
  auto now = orders.find(workgroup);
  if (earlier == orders.end() || now == orders.end()) {
    return false;
  }
  const std::vector<uint64_t> &releases = earlier->second.releases;
  uint64_t next = entry >> releaseShift;
  return next < releases.size() &&
         releases[next] <= now->second.releases.back();
}

void GlobalOrder::touch(const Access &access, uint64_t address, unsigned bytes,
                        llvm::SmallVectorImpl<Access> &conflicts) {
  if (access.workgroup >= mostWorkgroups ||
      access.record >= (uint32_t(1) << recordBits)) {
    return;
  }
  uint64_t releases = std::min<uint64_t>(releaseCount(access.workgroup),
                                         (1 << releaseBits) - 1);
  uint64_t mine = (access.workgroup + 1) |
                  uint64_t(access.record) << recordShift |
                  uint64_t(access.wave & ((1 << waveBits) - 1)) << waveShift |
                  releases << releaseShift;
  Page *page = nullptr;
  uint64_t pageNumber = ~uint64_t(0);
  std::unique_lock<std::mutex> guard;
  uint64_t end = address + bytes;
  for (uint64_t at = address; at < end; at = (at / 4 + 1) * 4) {
    if (at / pageBytes != pageNumber) {
      pageNumber = at / pageBytes;
      guard = {};
      page = pageOf(at);
      if (page) {
        guard = std::unique_lock(page->lock);
      }
    }
    if (!page) {
      continue;
    }
    unsigned last = unsigned(std::min<uint64_t>(end - at / 4 * 4, 4));
    uint64_t mask = ((1u << last) - 1) & ~((1u << (at % 4)) - 1);
    Cell &cell = page->cells[at % pageBytes / 4];
    auto against = [&](uint64_t entry, bool isWrite) {
      bool overlaps = entry && ((entry >> maskShift) & mask) &&
                      workgroupOf(entry) != access.workgroup;
      if (overlaps && !isOrdered(entry, access.workgroup)) [[unlikely]] {
        conflicts.push_back(
            {workgroupOf(entry),
             uint32_t(entry >> waveShift) & ((1 << waveBits) - 1),
             uint32_t(entry >> recordShift) & ((1 << recordBits) - 1),
             isWrite});
      }
    };
    against(cell.writers[0], true);
    against(cell.writers[1], true);
    if (access.isWrite) {
      against(cell.readers[0], false);
      against(cell.readers[1], false);
    }
    // The two lowest workgroups stay, the lowest first.
    uint64_t (&entries)[2] = access.isWrite ? cell.writers : cell.readers;
    for (uint64_t &entry : entries) {
      if (workgroupOf(entry) == access.workgroup && entry) {
        uint64_t old = (entry >> maskShift) & ((1 << maskBits) - 1);
        uint64_t first = entry & ((uint64_t(1) << maskShift) - 1);
        entry = first | (old | mask) << maskShift | releases << releaseShift;
        mask = 0;
        break;
      }
    }
    if (!mask) {
      continue;
    }
    uint64_t entry = mine | mask << maskShift;
    if (!entries[0] || workgroupOf(entry) < workgroupOf(entries[0])) {
      std::swap(entry, entries[0]);
    }
    if (entry &&
        (!entries[1] || workgroupOf(entry) < workgroupOf(entries[1]))) {
      entries[1] = entry;
    }
  }
}

} // namespace tenon::sim
