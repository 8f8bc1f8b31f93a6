//===- MemoryView.h - memory as one workgroup sees it -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_MEMORYVIEW_H
#define TENON_LIB_SIM_MEMORYVIEW_H

#include "tenon/Sim/Memory.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <cstring>
#include <deque>

namespace tenon::sim {

struct Wave;

/// An atomic that takes place at the end of the quantum.
struct PendingAtomic {
  /// The new value of a cell, given the old one, the data and, for
  /// compare-and-swap, the value to compare with.
  using Update = uint64_t (*)(uint64_t old, uint64_t data, uint64_t compare);
  /// Where the old value goes.
  enum class Result : uint8_t { None, Vector, Scalar };

  uint64_t address = 0;
  uint64_t data = 0, compare = 0;
  Update update = nullptr;
  Wave *wave = nullptr; ///< that issued it
  uint16_t reg = 0;     ///< first row or scalar register of the result
  uint8_t lane = 0;
  uint8_t bytes = 4; ///< 4 or 8
  Result result = Result::None;
};

/// Device memory with the stores of one workgroup that no other one sees yet.
///
/// Resident workgroups run in quanta. During a quantum the memory itself does
/// not change: stores go to copies of blocks of 256 bytes that only this view
/// reads, atomics are put aside. `publish` carries both out; it is called for
/// the views in a defined order while nothing runs. So what a workgroup reads
/// does not depend on how host threads share the work.
class MemoryView {
public:
  static constexpr unsigned blockBytes = 256;

  explicit MemoryView(Memory &memory) : memory(memory) {}

  /// Contiguous bytes around an address, for reading.
  Memory::Window window(uint64_t address) {
    return blocks.empty() ? memory.window(address, /*forWrite=*/false)
                          : narrowWindow(address);
  }

  /// Host address of bytes to read; null unless they lie in one page. Own
  /// stores are put together in `buffer`, which has room for `bytes`.
  const uint8_t *read(uint64_t address, uint64_t bytes, uint8_t *buffer) {
    const uint8_t *host = memory.translate(address, bytes, /*forWrite=*/false);
    return blocks.empty() || !host ? host
                                   : readMixed(address, bytes, host, buffer);
  }

  /// Copies bytes into the view; false when one of them is outside every
  /// allocation. Bytes before it may have been written.
  bool write(uint64_t address, const uint8_t *from, uint64_t bytes) {
    while (bytes) {
      uint64_t offset = address % blockBytes;
      uint64_t size = std::min<uint64_t>(bytes, blockBytes - offset);
      Block *block = blockForWrite(address);
      if (!block || offset + size > block->valid) {
        return false;
      }
      std::memcpy(block->bytes + offset, from, size);
      block->mark(unsigned(offset), unsigned(size));
      address += size;
      from += size;
      bytes -= size;
    }
    return true;
  }

  /// Whether bytes lie inside one allocation.
  bool isAllocated(uint64_t address, uint64_t bytes);
  /// The same without making pages of what was never touched.
  bool isInAllocation(uint64_t address, uint64_t bytes) const {
    auto [base, size] = memory.allocationOf(address);
    return bytes <= size && address - base <= size - bytes;
  }

  /// One byte for each byte of memory, which lie in one block: not zero when
  /// it is undefined. Null when all of the allocation is defined.
  const uint8_t *undefinedBytes(uint64_t address, uint64_t bytes);
  /// The same for bytes that this workgroup is about to write.
  uint8_t *undefinedBytesToWrite(uint64_t address, uint64_t bytes);

  /// Puts an atomic aside. Its address is allocated and aligned.
  void postpone(const PendingAtomic &atomic) {
    atomics.push_back(atomic);
    atomicBlocks.insert(atomic.address / blockBytes);
  }
  bool hasAtomics() const { return !atomics.empty(); }
  /// Whether an atomic that was put aside may change one of these bytes: an
  /// access behind it has to wait for the end of the quantum.
  bool isAwaited(uint64_t address, uint64_t bytes) const {
    return atomicBlocks.contains(address / blockBytes) ||
           atomicBlocks.contains((address + bytes - 1) / blockBytes);
  }

  std::string describe(uint64_t address) const {
    return memory.describe(address);
  }

  /// Carries out the stores, then the atomics in the order of their issue.
  void publish();

private:
  struct Block {
    uint64_t number = 0;
    uint64_t written[blockBytes / 64] = {};
    unsigned valid = 0; ///< bytes that belong to the allocation
    bool hasUndefined = false;
    uint8_t undefined[blockBytes];
    alignas(64) uint8_t bytes[blockBytes];

    void mark(unsigned offset, unsigned size) {
      while (size) {
        unsigned bit = offset % 64;
        unsigned count = std::min(size, 64 - bit);
        written[offset / 64] |= (~uint64_t(0) >> (64 - count)) << bit;
        offset += count;
        size -= count;
      }
    }
  };

  Block *find(uint64_t number) const {
    if (recent && recent->number == number) {
      return recent;
    }
    auto found = blocks.find(number);
    return found == blocks.end() ? nullptr : found->second;
  }
  /// The copy of the block around an address; null outside every allocation.
  Block *blockForWrite(uint64_t address) {
    uint64_t number = address / blockBytes;
    return recent && recent->number == number ? recent : makeBlock(number);
  }
  Block *makeBlock(uint64_t number);
  Memory::Window narrowWindow(uint64_t address);
  const uint8_t *readMixed(uint64_t address, uint64_t bytes,
                           const uint8_t *host, uint8_t *buffer);
  void apply(const PendingAtomic &atomic);

  Memory &memory;
  llvm::DenseMap<uint64_t, Block *> blocks; ///< by address / blockBytes
  std::deque<Block> storage;                ///< `used` of them are in `blocks`
  size_t used = 0;
  Block *recent = nullptr;
  std::vector<PendingAtomic> atomics;
  llvm::DenseSet<uint64_t> atomicBlocks;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_MEMORYVIEW_H
