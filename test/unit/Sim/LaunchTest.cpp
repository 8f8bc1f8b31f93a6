//===- LaunchTest.cpp - grids, waves, barriers, failures --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"

using namespace llvm;
using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// Launches a kernel with one output buffer of `dwords` dwords as argument 0.
TEST(SimLaunch, WorkgroupAndWorkItemIds) {
  Launch launch;
  launch.config.grid = {2, 3, 2};
  launch.config.block = {4, 2, 3};
  launch.dwords = 12 * 24;
  // Element (group, item) gets the ids packed.
  auto out = cantFail(launch.run(R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_and_b32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_bfe_u32 v3, v0, 20, 10
  v_lshl_add_u32 v4, v2, 2, v1
  v_lshl_add_u32 v4, v3, 3, v4
  s_mul_i32 s8, s4, 3
  s_add_u32 s8, s8, s3
  s_lshl_b32 s8, s8, 1
  s_add_u32 s8, s8, s2
  s_mul_i32 s8, s8, 24
  v_add_u32 v4, s8, v4
  v_lshlrev_b32 v4, 2, v4
  s_lshl_b32 s9, s3, 4
  s_or_b32 s9, s9, s2
  s_lshl_b32 s10, s4, 8
  s_or_b32 s9, s9, s10
  v_mov_b32 v5, s9
  v_lshl_or_b32 v5, v1, 12, v5
  v_lshl_or_b32 v5, v2, 16, v5
  v_lshl_or_b32 v5, v3, 20, v5
  s_waitcnt lgkmcnt(0)
  global_store_dword v4, v5, s[6:7]
)"));
  for (unsigned g = 0; g < 12; ++g) {
    for (unsigned item = 0; item < 24; ++item) {
      uint32_t expected = g % 2 | (g / 2 % 3) << 4 | (g / 6) << 8 |
                          (item % 4) << 12 | (item / 4 % 2) << 16 |
                          (item / 8) << 20;
      EXPECT_EQ(out[g * 24 + item], expected) << g << " " << item;
    }
  }
}

TEST(SimLaunch, OnlyTheEnabledWorkgroupIdsAreThere) {
  Launch launch;
  launch.config.grid = {3, 2, 1};
  launch.options.workgroupIds = 1;
  // Both rows of the grid write to the index of x, not to a linear one.
  launch.options.directives.clear();
  std::string text = R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v1, 1
  v_mov_b32 v2, s2
  v_lshlrev_b32 v2, 2, v2
  s_waitcnt lgkmcnt(0)
  global_atomic_add v2, v1, s[6:7]
)";
  auto out = cantFail(launch.run(text));
  EXPECT_EQ(out[0], 2u);
  EXPECT_EQ(out[2], 2u);
  EXPECT_EQ(out[3], 0u);
}

