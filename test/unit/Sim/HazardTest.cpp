//===- HazardTest.cpp - wait states against LLVM's --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tools/testing/hazards.py lets LLVM put wait states between thousands of pairs
// of instructions; the check must ask for the same number for each. In whole
// kernels it must find nothing as clang compiled them, and something as soon as
// a wait state is missing.
//
//===----------------------------------------------------------------------===//

#include "Assembler.h"

#include "lib/Sim/CheckHazard.h"
#include "lib/Sim/Program.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

#include <set>

using namespace llvm;
using namespace tenon::sim;

namespace {

class SimHazardTable : public ::testing::TestWithParam<const char *> {};

/// What straight code of one wave gives, "" without findings.
std::string findingIn(const std::vector<std::string> &texts,
                      Processor processor) {
  CheckProgram program(texts, processor);
  HazardState state;
  state.reset(program);
  HazardFinding finding;
  for (uint32_t i = 0; i < texts.size(); ++i) {
    if (state.issue(i, finding)) {
      return texts[i] + ": " + finding.message;
    }
  }
  return "";
}

/// The least number of wait states between two instructions without a finding.
unsigned statesNeeded(StringRef first, StringRef second, Processor processor) {
  for (unsigned states = 0; states < 32; ++states) {
    std::vector<std::string> texts = {first.str(), second.str()};
    texts.insert(texts.begin() + 1, states, "s_nop 0");
    if (findingIn(texts, processor).empty()) {
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

struct Compiled {
  const char *chip, *level;
};

class SimHazardKernels : public ::testing::TestWithParam<Compiled> {
protected:
  void SetUp() override {
    std::string path = std::string(TENON_SIM_PROGRAMS "/Hazards.") +
                       GetParam().chip + "." + GetParam().level + ".co";
    auto buffer = MemoryBuffer::getFile(path);
    ASSERT_TRUE(bool(buffer)) << path << ": " << buffer.getError().message();
    StringRef bytes = (*buffer)->getBuffer();
    std::shared_ptr<const CodeObject> object = test::loadObject(
        ArrayRef<uint8_t>(bytes.bytes_begin(), bytes.bytes_end()));
    ASSERT_NE(object, nullptr);
    processor = object->program().processor();
    kernels.emplace_back();
    for (size_t i = 0; i < object->program().recordCount(); ++i) {
      const Instr &instr = object->program().records()[i];
      if (!instr.bytes) {
        continue;
      }
      kernels.back().push_back(object->program().text(instr));
      if (kernels.back().back() == "s_endpgm") {
        kernels.emplace_back();
      }
    }
    kernels.pop_back(); // padding
  }

  Processor processor = Processor::Gfx950;
  std::vector<std::vector<std::string>> kernels;
};

/// Without -O0, where LLVM pads its spills of scalar pairs for no hazard.
class SimHazardOptimised : public SimHazardKernels {};

/// LLVM's own code waits long enough everywhere.
TEST_P(SimHazardKernels, CompiledCodeHasNoHazard) {
  EXPECT_GE(kernels.size(), 5u);
  for (const auto &kernel : kernels) {
    EXPECT_EQ(findingIn(kernel, processor), "");
  }
}

/// One wait state less at any place is found.
TEST_P(SimHazardOptimised, EveryMissingWaitStateIsFound) {
  unsigned planted = 0;
  std::set<std::string> reasons;
  for (const auto &kernel : kernels) {
    bool padding = true; // of the kernel before
    for (size_t i = 0; i < kernel.size(); ++i) {
      StringRef text = kernel[i];
      unsigned count = 0;
      bool isNop = text.consume_front("s_nop ") && !text.getAsInteger(0, count);
      padding &= isNop || kernel[i] == "s_code_end";
      // LLVM takes most packed instructions for ones that write a half
      // register, see tools/testing/hazards.py.
      if (!isNop || padding || StringRef(kernel[i - 1]).starts_with("v_pk_")) {
        continue;
      }
      auto shorter = kernel;
      if (count) {
        shorter[i] = "s_nop " + std::to_string(count - 1);
      } else {
        shorter.erase(shorter.begin() + ptrdiff_t(i));
      }
      std::string finding = findingIn(shorter, processor);
      EXPECT_NE(finding, "")
          << "one less of " << kernel[i] << " behind " << kernel[i - 1];
      reasons.insert(finding.substr(finding.rfind(": ") + 1));
      ++planted;
    }
  }
  EXPECT_GE(planted, 15u);
  EXPECT_GE(reasons.size(), 8u);
}

static std::string nameOf(const ::testing::TestParamInfo<Compiled> &info) {
  return std::string(info.param.chip) + info.param.level;
}

INSTANTIATE_TEST_SUITE_P(
    Chips, SimHazardKernels,
    ::testing::Values(Compiled{"gfx942", "O0"}, Compiled{"gfx942", "O1"},
                      Compiled{"gfx942", "O3"}, Compiled{"gfx950", "O0"},
                      Compiled{"gfx950", "O1"}, Compiled{"gfx950", "O3"}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(Chips, SimHazardOptimised,
                         ::testing::Values(Compiled{"gfx942", "O1"},
                                           Compiled{"gfx942", "O3"},
                                           Compiled{"gfx950", "O1"},
                                           Compiled{"gfx950", "O3"}),
                         nameOf);

INSTANTIATE_TEST_SUITE_P(Chips, SimHazardTable,
                         ::testing::Values("gfx942", "gfx950"),
                         [](const auto &info) { return info.param; });

} // namespace
