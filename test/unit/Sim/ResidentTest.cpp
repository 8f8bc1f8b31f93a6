//===- ResidentTest.cpp - workgroups that wait for each other ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Launch.h"

#include <optional>

using namespace llvm;
using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// The first workgroup waits with `poll` until the counter at the start of the
/// output, whose address is in s[6:7], is the number of the other workgroups
/// and then stores 4711 at +4.
std::string waitsForOthers(StringRef poll) {
  return (R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_cmp_eq_u32 s2, 0
  s_waitcnt lgkmcnt(0)
  s_cbranch_scc1 .Lpoll
  s_mov_b64 exec, 1
  global_atomic_add v1, v2, s[6:7]
  s_endpgm
.Lpoll:
)" + poll +
          R"(
  s_cmp_lg_u32 s8, 63
  s_cbranch_scc1 .Lpoll
  v_mov_b32 v3, 4711
  global_store_dword v1, v3, s[6:7] offset:4
)")
      .str();
}

const char *const polls[] = {
    "  s_load_dword s8, s[6:7], 0x0 glc\n  s_waitcnt lgkmcnt(0)\n",
    "  global_load_dword v3, v1, s[6:7] sc1\n  s_waitcnt vmcnt(0)\n"
    "  v_readfirstlane_b32 s8, v3\n",
    "  v_mov_b32 v4, 0\n  global_atomic_or v3, v1, v4, s[6:7] sc0\n"
    "  s_waitcnt vmcnt(0)\n  v_readfirstlane_b32 s8, v3\n",
    "  s_sleep 2\n  global_load_dword v3, v1, s[6:7]\n"
    "  s_waitcnt vmcnt(0)\n  v_readfirstlane_b32 s8, v3\n",
    "  s_mov_b32 s8, 0\n  s_atomic_add s8, s[6:7], 0x0 glc\n"
    "  s_waitcnt lgkmcnt(0)\n",
    // No hint that it waits.
    "  global_load_dword v3, v1, s[6:7]\n  s_waitcnt vmcnt(0)\n"
    "  v_readfirstlane_b32 s8, v3\n",
};

TEST(SimResident, TheFirstWorkgroupMayWaitForTheOthers) {
  for (const char *poll : polls) {
    Launch launch;
    launch.config.grid = {64, 1, 1};
    launch.config.block = {64, 1, 1};
    launch.config.checks = CheckSet::none();
    auto out = launch.run(waitsForOthers(poll));
    ASSERT_TRUE(bool(out)) << poll << toString(out.takeError());
    EXPECT_EQ((*out)[0], 63u) << poll;
    EXPECT_EQ((*out)[1], 4711u) << poll;
  }
}

TEST(SimResident, CountsOfWaitingDoNotDependOnTheNumberOfThreads) {
  for (const char *poll : polls) {
    std::optional<LaunchResult> first;
    for (unsigned threads : {1, 2, 5}) {
      Launch launch;
      launch.config.grid = {64, 1, 1};
      launch.config.block = {64, 1, 1};
      launch.config.checks = CheckSet::none();
      launch.config.numThreads = threads;
      cantFail(launch.run(waitsForOthers(poll)).takeError());
      if (first) {
        EXPECT_EQ(first->counts, launch.result.counts) << poll;
        EXPECT_EQ(first->waveInstructions, launch.result.waveInstructions);
      }
      first = launch.result;
    }
  }
}

TEST(SimResident, WorkgroupsThatFindNoRoomAreNotWaitedFor) {
  // A workgroup per compute unit: the last one starts when another has ended.
  Launch launch;
  launch.options.ldsBytes = 163840;
  launch.config.grid = {257, 1, 1};
  launch.config.checks = CheckSet::none();
  launch.config.instructionBudget = 1 << 20;
  const char *waitsForLast = R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_cmp_eq_u32 s2, 256
  s_waitcnt lgkmcnt(0)
  s_cbranch_scc1 .Llast
.Lpoll:
  s_load_dword s8, s[6:7], 0x0 glc
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 .Lpoll
  s_endpgm
.Llast:
  global_store_dword v1, v2, s[6:7]
)";
  std::string error = launch.failure(waitsForLast);
  EXPECT_NE(error.find("budget"), std::string::npos) << error;
  EXPECT_NE(error.find("workgroup (0, 0, 0)"), std::string::npos) << error;

  launch.options.ldsBytes = 163840 / 2;
  auto out = cantFail(launch.run(waitsForLast));
  EXPECT_EQ(out[0], 1u);
}

TEST(SimResident, AtomicsGiveEveryWorkgroupItsOwnTicket) {
  for (unsigned threads : {1, 3}) {
    Launch launch;
    launch.config.grid = {700, 1, 1};
    launch.config.numThreads = threads;
    auto out = cantFail(launch.run(R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 1
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v3, v1, v2, s[6:7] sc0
  s_lshl_b32 s8, s2, 2
  v_mov_b32 v4, s8
  s_waitcnt vmcnt(0)
  global_store_dword v4, v3, s[6:7] offset:64
)"));
    EXPECT_EQ(out[0], 700u);
    // In the order of dispatch, as all are resident.
    for (unsigned i = 0; i < 700; ++i) {
      ASSERT_EQ(out[16 + i], i);
    }
  }
}

TEST(SimResident, AWorkgroupSeesItsOwnStoresAndAtomics) {
  Launch launch;
  auto out = cantFail(launch.run(R"(
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0x55
  v_mov_b32 v5, 0x11223344
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  ; One byte in the middle of zeros, across the border of two blocks, too.
  global_store_byte v1, v2, s[6:7] offset:18
  global_store_dword v1, v5, s[6:7] offset:254
  s_waitcnt vmcnt(0)
  global_load_dwordx4 v[8:11], v1, s[6:7] offset:16
  global_load_dwordx4 v[12:15], v1, s[6:7] offset:248
  s_load_dwordx4 s[12:15], s[6:7], 0xF8
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_mov_b32 v16, s13
  v_mov_b32 v17, s14
  ; An atomic on what was stored, then a load and a store behind it.
  global_atomic_add v1, v2, s[6:7] offset:16
  s_waitcnt vmcnt(0)
  global_load_dword v6, v1, s[6:7] offset:16
  s_waitcnt vmcnt(0)
  global_store_dwordx4 v1, v[8:11], s[6:7] offset:512
  global_store_dwordx4 v1, v[12:15], s[6:7] offset:528
  global_store_dwordx2 v1, v[16:17], s[6:7] offset:544
  global_store_dword v1, v6, s[6:7] offset:552
)"));
  std::vector<uint32_t> loaded(out.begin() + 128, out.begin() + 139);
  EXPECT_EQ(loaded, (std::vector<uint32_t>{0x00550000, 0, 0, 0, 0, 0x33440000,
                                           0x00001122, 0, 0x33440000,
                                           0x00001122, 0x00550055}));
  EXPECT_EQ(out[4], 0x00550055u);
  EXPECT_EQ(out[63], 0x33440000u);
  EXPECT_EQ(out[64], 0x00001122u);
}

} // namespace
