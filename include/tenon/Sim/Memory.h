//===- Memory.h - sparse device memory of the simulator ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_SIM_MEMORY_H
#define TENON_SIM_MEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tenon::sim {

/// How an allocation is named in messages and what its pages hold at first.
struct AllocOptions {
  /// Shown in error messages about addresses in or near the allocation.
  std::string name;
  /// Called once for each page on its first touch, with the page's offset in
  /// the allocation and its bytes (zeroed). Empty: the page stays zero. It may
  /// be called from any simulator thread, for different pages at a time.
  std::function<void(uint64_t offset, llvm::MutableArrayRef<uint8_t> page)>
      fill;
  /// What is not written is undefined: checked launches find its uses. The
  /// bytes themselves are a pattern (0xA5) unless there is a `fill`.
  bool undefined = false;
  /// Not null: the allocation is this memory of the host, which begins at a
  /// multiple of 256 and outlives it; `fill` and `undefined` do not go with it.
  uint8_t *host = nullptr;
};

/// Device memory with 64-bit virtual addresses. Pages come into being on their
/// first touch, so an allocation of hundreds of GiB costs what is used of it.
///
/// Addresses are chosen to find faults: an allocation is aligned to 256 bytes
/// and to no more, every allocation crosses a multiple of 4 GiB in its middle
/// (a missing carry between address halves shows), and at least 64 KiB on both
/// sides belong to nothing. Accesses are checked to the byte.
///
/// All functions may be called from several threads, except that `free` must
/// not run while anything uses the allocation.
class Memory {
public:
  /// Unit of materialisation, counted from the start of the allocation.
  static constexpr uint64_t pageBytes = 64 * 1024;

  Memory();
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Reserves `bytes` (0 is treated as 1) and returns the first address.
  llvm::Expected<uint64_t> allocate(uint64_t bytes, AllocOptions options = {});

  /// Releases the allocation that starts at `base`.
  llvm::Error free(uint64_t base);

  /// Copies memory to the host.
  llvm::Error read(uint64_t address, llvm::MutableArrayRef<uint8_t> to);

  /// Copies from the host. Marks the pages as written.
  llvm::Error write(uint64_t address, llvm::ArrayRef<uint8_t> from);

  /// Visits the pages of the allocation at `base` that were ever touched, in
  /// order. The last page may be short. `written` tells whether the page was
  /// written since it came into being or since `clearWritten`.
  llvm::Error forEachMaterialisedPage(
      uint64_t base,
      llvm::function_ref<void(uint64_t offset, llvm::ArrayRef<uint8_t> bytes,
                              bool written)>
          visit);

  /// Forgets which pages of the allocation at `base` were written.
  llvm::Error clearWritten(uint64_t base);

  /// Device addresses that are contiguous on the host.
  struct Window {
    uint64_t begin = 0;
    uint64_t end = 0; ///< exclusive; 0 for an address outside all allocations
    uint8_t *host = nullptr; ///< of `begin`

    /// Host address of `bytes` bytes, or null when they are not all inside.
    uint8_t *at(uint64_t address, uint64_t bytes) const {
      return address >= begin && address < end && bytes <= end - address
                 ? host + (address - begin)
                 : nullptr;
    }
  };

  /// The page around an address, as far as it belongs to the allocation.
  Window window(uint64_t address, bool forWrite) {
    uint64_t slot = address >> slotShift;
    if (slot >= slotCount) {
      return {};
    }
    Allocation *allocation = slots[slot].load(std::memory_order_acquire);
    if (!allocation) {
      return {};
    }
    uint64_t offset = address - allocation->base;
    // An address below the base wraps to a huge offset.
    if (offset >= allocation->bytes) {
      return {};
    }
    uint64_t index = offset / pageBytes;
    Page *page = allocation->pages[index].load(std::memory_order_acquire);
    if (!page) {
      page = materialise(*allocation, index);
    }
    if (forWrite && !page->written.load(std::memory_order_relaxed)) {
      page->written.store(true, std::memory_order_relaxed);
    }
    uint64_t left = allocation->bytes - index * pageBytes;
    uint64_t begin = allocation->base + index * pageBytes;
    return {begin, begin + (left < pageBytes ? left : pageBytes), page->bytes};
  }

  /// Host address of device bytes that lie in one page of one allocation; null
  /// when they do not (the caller then goes byte by byte or reports
  /// `describe`).
  uint8_t *translate(uint64_t address, uint64_t bytes, bool forWrite) {
    return window(address, forWrite).at(address, bytes);
  }

  /// One byte for each of the device bytes, which lie in one page: not zero
  /// when the byte is undefined. Null when all of the allocation is defined.
  uint8_t *undefinedBytes(uint64_t address, uint64_t bytes);

  /// Base and size of the allocation that holds an address; zeros when none
  /// does.
  std::pair<uint64_t, uint64_t> allocationOf(uint64_t address) const;

  /// Visits base and size of every allocation, in the order of their making.
  void forEachAllocation(
      llvm::function_ref<void(uint64_t base, uint64_t bytes)> visit) const;

  /// Where an address lies, for messages: the allocation that holds it, or the
  /// nearest ones.
  std::string describe(uint64_t address) const;

private:
  static constexpr unsigned slotShift = 32;
  static constexpr uint64_t slotCount = 1 << 16;

  struct Storage {
    alignas(64) uint8_t bytes[pageBytes];
  };

  struct Page {
    uint8_t *bytes = nullptr;
    std::atomic<bool> written = false;
    std::unique_ptr<uint8_t[]> undefined; ///< as undefinedBytes gives it
    std::unique_ptr<Storage> storage;     ///< unless it is the host's memory
  };

  struct Allocation {
    uint64_t base = 0;
    uint64_t bytes = 0;
    uint64_t firstSlot = 0;
    uint64_t slots = 0;
    uint64_t pageCount = 0;
    std::atomic<Page *> *pages = nullptr;
    std::mutex lock;
    AllocOptions options;

    ~Allocation();
  };

  Page *materialise(Allocation &allocation, uint64_t index);
  Allocation *findBase(uint64_t base) const;
  llvm::Error
  copy(uint64_t address, uint64_t bytes, bool forWrite,
       llvm::function_ref<void(uint8_t *device, uint64_t done, uint64_t size)>
           chunk);

  /// The allocation that uses each 4 GiB of the address space; an allocation
  /// uses at least two, and two allocations never share one.
  std::unique_ptr<std::atomic<Allocation *>[]> slots;
  mutable std::mutex lock;
  std::vector<std::unique_ptr<Allocation>> allocations;
};

} // namespace tenon::sim

#endif // TENON_SIM_MEMORY_H
