//===- KernelTable.h - kernels by text, read without locks ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUNTIME_DISPATCH_KERNELTABLE_H
#define TENON_RUNTIME_DISPATCH_KERNELTABLE_H

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::runtime {

struct Kernel;

/// From the texts that callers use to kernels. Lookups take no lock and may run
/// while one thread inserts; nothing is ever removed.
class KernelTable {
public:
  KernelTable();

  /// Null when the texts were not inserted.
  Kernel *find(std::string_view op, std::string_view statics) const;

  /// One thread at a time. The texts must not be there yet.
  void insert(std::string_view op, std::string_view statics, Kernel *kernel);

private:
  struct Entry {
    uint64_t hash;
    std::string op;
    std::string statics;
    Kernel *kernel;
  };
  /// Open addressing; at most half of the slots are taken.
  struct Slots {
    explicit Slots(size_t count)
        : mask(count - 1), slots(new std::atomic<const Entry *>[count] {}) {}
    size_t mask;
    std::unique_ptr<std::atomic<const Entry *>[]> slots;

    void put(const Entry *entry);
  };

  std::vector<std::unique_ptr<Entry>> entries;
  /// Readers may still be in an array that has been outgrown, so all are kept:
  /// together they are no larger than the last one.
  std::vector<std::unique_ptr<Slots>> arrays;
  std::atomic<const Slots *> current;
};

} // namespace tenon::runtime

#endif // TENON_RUNTIME_DISPATCH_KERNELTABLE_H
