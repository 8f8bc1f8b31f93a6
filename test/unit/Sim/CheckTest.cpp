//===- CheckTest.cpp - planted faults and clean programs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckPrograms.h"

#include "llvm/Support/Error.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// Each work item reads the LDS dword of its neighbour 64 further.
const std::string neighbour = "  v_add_u32 v3, 256, v1\n"
                              "  v_and_b32 v3, 0x3ff, v3\n"
                              "  ds_read_b32 v4, v3\n"
                              "  s_waitcnt lgkmcnt(0)\n";

// Waves that exchange data through LDS need a barrier, and one is enough.
TEST(SimCheck, LdsReadWithoutABarrierIsARace) {
  std::string write = "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n";
  std::string text = runWorkgroups(write + neighbour);
  EXPECT_TRUE(has(text, "lds-race: kernel k, workgroup (0, 0, 0), wave "))
      << text;
  EXPECT_TRUE(has(text, "`ds_read_b32 v4, v3`")) << text;
  EXPECT_TRUE(has(text, "other access: ")) << text;
  EXPECT_TRUE(has(text, "`ds_write_b32 v1, v0`")) << text;
  EXPECT_EQ(runWorkgroups(write + "  s_barrier\n" + neighbour), "");
}

// A write counts as done at the wait for it, not where it stands.
TEST(SimCheck, LdsWriteInFlightAtTheBarrierIsARace) {
  std::string text =
      runWorkgroups("  ds_write_b32 v1, v0\n  s_barrier\n" + neighbour);
  EXPECT_TRUE(has(text, "which no wait of that wave has covered")) << text;
}

// LDS must not be overwritten while another wave's read may be under way.
TEST(SimCheck, LdsOverwrittenAheadOfABarrierIsARace) {
  std::string start = "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n"
                      "  s_barrier\n" +
                      neighbour;
  std::string again = "  ds_write_b32 v1, v0\n  s_waitcnt lgkmcnt(0)\n";
  std::string text = runWorkgroups(start + again);
  EXPECT_TRUE(has(text, "lds-race")) << text;
  EXPECT_EQ(runWorkgroups(start + "  s_barrier\n" + again), "");
}

// Different bytes of one dword belong to different waves.
TEST(SimCheck, LdsBytesOfOneDwordAreApart) {
  std::string body = "  v_lshrrev_b32 v5, 6, v0\n" // byte = wave
                     "  v_and_b32 v6, 63, v0\n"
                     "  v_lshl_add_u32 v5, v6, 2, v5\n"
                     "  ds_write_b8 v5, v0\n  s_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(runWorkgroups(body), "");
  std::string text = runWorkgroups(body + "  ds_write_b16 v5, v0\n");
  EXPECT_TRUE(has(text, "lds-race")) << text;
}

// The two places of a ds_write2st64 are one dword each.
TEST(SimCheck, WidthsOfLdsAccesses) {
  EXPECT_EQ(runWorkgroups("  ds_write2st64_b32 v1, v0, v0 offset1:4\n"), "");
  EXPECT_EQ(runWorkgroups("  ds_write_b8_d16_hi v0, v1\n"), "");
  EXPECT_EQ(runWorkgroups("  v_lshlrev_b32 v3, 3, v0\n  v_mov_b32 v2, v0\n"
                          "  v_mov_b32 v3, v0\n  v_lshlrev_b32 v5, 3, v0\n"
                          "  ds_write_b64 v5, v[2:3]\n"),
            "");
}

// Waves may write the same values to one place.
TEST(SimCheck, EqualLdsWritesAreNoRace) {
  std::string place = "  v_and_b32 v5, 63, v0\n  v_lshlrev_b32 v6, 2, v5\n";
  EXPECT_EQ(runWorkgroups(place + "  ds_write_b32 v6, v5\n"), "");
  std::string text = runWorkgroups(place + "  ds_write_b32 v6, v0\n");
  EXPECT_TRUE(has(text, "lds-race")) << text;
}

