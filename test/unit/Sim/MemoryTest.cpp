//===- MemoryTest.cpp - sparse device memory --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Sim/Memory.h"

#include <gtest/gtest.h>

#include <thread>

using namespace llvm;
using namespace tenon::sim;

namespace {

std::vector<uint8_t> bytes(size_t count, uint8_t first) {
  std::vector<uint8_t> result(count);
  for (size_t i = 0; i < count; ++i) {
    result[i] = uint8_t(first + i);
  }
  return result;
}

TEST(SimMemory, ReadsWhatWasWrittenAcrossPages) {
  Memory memory;
  uint64_t base = cantFail(memory.allocate(1 << 20, {"block", {}}));
  uint64_t address = base + Memory::pageBytes - 100;
  std::vector<uint8_t> data = bytes(300, 3), back(300);
  cantFail(memory.write(address, data));
  cantFail(memory.read(address, back));
  EXPECT_EQ(back, data);
}

TEST(SimMemory, BoundsAreThoseOfTheAllocationToTheByte) {
  Memory memory;
  uint64_t base = cantFail(memory.allocate(1001, {"odd", {}}));
  std::vector<uint8_t> one(1), two(2);
  cantFail(memory.read(base + 1000, one));
  Error error = memory.read(base + 1000, two);
  ASSERT_TRUE(bool(error));
  std::string text = toString(std::move(error));
  EXPECT_NE(text.find("0 bytes past the end of 'odd'"), std::string::npos)
      << text;
  Error below = memory.read(base - 1, one);
  EXPECT_TRUE(bool(below));
  consumeError(std::move(below));
}

TEST(SimMemory, AddressesFindFaults) {
  Memory memory;
  for (uint64_t size : {1ull, 256ull, 5000ull, 3ull << 32}) {
    uint64_t base = cantFail(memory.allocate(size, {}));
    EXPECT_EQ(base % 256, 0u);
    EXPECT_NE(base % 512, 0u) << "no more alignment than promised";
    if (size > 512) {
      EXPECT_NE(base >> 32, (base + size - 1) >> 32)
          << "crosses a multiple of 4 GiB";
    }
  }
}

TEST(SimMemory, HugePoolsCostTouchedPagesOnly) {
  Memory memory;
  uint64_t size = 300ull << 30;
  unsigned fills = 0;
  uint64_t base = cantFail(memory.allocate(
      size, {"pool", [&](uint64_t offset, MutableArrayRef<uint8_t> page) {
               ++fills;
               std::memset(page.data(), int(offset / Memory::pageBytes % 251),
                           page.size());
             }}));
  std::vector<uint8_t> byte(1);
  uint64_t page = 2000003;
  cantFail(memory.read(base + page * Memory::pageBytes + 7, byte));
  EXPECT_EQ(byte[0], page % 251);
  cantFail(memory.read(base + page * Memory::pageBytes + 9, byte));
  cantFail(memory.write(base + size - 1, byte));
  EXPECT_EQ(fills, 2u);
  std::vector<std::pair<uint64_t, bool>> seen;
  cantFail(memory.forEachMaterialisedPage(
      base, [&](uint64_t offset, ArrayRef<uint8_t> data, bool written) {
        EXPECT_EQ(data.size(), Memory::pageBytes);
        seen.push_back({offset, written});
      }));
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0], std::make_pair(page * Memory::pageBytes, false));
  EXPECT_EQ(seen[1].second, true);
  cantFail(memory.clearWritten(base));
  cantFail(memory.forEachMaterialisedPage(
      base, [&](uint64_t, ArrayRef<uint8_t>, bool written) {
        EXPECT_FALSE(written);
      }));
}

TEST(SimMemory, FreedMemoryIsGone) {
  Memory memory;
  uint64_t base = cantFail(memory.allocate(100, {"short-lived", {}}));
  cantFail(memory.free(base));
  std::vector<uint8_t> one(1);
  Error error = memory.read(base, one);
  EXPECT_TRUE(bool(error));
  consumeError(std::move(error));
  Error again = memory.free(base);
  EXPECT_TRUE(bool(again));
  consumeError(std::move(again));
}

TEST(SimMemory, PagesAreFilledOnceUnderContention) {
  Memory memory;
  std::atomic<unsigned> fills = 0;
  uint64_t base = cantFail(
      memory.allocate(64 * Memory::pageBytes,
                      {"shared", [&](uint64_t, MutableArrayRef<uint8_t> page) {
                         ++fills;
                         page[5] = 42;
                       }}));
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong = 0;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (unsigned page = 0; page < 64; ++page) {
        uint8_t *host =
            memory.translate(base + page * Memory::pageBytes + 5, 1, false);
        wrong += !host || *host != 42;
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_EQ(fills, 64u);
  EXPECT_EQ(wrong, 0u);
}

// Memory of the host as device memory: the same bytes, bounded to the byte,
// across a multiple of 4 GiB.
TEST(SimMemory, HostMemoryIsMapped) {
  Memory memory;
  std::vector<uint8_t> host(3 * Memory::pageBytes + 1000);
  AllocOptions options;
  options.name = "array";
  options.host = reinterpret_cast<uint8_t *>(
      (reinterpret_cast<uintptr_t>(host.data()) + 255) / 256 * 256);
  uint64_t bytes = 3 * Memory::pageBytes + 99;
  uint64_t base = cantFail(memory.allocate(bytes, options));
  EXPECT_NE(base >> 32, (base + bytes - 1) >> 32);
  options.host[2 * Memory::pageBytes + 3] = 77;
  EXPECT_EQ(*memory.translate(base + 2 * Memory::pageBytes + 3, 1, false), 77);
  *memory.translate(base + bytes - 1, 1, true) = 42;
  EXPECT_EQ(options.host[bytes - 1], 42);
  EXPECT_EQ(memory.translate(base + bytes, 1, true), nullptr);
  EXPECT_EQ(memory.translate(base - 1, 1, false), nullptr);
  EXPECT_EQ(memory.undefinedBytes(base, 1), nullptr);
  cantFail(memory.free(base));
  EXPECT_EQ(options.host[bytes - 1], 42);
}

} // namespace
