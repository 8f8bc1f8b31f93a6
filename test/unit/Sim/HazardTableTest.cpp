//===- HazardTableTest.cpp - wait states against LLVM's ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tools/testing/hazards.py lets LLVM put wait states between thousands of pairs
// of instructions; the check must ask for the same number for each.
//
//===----------------------------------------------------------------------===//

#include "lib/Sim/CheckHazard.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tenon::sim;

namespace {

class SimHazardTable : public ::testing::TestWithParam<const char *> {};

/// The least number of wait states between two instructions without a finding.
unsigned statesNeeded(StringRef first, StringRef second, Processor processor) {
  for (unsigned states = 0; states < 32; ++states) {
    std::vector<std::string> texts = {first.str(), second.str()};
    texts.insert(texts.begin() + 1, states, "s_nop 0");
    CheckProgram program(texts, processor);
    HazardState state;
    state.reset(program);
    bool found = false;
    HazardFinding finding;
    for (uint32_t i = 0; i < texts.size(); ++i) {
      found |= state.issue(i, finding);
    }
    if (!found) {
      return states;
    }
  }
  return 32;
}

/// With fewer wait states there is a finding, with as many there is none.
TEST_P(SimHazardTable, AsksForTheWaitStatesOfLlvm) {
  Processor processor =
      GetParam() == StringRef("gfx942") ? Processor::Gfx942 : Processor::Gfx950;
  std::string path =
      std::string(TENON_SIM_PROGRAMS "/hazards.") + GetParam() + ".txt";
  auto table = MemoryBuffer::getFile(path);
  ASSERT_TRUE(bool(table)) << path << ": " << table.getError().message();
  unsigned pairs = 0, differences = 0;
  for (StringRef line : split((*table)->getBuffer().trim(), '\n')) {
    SmallVector<StringRef, 3> parts;
    line.split(parts, '\t');
    ASSERT_EQ(parts.size(), 3u) << line.str();
    unsigned expected = 0;
    ASSERT_FALSE(parts[0].getAsInteger(10, expected)) << line.str();
    unsigned needed = statesNeeded(parts[1], parts[2], processor);
    ++pairs;
    if (needed != expected && ++differences <= 40) {
      ADD_FAILURE() << needed << " instead of " << expected << ": "
                    << parts[1].str() << " | " << parts[2].str();
    }
  }
  EXPECT_EQ(differences, 0u);
  EXPECT_GT(pairs, 4000u);
}

INSTANTIATE_TEST_SUITE_P(Chips, SimHazardTable,
                         ::testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return info.param; });

} // namespace