// Atomics on one place are no race; a plain read beside them is one.
TEST(SimCheck, LdsAtomicsOrder) {
  std::string atomic = "  v_mov_b32 v5, 0\n  v_mov_b32 v6, 1\n"
                       "  ds_add_u32 v5, v6\n  s_waitcnt lgkmcnt(0)\n";
  EXPECT_EQ(runWorkgroups(atomic), "");
  std::string text = runWorkgroups(atomic + "  ds_read_b32 v7, v5\n");
  EXPECT_TRUE(has(text, "lds-race")) << text;
}

/// Wave 0 writes a row of LDS and sets the flag at 0x2000, wave 1 waits for the
/// flag and reads the row; `v5` is the address of the flag, `v6` one.
std::string handOver(const std::string &set, const std::string &poll,
                     const std::string &write = "ds_write_b32 v1, v0") {
  return runWorkgroups(
      "  v_mov_b32 v5, 0x2000\n  v_mov_b32 v6, 1\n  v_mov_b32 v8, 0\n"
      "  s_cmp_eq_u32 s6, 0\n  s_cbranch_scc0 .Lclear\n"
      "  ds_write_b32 v5, v8\n.Lclear:\n  s_waitcnt lgkmcnt(0)\n"
      "  s_barrier\n  s_cmp_eq_u32 s6, 0\n  s_cbranch_scc1 .Lproducer\n"
      "  s_cmp_eq_u32 s6, 1\n  s_cbranch_scc0 .Lend\n"
      ".Lpoll:\n  " +
      poll +
      "\n  s_waitcnt lgkmcnt(0)\n  v_readfirstlane_b32 s8, v7\n"
      "  s_cmp_eq_u32 s8, 0\n  s_cbranch_scc1 .Lpoll\n"
      "  v_subrev_u32 v3, 256, v1\n  ds_read_b32 v4, v3\n"
      "  s_waitcnt lgkmcnt(0)\n  s_branch .Lend\n"
      ".Lproducer:\n  " +
      write + "\n  " + set + "\n  s_waitcnt lgkmcnt(0)\n.Lend:\n");
}

// A flag in LDS orders what its writer has issued before, whether atomics or
// plain accesses set and poll it; another location orders nothing.
TEST(SimCheck, LdsFlags) {
  const std::string add = "ds_add_u32 v5, v6", plain = "ds_write_b32 v5, v6";
  const std::string poll = "ds_read_b32 v7, v5";
  const std::string pollAtomic = "ds_add_rtn_u32 v7, v5, v8";
  EXPECT_EQ(handOver(add, poll), "");
  EXPECT_EQ(handOver(plain, poll), "");
  EXPECT_EQ(handOver(add, pollAtomic), "");
  std::string text = handOver(
      add + "\n  v_add_u32 v9, 1, v0\n  ds_write_b32 v1, v9", pollAtomic);
  EXPECT_TRUE(has(text, "lds-race")) << "written behind the flag" << text;
  // Atomics on another dword.
  text = handOver("ds_add_u32 v5, v6 offset:4\n  s_nop 0\n  " + plain,
                  "ds_add_rtn_u32 v9, v5, v8 offset:4\n  s_nop 0\n"
                  "  ds_read_b32 v7, v5\n  v_add_u32 v10, 1, v8");
  EXPECT_TRUE(has(text, "lds-race")) << text;
  // A copy is no ds_* instruction: it wants its wait.
  const std::string copy = "s_mov_b32 m0, 0\n  s_nop 0\n"
                           "  global_load_lds_dword v1, s[4:5]";
  EXPECT_TRUE(has(handOver(add, poll, copy), "lds-race"));
  EXPECT_EQ(handOver(add, poll, copy + "\n  s_waitcnt vmcnt(0)"), "");
}

