//===- Memory.cpp - sparse device memory of the simulator -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Sim/Memory.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace llvm;

namespace tenon::sim {

static constexpr uint64_t slotBytes = uint64_t(1) << 32;
static constexpr uint64_t alignment = 256;

Memory::Memory() : slots(new std::atomic<Allocation *>[slotCount] {}) {}

Memory::~Memory() = default;

Memory::Allocation::~Allocation() {
  for (uint64_t i = 0; i < pageCount; ++i) {
    delete pages[i].load(std::memory_order_relaxed);
  }
  std::free(pages);
}

Expected<uint64_t> Memory::allocate(uint64_t bytes, AllocOptions options) {
  bytes = std::max<uint64_t>(bytes, 1);
  // The boundary of 4 GiB that the allocation crosses lies in its middle, but
  // at an odd multiple of 256, so no base has an alignment beyond 256.
  uint64_t below = (bytes / 2 / alignment * alignment) | alignment;
  uint64_t slotsBelow = (below + pageBytes + slotBytes - 1) / slotBytes;
  uint64_t above = bytes > below ? bytes - below : 0;
  uint64_t slotsAbove = (above + pageBytes + slotBytes - 1) / slotBytes;
  uint64_t wanted = slotsBelow + slotsAbove;

  std::lock_guard<std::mutex> guard(lock);
  // Slot 0 stays empty: small integers are not addresses.
  uint64_t first = 1, run = 0;
  for (uint64_t slot = 1; slot < slotCount && run < wanted; ++slot) {
    if (slots[slot].load(std::memory_order_relaxed)) {
      first = slot + 1;
      run = 0;
    } else {
      ++run;
    }
  }
  if (run < wanted) {
    return createStringError(
        formatv("device memory: no address space left for {0} bytes ('{1}')",
                bytes, options.name)
            .str());
  }
  auto allocation = std::make_unique<Allocation>();
  allocation->bytes = bytes;
  allocation->firstSlot = first;
  allocation->slots = wanted;
  allocation->base = (first + slotsBelow) * slotBytes - below;
  allocation->pageCount = (bytes + pageBytes - 1) / pageBytes;
  // The table of a large pool is itself left to the host's lazy zero pages;
  // zero bytes are null pointers of a lock-free atomic.
  allocation->pages = static_cast<std::atomic<Page *> *>(
      std::calloc(allocation->pageCount, sizeof(std::atomic<Page *>)));
  if (!allocation->pages) {
    allocation->pageCount = 0;
    return createStringError(
        formatv("device memory: the host cannot hold the page table of {0} "
                "bytes ('{1}')",
                bytes, options.name)
            .str());
  }
  allocation->options = std::move(options);
  for (uint64_t i = 0; i < wanted; ++i) {
    slots[first + i].store(allocation.get(), std::memory_order_release);
  }
  allocations.push_back(std::move(allocation));
  return allocations.back()->base;
}

Memory::Allocation *Memory::findBase(uint64_t base) const {
  uint64_t slot = base >> slotShift;
  if (slot >= slotCount) {
    return nullptr;
  }
  Allocation *allocation = slots[slot].load(std::memory_order_acquire);
  return allocation && allocation->base == base ? allocation : nullptr;
}

static Error notABase(uint64_t base) {
  return createStringError(
      formatv("device memory: no allocation starts at {0:x}", base).str());
}

Error Memory::free(uint64_t base) {
  std::lock_guard<std::mutex> guard(lock);
  Allocation *allocation = findBase(base);
  if (!allocation) {
    return notABase(base);
  }
  for (uint64_t i = 0; i < allocation->slots; ++i) {
    slots[allocation->firstSlot + i].store(nullptr, std::memory_order_release);
  }
  erase_if(allocations, [&](const std::unique_ptr<Allocation> &held) {
    return held.get() == allocation;
  });
  return Error::success();
}

Memory::Page *Memory::materialise(Allocation &allocation, uint64_t index) {
  // One lock per allocation, so that `fill` runs exactly once for a page.
  std::lock_guard<std::mutex> guard(allocation.lock);
  Page *page = allocation.pages[index].load(std::memory_order_relaxed);
  if (page) {
    return page;
  }
  page = new Page();
  if (allocation.options.host) {
    page->bytes = allocation.options.host + index * pageBytes;
    allocation.pages[index].store(page, std::memory_order_release);
    return page;
  }
  page->storage = std::make_unique<Storage>();
  page->bytes = page->storage->bytes;
  if (allocation.options.undefined) {
    std::memset(page->bytes, 0xA5, pageBytes);
    page->undefined = std::make_unique<uint8_t[]>(pageBytes);
    std::memset(page->undefined.get(), 1, pageBytes);
  }
  if (allocation.options.fill) {
    uint64_t offset = index * pageBytes;
    allocation.options.fill(
        offset,
        {page->bytes, size_t(std::min(pageBytes, allocation.bytes - offset))});
  }
  allocation.pages[index].store(page, std::memory_order_release);
  return page;
}

Error Memory::copy(
    uint64_t address, uint64_t bytes, bool forWrite,
    function_ref<void(uint8_t *device, uint64_t done, uint64_t size)> chunk) {
  for (uint64_t done = 0; done < bytes;) {
    Window page = window(address + done, forWrite);
    if (!page.host) {
      return createStringError(
          formatv("device memory: {0} of {1} bytes at {2:x} is outside every "
                  "allocation: {3}",
                  forWrite ? "write" : "read", bytes, address,
                  describe(address + done))
              .str());
    }
    uint64_t size = std::min(bytes - done, page.end - (address + done));
    uint8_t *device = page.at(address + done, size);
    chunk(device, done, size);
    done += size;
  }
  return Error::success();
}

Error Memory::read(uint64_t address, MutableArrayRef<uint8_t> to) {
  return copy(address, to.size(), /*forWrite=*/false,
              [&](uint8_t *device, uint64_t done, uint64_t size) {
                std::memcpy(to.data() + done, device, size);
              });
}

Error Memory::write(uint64_t address, ArrayRef<uint8_t> from) {
  return copy(address, from.size(), /*forWrite=*/true,
              [&](uint8_t *device, uint64_t done, uint64_t size) {
                if (uint8_t *shadow = undefinedBytes(address + done, size)) {
                  std::memset(shadow, 0, size);
                }
                std::memcpy(device, from.data() + done, size);
              });
}

Error Memory::forEachMaterialisedPage(
    uint64_t base,
    function_ref<void(uint64_t, ArrayRef<uint8_t>, bool)> visit) {
  Allocation *allocation = findBase(base);
  if (!allocation) {
    return notABase(base);
  }
  for (uint64_t i = 0; i < allocation->pageCount; ++i) {
    Page *page = allocation->pages[i].load(std::memory_order_acquire);
    if (!page) {
      continue;
    }
    uint64_t offset = i * pageBytes;
    visit(
        offset,
        {page->bytes, size_t(std::min(pageBytes, allocation->bytes - offset))},
        page->written.load(std::memory_order_relaxed));
  }
  return Error::success();
}

Error Memory::clearWritten(uint64_t base) {
  Allocation *allocation = findBase(base);
  if (!allocation) {
    return notABase(base);
  }
  for (uint64_t i = 0; i < allocation->pageCount; ++i) {
    if (Page *page = allocation->pages[i].load(std::memory_order_acquire)) {
      page->written.store(false, std::memory_order_relaxed);
    }
  }
  return Error::success();
}

uint8_t *Memory::undefinedBytes(uint64_t address, uint64_t bytes) {
  uint64_t slot = address >> slotShift;
  Allocation *allocation =
      slot < slotCount ? slots[slot].load(std::memory_order_acquire) : nullptr;
  if (!allocation || !allocation->options.undefined) {
    return nullptr;
  }
  Window page = window(address, /*forWrite=*/false);
  if (!page.at(address, bytes)) {
    return nullptr;
  }
  uint64_t index = (address - allocation->base) / pageBytes;
  return allocation->pages[index].load()->undefined.get() +
         (address - page.begin);
}

std::pair<uint64_t, uint64_t> Memory::allocationOf(uint64_t address) const {
  uint64_t slot = address >> slotShift;
  const Allocation *allocation =
      slot < slotCount ? slots[slot].load(std::memory_order_acquire) : nullptr;
  if (!allocation || address - allocation->base >= allocation->bytes) {
    return {0, 0};
  }
  return {allocation->base, allocation->bytes};
}

void Memory::forEachAllocation(
    function_ref<void(uint64_t, uint64_t)> visit) const {
  std::lock_guard<std::mutex> guard(lock);
  for (const std::unique_ptr<Allocation> &held : allocations) {
    visit(held->base, held->bytes);
  }
}

std::string Memory::describe(uint64_t address) const {
  std::lock_guard<std::mutex> guard(lock);
  const Allocation *before = nullptr, *after = nullptr;
  for (const std::unique_ptr<Allocation> &held : allocations) {
    if (held->base <= address) {
      if (!before || held->base > before->base) {
        before = held.get();
      }
    } else if (!after || held->base < after->base) {
      after = held.get();
    }
  }
  auto nameOf = [](const Allocation &allocation) {
    return formatv("'{0}' [{1:x}, +{2})", allocation.options.name,
                   allocation.base, allocation.bytes)
        .str();
  };
  if (before && address - before->base < before->bytes) {
    return formatv("{0:x} is byte {1} of {2}", address, address - before->base,
                   nameOf(*before))
        .str();
  }
  std::string text = formatv("{0:x}", address).str();
  if (before) {
    text += formatv(" is {0} bytes past the end of {1}",
                    address - before->base - before->bytes, nameOf(*before))
                .str();
  }
  if (after) {
    text += formatv("{0} {1} bytes before {2}", before ? "," : " is",
                    after->base - address, nameOf(*after))
                .str();
  }
  return before || after ? text : text + ", and nothing is allocated";
}

} // namespace tenon::sim
