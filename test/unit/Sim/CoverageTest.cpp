//===- CoverageTest.cpp - which instructions are executed -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Sim/Coverage.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace tenon::sim;

namespace {

std::vector<std::string> linesOf(const std::string &file) {
  auto buffer =
      MemoryBuffer::getFile(std::string(TENON_SIM_INPUTS) + "/" + file);
  if (!buffer) {
    ADD_FAILURE() << "cannot read " << file;
    return {};
  }
  SmallVector<StringRef> parts;
  (*buffer)->getBuffer().split(parts, '\n', -1, /*KeepEmpty=*/false);
  return {parts.begin(), parts.end()};
}

std::string lineOf(const InstructionCoverage &entry) {
  return entry.encoding + ", " + entry.mnemonic + ", " + entry.opcode + ", " +
         (entry.implemented ? "executed" : entry.reason);
}

/// The committed list is what the walk finds; a difference is either a new LLVM
/// or a change of what is executed, and both belong into the list.
TEST(SimCoverage, CommittedListsAreCurrent) {
  for (Processor processor : {Processor::Gfx942, Processor::Gfx950}) {
    std::string file = (processorName(processor) + "_instructions.txt").str();
    std::vector<std::string> committed = linesOf(file), found;
    for (const InstructionCoverage &entry :
         cantFail(listInstructions(processor))) {
      found.push_back(lineOf(entry));
    }
    EXPECT_EQ(committed.size(), found.size()) << file;
    for (size_t i = 0; i < std::min(committed.size(), found.size()); ++i) {
      ASSERT_EQ(committed[i], found[i]) << file << " line " << i + 1;
    }
  }
}

/// What is not executed has a reason that concerns compute kernels not at all.
TEST(SimCoverage, NothingOfComputeIsMissing) {
  for (Processor processor : {Processor::Gfx942, Processor::Gfx950}) {
    for (const InstructionCoverage &entry :
         cantFail(listInstructions(processor))) {
      EXPECT_NE(entry.reason, "not implemented") << lineOf(entry);
    }
  }
}

/// Every mnemonic of the public hand-written gfx950 kernels is executed.
TEST(SimCoverage, PublicKernels) {
  StringSet<> executed;
  for (const InstructionCoverage &entry :
       cantFail(listInstructions(Processor::Gfx950))) {
    if (entry.implemented) {
      executed.insert(entry.mnemonic);
    }
  }
  std::vector<std::string> mnemonics = linesOf("public_mnemonics.txt");
  EXPECT_EQ(mnemonics.size(), 219u);
  for (const std::string &mnemonic : mnemonics) {
    EXPECT_TRUE(executed.contains(mnemonic)) << mnemonic;
  }
}

} // namespace
