//===- CheckAccessMap.cpp - who accessed which bytes ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckAccessMap.h"

#include <algorithm>

namespace tenon::sim {

// An entry packs workgroup + 1, instruction, wave, lane, bytes and phase; 0 is
// none.
static constexpr unsigned workgroupBits = 22, idShift = 22, waveShift = 36,
                          laneShift = 40, maskShift = 46, phaseShift = 50;

static uint64_t workgroupOf(uint64_t entry) {
  // None gives the largest number.
  return (entry & ((uint64_t(1) << workgroupBits) - 1)) - 1;
}

static uint64_t pack(const AccessEntry &access, uint64_t mask,
                     uint64_t offset) {
  uint64_t lane = access.lane;
  lane += access.laneBytes ? offset / access.laneBytes : 0;
  return (access.workgroup + 1) | uint64_t(access.id) << idShift |
         uint64_t(access.wave & 15) << waveShift | (lane & 63) << laneShift |
         mask << maskShift |
         uint64_t(std::min(access.phase, AccessEntry::lastPhase)) << phaseShift;
}

static AccessEntry unpack(uint64_t entry) {
  return {workgroupOf(entry),
          uint32_t(entry >> idShift) & AccessEntry::lastId,
          uint32_t(entry >> waveShift) & 15,
          uint32_t(entry >> phaseShift),
          uint32_t(entry >> laneShift) & 63,
          0};
}

AccessMap::Page *AccessMap::pageOf(uint64_t number, bool make) {
  Shard &shard = shards[number % shardCount];
  std::lock_guard<std::mutex> guard(shard.lock);
  if (!make) {
    auto found = shard.pages.find(number);
    return found == shard.pages.end() ? nullptr : found->second.get();
  }
  std::unique_ptr<Page> &page = shard.pages[number];
  if (!page) {
    page = std::make_unique<Page>();
  }
  return page.get();
}

void AccessMap::update(Cell &cell, const AccessEntry &access, bool isWrite,
                       bool adds, uint64_t mask, uint64_t address,
                       uint64_t offset, Visitor visit) {
  auto against = [&](uint64_t &entry, bool entryWrites) {
    if (entry && ((entry >> maskShift) & mask) &&
        workgroupOf(entry) != access.workgroup &&
        visit(unpack(entry), entryWrites, address) && adds) {
      entry &= ~(mask << maskShift);
      entry = (entry >> maskShift) & 15 ? entry : 0;
    }
  };
  against(cell.writers[0], true);
  against(cell.writers[1], true);
  if (isWrite) {
    against(cell.readers[0], false);
    against(cell.readers[1], false);
  }
  if (!adds) {
    return;
  }
  uint64_t (&entries)[2] = isWrite ? cell.writers : cell.readers;
  for (uint64_t &entry : entries) {
    if (entry && workgroupOf(entry) == access.workgroup) {
      entry = pack(access, ((entry >> maskShift) & 15) | mask, offset);
      return;
    }
  }
  if (!entries[0] || workgroupOf(entries[1]) < workgroupOf(entries[0])) {
    std::swap(entries[0], entries[1]); // one of them may have gone
  }
  uint64_t entry = pack(access, mask, offset);
  if (!entries[0] || access.workgroup < workgroupOf(entries[0])) {
    std::swap(entry, entries[0]);
  }
  if (entry && (!entries[1] || workgroupOf(entry) < workgroupOf(entries[1]))) {
    entries[1] = entry;
  }
}

void AccessMap::walk(const AccessEntry &access, bool isWrite, bool adds,
                     uint64_t address, uint64_t bytes, Visitor visit) {
  Page *page = nullptr;
  uint64_t pageNumber = ~uint64_t(0);
  std::unique_lock<std::mutex> guard;
  uint64_t end = address + bytes;
  for (uint64_t at = address; at < end;) {
    if (at / pageBytes != pageNumber) {
      pageNumber = at / pageBytes;
      guard = {};
      page = pageOf(pageNumber, adds);
      if (page) {
        guard = std::unique_lock(page->lock);
      }
    }
    uint64_t blockBegin = at / blockBytes * blockBytes;
    uint64_t blockEnd = blockBegin + blockBytes;
    if (!page) {
      at = blockEnd;
      continue;
    }
    Block &block = page->blocks[at % pageBytes / blockBytes];
    bool isWhole = at == blockBegin && blockEnd <= end;
    if (!block.cells && (isWhole || !adds)) {
      update(block.all, access, isWrite, adds, 15, at,
             at < address ? 0 : at - address, visit);
      at = blockEnd;
      continue;
    }
    if (!block.cells) {
      block.cells = std::make_unique<std::array<Cell, blockBytes / 4>>();
      block.cells->fill(block.all);
    }
    for (uint64_t last = std::min(end, blockEnd); at < last;
         at = (at / 4 + 1) * 4) {
      unsigned bytesHere = unsigned(std::min<uint64_t>(last - at / 4 * 4, 4));
      uint64_t mask = ((1u << bytesHere) - 1) & ~((1u << (at % 4)) - 1);
      update((*block.cells)[at % blockBytes / 4], access, isWrite, adds, mask,
             at / 4 * 4, at - address, visit);
    }
  }
}

} // namespace tenon::sim
