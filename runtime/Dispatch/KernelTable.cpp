//===- KernelTable.cpp - kernels by text, read without locks ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelTable.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace tenon::runtime {

static uint64_t hashOf(std::string_view op, std::string_view statics) {
  return XXH3_64bits_withSeed(statics.data(), statics.size(),
                              XXH3_64bits(op.data(), op.size()));
}

KernelTable::KernelTable() {
  arrays.push_back(std::make_unique<Slots>(64));
  current.store(arrays.back().get(), std::memory_order_release);
}

Kernel *KernelTable::find(std::string_view op, std::string_view statics) const {
  uint64_t hash = hashOf(op, statics);
  const Slots *array = current.load(std::memory_order_acquire);
  for (uint64_t at = hash;; ++at) {
    const Entry *entry =
        array->slots[at & array->mask].load(std::memory_order_acquire);
    if (!entry) {
      return nullptr;
    }
    if (entry->hash == hash && entry->op == op && entry->statics == statics) {
      return entry->kernel;
    }
  }
}

void KernelTable::Slots::put(const Entry *entry) {
  uint64_t at = entry->hash;
  while (slots[at & mask].load(std::memory_order_relaxed)) {
    ++at;
  }
  slots[at & mask].store(entry, std::memory_order_release);
}

void KernelTable::insert(std::string_view op, std::string_view statics,
                         Kernel *kernel) {
  entries.push_back(std::make_unique<Entry>(Entry{
      hashOf(op, statics), std::string(op), std::string(statics), kernel}));
  Slots *array = arrays.back().get();
  if (2 * entries.size() <= array->mask + 1) {
    array->put(entries.back().get());
    return;
  }
  auto larger = std::make_unique<Slots>(2 * (array->mask + 1));
  for (const std::unique_ptr<Entry> &entry : entries) {
    larger->put(entry.get());
  }
  current.store(larger.get(), std::memory_order_release);
  arrays.push_back(std::move(larger));
}

} // namespace tenon::runtime