TEST(SimLaunch, BarriersJoinWaves) {
  Launch launch;
  launch.config.block = {256, 1, 1};
  launch.options.ldsBytes = 1024;
  // Every item passes its id to the item 64 behind, three times.
  auto out = cantFail(launch.run(R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v5, v0
  v_lshlrev_b32 v1, 2, v0
  v_add_u32 v2, 256, v1
  v_and_b32 v2, 0x3ff, v2
  s_mov_b32 s8, 3
.Lloop:
  ds_write_b32 v1, v5
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v5, v2
  s_waitcnt lgkmcnt(0)
  s_barrier
  s_sub_u32 s8, s8, 1
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lloop
  global_store_dword v1, v5, s[6:7]
)"));
  for (unsigned i = 0; i < 256; ++i) {
    EXPECT_EQ(out[i], (i + 192) % 256);
  }
  EXPECT_EQ(launch.result.count(InstructionClass::Branch), 4u * 4);
  EXPECT_EQ(launch.result.count(InstructionClass::Lds), 4u * 6);
  EXPECT_EQ(launch.result.count(InstructionClass::VmemStore), 4u);
}

TEST(SimLaunch, WavesMaySpinOnEachOtherThroughLds) {
  Launch launch;
  launch.config.block = {128, 1, 1};
  launch.options.ldsBytes = 1024;
  auto out = cantFail(launch.run(R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v3, 17
  v_readfirstlane_b32 s8, v0
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc0 .Lproducer
.Lspin:
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s9, v2
  s_cmp_eq_u32 s9, 17
  s_cbranch_scc0 .Lspin
  global_store_dword v1, v2, s[6:7]
  s_endpgm
.Lproducer:
  s_sleep 2
  ds_write_b32 v1, v3
)"));
  EXPECT_EQ(out[0], 17u);
}

TEST(SimLaunch, ABarrierThatSomeWavesNeverReachIsAnError) {
  Launch launch;
  launch.config.block = {128, 1, 1};
  std::string error = launch.failure(R"(
  v_readfirstlane_b32 s8, v0
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 .Lend
  s_barrier
.Lend:
)");
  EXPECT_NE(error.find("s_barrier"), std::string::npos) << error;
  EXPECT_NE(error.find("wave 1"), std::string::npos) << error;
  EXPECT_NE(error.find("never reach"), std::string::npos) << error;
}

TEST(SimLaunch, EndlessLoopsEndByTheBudget) {
  Launch launch;
  launch.config.instructionBudget = 100000;
  std::string error = launch.failure(".Lloop:\n  s_branch .Lloop\n");
  EXPECT_NE(error.find("budget"), std::string::npos) << error;
}

TEST(SimLaunch, UnimplementedInstructionsAreLoud) {
  Launch launch;
  launch.config.grid = {2, 1, 1};
  std::string error =
      launch.failure("  tbuffer_load_format_x v1, off, s[8:11], 0 "
                     "format:[BUF_DATA_FORMAT_32]\n");
  EXPECT_NE(error.find("kernel k, workgroup (0, 0, 0), wave 0"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("tbuffer_load_format_x v1, off, s[8:11], 0 "
                       "format:[BUF_DATA_FORMAT_32]"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("not implemented"), std::string::npos) << error;
}

TEST(SimLaunch, TooMuchLdsOrTooManyItemsAreRefused) {
  Launch launch;
  launch.config.dynamicLds = 163841;
  EXPECT_NE(launch.failure("").find("bytes of LDS"), std::string::npos);
  launch.config.dynamicLds = 163840;
  cantFail(launch.run("").takeError());
  launch.config.block = {1025, 1, 1};
  EXPECT_NE(launch.failure("").find("work-items"), std::string::npos);
}

TEST(SimLaunch, PreloadedArgumentsStartBehindThePrologue) {
  Launch launch;
  launch.options.directives =
      "    .amdhsa_user_sgpr_kernarg_preload_length 3\n"
      "    .amdhsa_user_sgpr_kernarg_preload_offset 0\n";
  launch.config.setArg(8, uint32_t(4711));
  // The first 256 bytes are for firmware that does not preload.
  auto out = cantFail(launch.run(R"(
  s_trap 2
  s_nop 0
  .p2align 8
  v_mov_b32 v1, 0
  v_mov_b32 v2, s4
  global_store_dword v1, v2, s[2:3]
)"));
  EXPECT_EQ(out[0], 4711u);
}

TEST(SimLaunch, ResultsDoNotDependOnTheNumberOfThreads) {
  const char *body = R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_lshl_b32 s8, s2, 8
  v_add_u32 v1, s8, v1
  v_mul_lo_u32 v2, v1, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[6:7]
)";
  Launch launch;
  launch.config.grid = {16, 1, 1};
  launch.config.block = {64, 1, 1};
  launch.config.numThreads = 1;
  auto one = cantFail(launch.run(body));
  LaunchResult counts = launch.result;
  launch.config.numThreads = 4;
  auto four = cantFail(launch.run(body));
  EXPECT_EQ(one, four);
  EXPECT_EQ(counts.counts, launch.result.counts);
  EXPECT_EQ(counts.waveInstructions, 16u * 8);
  EXPECT_EQ(one[1000], 16000000u);
}

TEST(SimLaunch, TheErrorOfTheFirstWorkgroupIsReported) {
  Launch launch;
  launch.config.grid = {64, 1, 1};
  launch.config.numThreads = 4;
  for (unsigned round = 0; round < 5; ++round) {
    std::string error = launch.failure("  s_cmp_lt_u32 s2, 7\n"
                                       "  s_cbranch_scc1 .Lend\n"
                                       "  s_trap 1\n"
                                       ".Lend:\n");
    EXPECT_NE(error.find("workgroup (7, 0, 0)"), std::string::npos) << error;
  }
}

} // namespace
