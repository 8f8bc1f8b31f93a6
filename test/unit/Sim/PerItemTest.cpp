//===- PerItemTest.cpp - programs against themselves on the host -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The programs of PerItem.h, compiled by clang for both processors at several
// levels of optimisation and for the host, have to give the same bits
// everywhere, and no check may find anything in them.
//
//===----------------------------------------------------------------------===//

#include "programs/PerItem.h"
#include "Programs.h"

#include <random>

using namespace llvm;
using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

struct Program {
  const char *name;
  u64 (*onHost)(u32, const u64 *);
};

const Program programs[] = {
#define LIST_PROGRAM(name) {#name, name},
    PER_ITEM_PROGRAMS(LIST_PROGRAM)
#undef LIST_PROGRAM
};

/// Random words, and those that end ranges.
std::vector<u64> makeTable() {
  std::vector<u64> table = {0,
                            1,
                            ~0ul,
                            1ul << 63,
                            (1ul << 63) - 1,
                            0x7F8000007F800000, // infinities
                            0xFF8000017FC00000, // NaNs
                            0x0000000100000001,
                            0x8000000080000000,
                            0x7FF0000000000000,
                            0x00007C000000FC00,
                            0xFFFFFFFF00000000};
  std::mt19937_64 random(2026);
  while (table.size() < TABLE_SIZE) {
    u64 word = random();
    table.push_back(random() % 4 ? word : word >> (random() % 64));
  }
  return table;
}

class PerItem
    : public ::testing::TestWithParam<std::tuple<Program, const char *>> {};

TEST_P(PerItem, AgreesWithTheHost) {
  auto [program, variant] = GetParam();
  std::shared_ptr<const CodeObject> object =
      loadProgram(std::string("PerItem.") + variant);
  ASSERT_NE(object, nullptr);
  const Kernel *kernel =
      object->findKernel(std::string(program.name) + "Kernel");
  ASSERT_NE(kernel, nullptr);
  // The last workgroup's wave is full, so is the table's coverage.
  const unsigned items = 192;
  static const std::vector<u64> table = makeTable();
  Device device;
  LaunchConfig config;
  config.grid = {3, 1, 1};
  config.block = {64, 1, 1};
  uint64_t out = cantFail(device.memory().allocate(8 * items, {"out", {}}));
  uint64_t in = cantFail(device.memory().allocate(8 * TABLE_SIZE, {"in", {}}));
  cantFail(device.memory().write(
      in, ArrayRef(reinterpret_cast<const uint8_t *>(table.data()),
                   8 * TABLE_SIZE)));
  config.setArg(0, out);
  config.setArg(8, in);
  Expected<LaunchResult> result = device.launch(*kernel, config);
  ASSERT_TRUE(bool(result)) << toString(result.takeError());
  for (const Finding &finding : result->findings) {
    ADD_FAILURE() << formatFinding(finding);
  }
  std::vector<u64> values(items);
  cantFail(device.memory().read(
      out,
      MutableArrayRef(reinterpret_cast<uint8_t *>(values.data()), 8 * items)));
  for (unsigned i = 0; i < items; ++i) {
    ASSERT_EQ(values[i], program.onHost(i, table.data())) << "item " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Clang, PerItem,
    ::testing::Combine(::testing::ValuesIn(programs),
                       ::testing::ValuesIn(programVariants)),
    [](const auto &info) {
      std::string name = std::string(std::get<0>(info.param).name) + "_" +
                         std::get<1>(info.param);
      std::replace(name.begin(), name.end(), '.', '_');
      return name;
    });

} // namespace
