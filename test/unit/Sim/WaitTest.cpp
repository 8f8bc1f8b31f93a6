//===- WaitTest.cpp - registers with loads in flight ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

LaneProgram withInstructions(const std::string &instructions) {
  LaneProgram program;
  program.options.ldsBytes = 1024;
  program.instructions = instructions;
  program.inputs = {lanes([](unsigned i) { return i; }),
                    lanes([](unsigned i) { return i; })};
  return program;
}

void expectFinding(const std::string &instructions,
                   const std::string &message) {
  std::string found = findingsOf(withInstructions(instructions), Check::Wait);
  EXPECT_NE(found.find(message), std::string::npos)
      << instructions << "gave: " << found;
}

/// Runs a program that waits for everything it uses.
std::vector<std::vector<uint32_t>> runClean(const LaneProgram &program) {
  EXPECT_EQ(findingsOf(program, Check::Wait), "") << program.instructions;
  return runLanes(program);
}

TEST(SimWait, ReadingBeforeTheWaitIsFound) {
  expectFinding("  global_load_dword v20, v1, s[4:5]\n"
                "  v_mov_b32 v40, v20\n",
                "v20 is used before the wait for its load");
}

TEST(SimWait, OverwritingBeforeTheWaitIsFound) {
  expectFinding("  global_load_dwordx2 v[20:21], v1, s[4:5]\n"
                "  v_mov_b32 v21, 0\n",
                "v21 is used before the wait for its load");
}

TEST(SimWait, VectorLoadsCompleteInOrder) {
  auto program = withInstructions("  global_load_dword v40, v1, s[4:5]\n"
                                  "  global_load_dword v41, v1, s[4:5]\n"
                                  "  s_waitcnt vmcnt(1)\n"
                                  "  v_add_u32 v40, v40, v40\n"
                                  "  s_waitcnt vmcnt(0)\n");
  auto out = runClean(program);
  EXPECT_EQ(out[0][5], 10u);
  expectFinding("  global_load_dword v20, v1, s[4:5]\n"
                "  global_load_dword v21, v1, s[4:5]\n"
                "  s_waitcnt vmcnt(1)\n"
                "  v_mov_b32 v40, v21\n",
                "v21 is used before");
}

TEST(SimWait, StoresCountInVmcnt) {
  expectFinding("  global_load_dword v20, v1, s[4:5]\n"
                "  global_store_dword v1, v1, s[6:7]\n"
                "  s_waitcnt vmcnt(2)\n"
                "  v_mov_b32 v40, v20\n",
                "v20 is used before");
  auto out = runClean(withInstructions("  global_load_dword v20, v1, s[4:5]\n"
                                       "  global_store_dword v1, v1, s[6:7]\n"
                                       "  s_waitcnt vmcnt(1)\n"
                                       "  v_mov_b32 v40, v20\n"
                                       "  s_waitcnt vmcnt(0)\n"));
  EXPECT_EQ(out[0][9], 9u);
}

TEST(SimWait, ScalarLoadsCompleteOnlyAtZero) {
  expectFinding("  s_load_dword s20, s[4:5], 0x0\n"
                "  s_load_dword s21, s[4:5], 0x4\n"
                "  s_waitcnt lgkmcnt(1)\n"
                "  s_add_u32 s22, s20, 1\n",
                "s20 is used before");
  auto out = runClean(withInstructions("  s_load_dword s20, s[4:5], 0x4\n"
                                       "  s_waitcnt lgkmcnt(0)\n"
                                       "  v_mov_b32 v40, s20\n"));
  EXPECT_EQ(out[0][0], 1u);
}

TEST(SimWait, LdsOperationsCompleteInOrderButNotAheadOfScalarLoads) {
  expectFinding("  ds_read_b32 v20, v1\n  ds_read_b32 v21, v1\n"
                "  s_waitcnt lgkmcnt(1)\n  v_mov_b32 v40, v21\n",
                "v21 is used before");
  auto program = withInstructions("  ds_read_b32 v20, v1\n"
                                  "  ds_read_b32 v21, v1\n"
                                  "  s_waitcnt lgkmcnt(1)\n"
                                  "  v_mov_b32 v40, v20\n"
                                  "  s_waitcnt lgkmcnt(0)\n");
  runClean(program);
  // The scalar load may be the one that has come back.
  expectFinding("  ds_read_b32 v20, v1\n  s_load_dword s20, s[4:5], 0x0\n"
                "  s_waitcnt lgkmcnt(1)\n  v_mov_b32 v40, v20\n",
                "v20 is used before");
}

TEST(SimWait, VccAndAgprsAreRegistersToo) {
  expectFinding("  s_load_dwordx2 vcc, s[4:5], 0x0\n"
                "  v_cndmask_b32 v40, v10, v11, vcc\n",
                "vcc is used before");
  expectFinding("  global_load_dword a3, v1, s[4:5]\n"
                "  v_accvgpr_read_b32 v40, a3\n",
                "a3 is used before");
}

TEST(SimWait, ALaterVectorLoadMayOverwrite) {
  auto out = runClean(withInstructions("  global_load_dword v40, v1, s[4:5]\n"
                                       "  v_add_u32 v2, 4, v1\n"
                                       "  v_min_u32 v2, 0xfc, v2\n"
                                       "  global_load_dword v40, v2, s[4:5]\n"
                                       "  s_waitcnt vmcnt(0)\n"));
  EXPECT_EQ(out[0][5], 6u);
  expectFinding("  ds_read_b32 v40, v1\n"
                "  global_load_dword v40, v1, s[4:5]\n",
                "before the wait for its LDS load");
}

} // namespace