// FLAT accesses to LDS are accesses to LDS.
TEST(SimCheck, FlatAccessesToLds) {
  std::string aperture = "  v_mov_b32 v10, v1\n  v_mov_b32 v11, 0x10000\n";
  std::string store = aperture + "  flat_store_dword v[10:11], v0\n";
  std::string wait = "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  EXPECT_TRUE(has(runWorkgroups(store + wait + neighbour), "lds-race"));
  EXPECT_EQ(runWorkgroups(store + wait + "  s_barrier\n" + neighbour), "");
  EXPECT_TRUE(has(
      runWorkgroups(store + "  s_waitcnt vmcnt(0)\n  s_barrier\n" + neighbour),
      "which no wait of that wave has covered"));
  std::string load = "  v_add_u32 v10, 256, v1\n"
                     "  v_and_b32 v10, 0x3ff, v10\n"
                     "  flat_load_dword v4, v[10:11]\n" +
                     wait;
  EXPECT_TRUE(has(runWorkgroups(store + wait + load), "lds-race"));
  EXPECT_EQ(runWorkgroups(store + wait + "  s_barrier\n" + load), "");
}

// A copy into LDS is there for other waves after the wait of its own wave and
// a barrier, and for its own wave after the wait.
TEST(SimCheck, CopiesIntoLdsNeedTheirWait) {
  std::string copy = "  s_lshl_b32 m0, s6, 8\n  s_nop 0\n"
                     "  global_load_lds_dword v1, s[4:5]\n";
  std::string wait = "  s_waitcnt vmcnt(0)\n";
  EXPECT_EQ(runWorkgroups(copy + wait + "  s_barrier\n" + neighbour), "");
  std::string text = runWorkgroups(copy + "  s_barrier\n" + neighbour);
  EXPECT_TRUE(has(text, "lds-race")) << text;
  EXPECT_TRUE(has(text, "copy into it by wave")) << text;
  text = runWorkgroups(copy + "  ds_read_b32 v4, v1\n" + wait);
  EXPECT_TRUE(has(text, "wait: ")) << text;
  EXPECT_TRUE(has(text, "own copy into it is in flight")) << text;
}

// The findings do not depend on host threads, and the shuffled order of
// workgroups finds the same faults.
TEST(SimCheck, FindingsAreDeterministic) {
  std::string body =
      "  ds_write_b32 v1, v0\n" + neighbour + "  v_mov_b32 v9, v8\n";
  std::string one = runWorkgroups(body, 37, 1);
  EXPECT_TRUE(has(one, "workgroup (0, 0, 0)")) << one;
  EXPECT_EQ(one, runWorkgroups(body, 37, 3));
  EXPECT_EQ(one, runWorkgroups(body, 37, 2, 17));
}

std::string hazardsOf(const std::string &instructions) {
  LaneProgram program;
  program.inputs = {lanes([](unsigned i) { return i; }),
                    lanes([](unsigned i) { return i; })};
  program.outputs = 2;
  program.instructions = "  s_nop 7\n" + instructions + "  s_nop 7\n";
  return findingsOf(program, Check::Hazard);
}

struct HazardCase {
  const char *producer;
  unsigned waitStates;
  const char *consumer;
};

