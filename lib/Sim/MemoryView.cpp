//===- MemoryView.cpp - memory as one workgroup sees it ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MemoryView.h"

#include "HostRounding.h"
#include "Wave.h"

#include <algorithm>

namespace tenon::sim {

// Allocations begin at multiples of 256 bytes and pages are counted from
// there, so no block belongs to two of either.
static_assert(Memory::pageBytes % MemoryView::blockBytes == 0);

MemoryView::Block *MemoryView::makeBlock(uint64_t number) {
  if (Block *block = find(number)) {
    return recent = block;
  }
  uint64_t address = number * blockBytes;
  Memory::Window page = memory.window(address, /*forWrite=*/false);
  if (!page.host) {
    return nullptr;
  }
  if (used == storage.size()) {
    storage.emplace_back();
  }
  Block &block = storage[used++];
  block.number = number;
  std::fill(std::begin(block.written), std::end(block.written), 0);
  block.valid = unsigned(std::min<uint64_t>(blockBytes, page.end - address));
  block.hasUndefined = false;
  std::memcpy(block.bytes, page.at(address, block.valid), block.valid);
  if (const uint8_t *shadow = memory.undefinedBytes(address, block.valid)) {
    block.hasUndefined = true;
    std::memcpy(block.undefined, shadow, block.valid);
  }
  blocks[number] = &block;
  return recent = &block;
}

Memory::Window MemoryView::narrowWindow(uint64_t address) {
  uint64_t begin = address / blockBytes * blockBytes;
  if (Block *block = find(address / blockBytes)) {
    if (address - begin >= block->valid) {
      return {};
    }
    return {begin, begin + block->valid, block->bytes};
  }
  Memory::Window page = memory.window(address, /*forWrite=*/false);
  if (!page.host) {
    return {};
  }
  uint64_t end = std::min<uint64_t>(begin + blockBytes, page.end);
  return {begin, end, page.at(begin, end - begin)};
}

const uint8_t *MemoryView::readMixed(uint64_t address, uint64_t bytes,
                                     const uint8_t *host, uint8_t *buffer) {
  bool own = false;
  for (uint64_t done = 0; done < bytes;) {
    uint64_t offset = (address + done) % blockBytes;
    uint64_t size = std::min<uint64_t>(bytes - done, blockBytes - offset);
    if (const Block *block = find((address + done) / blockBytes)) {
      if (!own) {
        std::memcpy(buffer, host, bytes);
        own = true;
      }
      std::memcpy(buffer + done, block->bytes + offset, size);
    }
    done += size;
  }
  return own ? buffer : host;
}

bool MemoryView::isAllocated(uint64_t address, uint64_t bytes) {
  for (uint64_t at = address; at < address + bytes;) {
    Memory::Window page = memory.window(at, /*forWrite=*/false);
    if (!page.host) {
      return false;
    }
    at = page.end;
  }
  return true;
}

const uint8_t *MemoryView::undefinedBytes(uint64_t address, uint64_t bytes) {
  if (const Block *block =
          blocks.empty() ? nullptr : find(address / blockBytes)) {
    return block->hasUndefined ? block->undefined + address % blockBytes
                               : nullptr;
  }
  return memory.undefinedBytes(address, bytes);
}

uint8_t *MemoryView::undefinedBytesToWrite(uint64_t address, uint64_t bytes) {
  if (!memory.undefinedBytes(address, bytes)) {
    return nullptr;
  }
  return blockForWrite(address)->undefined + address % blockBytes;
}

void MemoryView::apply(const PendingAtomic &atomic) {
  setHostRounding(atomic.wave->mode);
  uint8_t *host =
      memory.translate(atomic.address, atomic.bytes, /*forWrite=*/true);
  uint64_t old = 0;
  std::memcpy(&old, host, atomic.bytes);
  uint64_t value = atomic.update(old, atomic.data, atomic.compare);
  std::memcpy(host, &value, atomic.bytes);
  if (uint8_t *shadow = memory.undefinedBytes(atomic.address, atomic.bytes)) {
    std::fill_n(shadow, atomic.bytes, 0);
  }
  for (unsigned d = 0; d < atomic.bytes / 4u; ++d) {
    uint32_t word = uint32_t(old >> (32 * d));
    switch (atomic.result) {
    case PendingAtomic::Result::Vector:
      atomic.wave->v[atomic.reg + d][atomic.lane] = word;
      break;
    case PendingAtomic::Result::Scalar:
      atomic.wave->s[atomic.reg + d] = word;
      break;
    case PendingAtomic::Result::None:
      break;
    }
  }
}

void MemoryView::publish() {
  for (size_t i = 0; i < used; ++i) {
    const Block &block = storage[i];
    uint64_t address = block.number * blockBytes;
    uint8_t *host = memory.translate(address, block.valid, /*forWrite=*/true);
    uint8_t *shadow = block.hasUndefined
                          ? memory.undefinedBytes(address, block.valid)
                          : nullptr;
    for (unsigned word = 0; word < blockBytes / 64; ++word) {
      uint64_t rest = block.written[word];
      while (rest) {
        unsigned first = unsigned(std::countr_zero(rest));
        unsigned count = unsigned(std::countr_one(rest >> first));
        unsigned at = 64 * word + first;
        std::memcpy(host + at, block.bytes + at, count);
        if (shadow) {
          std::memcpy(shadow + at, block.undefined + at, count);
        }
        rest &= first + count == 64 ? 0 : ~uint64_t(0) << (first + count);
      }
    }
  }
  for (const PendingAtomic &atomic : atomics) {
    apply(atomic);
  }
  blocks.clear();
  used = 0;
  recent = nullptr;
  atomics.clear();
  atomicBlocks.clear();
}

} // namespace tenon::sim