// Every hazard is found with one wait state too few, and is none with enough.
TEST(SimCheck, Hazards) {
  const HazardCase cases[] = {
      // gfx950: passes + 4 after XDL products of four passes and more.
      {"v_mfma_f32_16x16x32_bf16 v[20:23], v[12:15], v[16:19], v[20:23]", 8,
       "v_add_f32 v40, v20, v20"},
      {"v_mfma_f32_16x16x32_bf16 v[20:23], v[12:15], v[16:19], v[20:23]", 8,
       "global_store_dword v1, v22, s[6:7]"},
      {"v_mfma_f32_16x16x32_bf16 v[20:23], v[12:15], v[16:19], v[20:23]", 8,
       "v_mov_b32 v21, 0"},
      {"v_mfma_f32_16x16x4_f32 v[20:23], v10, v11, v[20:23]", 10,
       "v_add_f32 v40, v20, v20"},
      {"v_mfma_f32_16x16x32_bf16 v[20:23], v[12:15], v[16:19], v[20:23]", 6,
       "v_mfma_f32_16x16x32_bf16 v[24:27], v[12:15], v[16:19], v[22:25]"},
      {"v_mfma_f32_16x16x32_bf16 v[20:23], v[12:15], v[16:19], v[24:27]", 3,
       "v_mov_b32 v24, 0"},
      {"v_mov_b32 v12, 0", 2,
       "v_mfma_f32_16x16x32_bf16 v[20:23], v[12:15], v[16:19], v[20:23]"},
      {"v_mov_b32 v12, 0", 2,
       "v_add_f32_dpp v40, v12, v12 row_ror:8 row_mask:0xf bank_mask:0xf"},
      {"v_exp_f32 v12, v10", 1, "v_add_f32 v40, v12, v12"},
      {"v_mov_b32 v12, 0", 1, "v_readfirstlane_b32 s20, v12"},
      {"v_mov_b32 v12, 0", 2, "v_permlane32_swap_b32 v12, v13"},
      {"v_readfirstlane_b32 s20, v10", 2, "v_mov_b32 v40, s20"},
      {"v_cmp_lt_f32 vcc, v10, v11", 2, "v_cndmask_b32 v40, v10, v11, vcc"},
      {"v_cmp_lt_f32 vcc, v10, v11", 4, "v_div_fmas_f32 v40, v10, v11, v10"},
      {"v_readfirstlane_b32 s20, v12", 4, "v_readlane_b32 s21, v10, s20"},
      {"v_cmpx_le_u32 exec, v10, v10", 5,
       "v_add_f32_dpp v40, v10, v11 row_ror:8 row_mask:0xf bank_mask:0xf"},
      {"global_store_dwordx4 v1, v[12:15], s[6:7]", 2, "v_mov_b32 v13, 0"},
      {"s_mov_b64 s[22:23], 0\n  "
       "buffer_store_dwordx4 v[12:15], v1, s[20:23], 0 offen",
       2, "v_mov_b32 v13, 0"},
      {"s_mov_b64 s[22:23], 0\n  "
       "buffer_store_dwordx4 v[12:15], v1, s[20:23], s22 offen",
       1, "v_mov_b32 v13, 0"},
      {"s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 2), 0", 2,
       "s_getreg_b32 s20, hwreg(HW_REG_MODE)"},
      {"s_mov_b32 m0, 0", 1, "global_load_lds_dword v1, s[4:5]"},
      {"s_mov_b32 m0, 0", 1, "ds_write_addtid_b32 v10"},
  };
  for (const HazardCase &hazard : cases) {
    auto withStates = [&](unsigned states) {
      std::string text = "  " + std::string(hazard.producer) + "\n";
      for (unsigned i = 0; i < states; ++i) {
        text += "  s_nop 0\n";
      }
      return hazardsOf(text + "  " + hazard.consumer + "\n");
    };
    std::string text = withStates(hazard.waitStates - 1);
    EXPECT_TRUE(has(text, "needs " + std::to_string(hazard.waitStates) +
                              " wait states"))
        << hazard.producer << " | " << hazard.consumer << " gave: " << text;
    EXPECT_EQ(withStates(hazard.waitStates), "")
        << hazard.producer << " | " << hazard.consumer;
  }
}

// Stores with a scalar offset have read their first dword by the next
// instruction.
TEST(SimCheck, StoresWithScalarOffsetFreeTheirFirstDword) {
  EXPECT_EQ(
      hazardsOf("  s_mov_b64 s[22:23], 0\n"
                "  buffer_store_dwordx4 v[12:15], v1, s[20:23], s22 offen\n"
                "  v_mov_b32 v12, 0\n"),
      "");
}

// Buffer loads into LDS read M0 after the write without a wait state.
TEST(SimCheck, BufferLoadsIntoLdsHaveNoM0Hazard) {
  EXPECT_EQ(hazardsOf("  s_mov_b64 s[20:21], s[4:5]\n  s_mov_b32 s22, 256\n"
                      "  s_mov_b32 s23, 0x27000\n  s_mov_b32 m0, 0\n"
                      "  buffer_load_dword v1, s[20:23], 0 offen lds\n"),
            "");
}

// Products that hand the whole accumulator on need no wait states.
TEST(SimCheck, AccumulatorsAreForwarded) {
  std::string mfma =
      "  v_mfma_f32_16x16x32_bf16 v[20:23], v[12:15], v[16:19], v[20:23]\n";
  EXPECT_EQ(hazardsOf(mfma + mfma + mfma), "");
}

// Faults that end a launch are findings of it.
TEST(SimCheck, WhatEndsALaunchIsAFinding) {
  std::string text = runWorkgroups("  v_add_u32 v1, 0x10000, v1\n"
                                   "  global_load_dword v4, v1, s[4:5]\n");
  EXPECT_TRUE(has(text, "bounds: kernel k")) << text;
  text = runWorkgroups("  s_mov_b32 s7, 0x10000\n"
                       "  s_store_dword s6, s[4:5], s7\n");
  EXPECT_TRUE(has(text, "bounds: kernel k")) << text;
  text = runWorkgroups("  scratch_store_dword off, v1, off offset:64\n");
  EXPECT_TRUE(has(text, "bounds: kernel k")) << text;
  text = runWorkgroups("  s_cmp_eq_u32 s6, 0\n  s_cbranch_scc1 .Lend\n"
                       "  s_barrier\n.Lend:\n");
  EXPECT_TRUE(has(text, "barrier: kernel k")) << text;
  text = runWorkgroups(".Lloop:\n  s_branch .Lloop\n");
  EXPECT_TRUE(has(text, "budget: kernel k")) << text;
}

// LDS beyond the segment reads zero and drops writes.
TEST(SimCheck, LdsBeyondTheSegment) {
  std::string text = runWorkgroups("  v_add_u32 v3, 0x4800, v1\n"
                                   "  ds_write_b32 v3, v0\n");
  EXPECT_TRUE(has(text, "bounds: kernel k")) << text;
  EXPECT_TRUE(has(text, "beyond the 16640 bytes")) << text;
}

// Accesses to device memory and LDS want their natural alignment, up to four
// bytes.
TEST(SimCheck, MisalignedAccesses) {
  std::string text = runWorkgroups("  v_add_u32 v1, 2, v0\n"
                                   "  global_load_dword v4, v1, s[4:5]\n");
  EXPECT_TRUE(has(text, "align: kernel k")) << text;
  text = runWorkgroups("  v_lshl_add_u32 v3, v0, 2, 1\n"
                       "  ds_read_b32 v4, v3\n");
  EXPECT_TRUE(has(text, "align: kernel k")) << text;
  text = runWorkgroups("  v_lshl_add_u32 v10, v0, 2, 1\n"
                       "  v_mov_b32 v11, 0x10000\n"
                       "  flat_load_dword v4, v[10:11]\n");
  EXPECT_TRUE(has(text, "align: kernel k")) << text;
  EXPECT_TRUE(has(text, "LDS address")) << text;
  std::string scratch = "  scratch_store_dword off, v1, off offset:";
  // Compilers rely on scratch of any alignment.
  EXPECT_EQ(runWorkgroups(scratch + "2\n"), "");
  EXPECT_EQ(runWorkgroups(scratch + "4\n"), "");
}

// A set of checks is all, none or a list of names.
TEST(SimCheck, SetsOfChecks) {
  CheckSet set = llvm::cantFail(CheckSet::parse("wait,lds-race"));
  EXPECT_TRUE(set.has(Check::Wait));
  EXPECT_TRUE(set.has(Check::LdsRace));
  EXPECT_FALSE(set.has(Check::Hazard));
  EXPECT_FALSE(llvm::cantFail(CheckSet::parse("none")).any());
  EXPECT_TRUE(llvm::cantFail(CheckSet::parse("all")).has(Check::Budget));
  EXPECT_TRUE(has(llvm::toString(CheckSet::parse("wait,rac").takeError()),
                  "unknown check 'rac'"));
}

} // namespace
