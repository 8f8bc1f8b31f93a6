//===- CheckGlobalTest.cpp - races between workgroups -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckPrograms.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

const char *const race = "no synchronisation orders the two workgroups";
const char *const incomplete = "no wait covers them ahead of its release";
const char *const notWrittenBack = "no buffer_wbl2 sc1 writes them back";
const char *const notInvalidated = "no buffer_inv sc1 comes behind";

// Workgroups that touch the same bytes need synchronisation.
TEST(SimCheckGlobal, RacesBetweenWorkgroups) {
  std::string write = "  global_store_dword v1, v0, s[4:5]\n";
  std::string one = runWorkgroups(write, 5, 1);
  EXPECT_TRUE(has(one, "global-race: kernel k, workgroup (1, 0, 0), wave 0"))
      << one;
  EXPECT_TRUE(has(one, "other access: workgroup (0, 0, 0)")) << one;
  EXPECT_EQ(one, runWorkgroups(write, 5, 3));
  EXPECT_EQ(one, runWorkgroups(write, 5, 1, 99));
  EXPECT_EQ(runWorkgroups(write, 1), "");
  // Reads are none, and every workgroup has its own kibibyte here.
  EXPECT_EQ(runWorkgroups("  global_load_dword v4, v1, s[4:5]\n", 5), "");
  std::string own = "  s_lshl_b32 s7, s2, 10\n  v_add_u32 v3, s7, v1\n"
                    "  global_store_dword v3, v0, s[4:5]\n"
                    "  s_waitcnt vmcnt(0)\n";
  EXPECT_EQ(runWorkgroups(own, 5), "");
  // The next one's kibibyte is another's, unless a counter orders them.
  std::string next = "  v_add_u32 v3, 0x400, v3\n"
                     "  global_load_dword v4, v3, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n";
  std::string text = runWorkgroups(own + next, 5);
  EXPECT_TRUE(has(text, "global-race")) << text;
  // Descending order: the kibibyte that is read was written before.
  std::string count = "  v_mov_b32 v5, 0x8000\n  v_mov_b32 v6, 1\n"
                      "  buffer_wbl2 sc1\n  s_waitcnt vmcnt(0)\n"
                      "  global_atomic_add v7, v5, v6, s[4:5] sc0\n"
                      "  s_waitcnt vmcnt(0)\n  buffer_inv sc1\n";
  std::string last = "  s_sub_u32 s7, 4, s2\n  s_lshl_b32 s7, s7, 10\n"
                     "  v_add_u32 v3, s7, v1\n"
                     "  global_store_dword v3, v0, s[4:5]\n"
                     "  s_waitcnt vmcnt(0)\n";
  EXPECT_EQ(runWorkgroups(last + count + next, 4), "");
}

/// The parts of a split sum: every workgroup writes a kibibyte, counts itself
/// and, when it is the last, reads what wave 1 of all others has written.
struct SplitSum {
  std::string store = "global_store_dword v3, v0, s[4:5]";
  std::string wait = "s_waitcnt vmcnt(0)";
  std::string barrier = "s_barrier";
  std::string writeBack = "buffer_wbl2 sc1\n  s_waitcnt vmcnt(0)";
  std::string count = "s_mov_b64 exec, 1\n"
                      "  global_atomic_add v7, v5, v6, s[4:5] sc0\n"
                      "  s_waitcnt vmcnt(0)\n  v_readfirstlane_b32 s8, v7\n"
                      "  s_mov_b64 exec, -1";
  std::string invalidate = "buffer_inv sc1";
  std::string load = "global_load_dword v4, v3, s[4:5]";
  std::string finish = "global_store_dword v5, v8, s[4:5]"; // a new counter

  std::string findings(unsigned groups = 5, unsigned first = 0,
                       unsigned step = 1) const {
    std::string number = std::to_string(groups);
    std::string body =
        // Workgroups that take no part end at once.
        "  s_sub_u32 s7, s2, " + std::to_string(first) +
        "\n  s_and_b32 s8, s7, " + std::to_string(step - 1) +
        "\n  s_cmp_lg_u32 s8, 0\n  s_cbranch_scc1 .Lend\n"
        "  s_lshl_b32 s7, s2, 10\n  v_add_u32 v3, s7, v1\n"
        "  v_mov_b32 v5, 0x8000\n  v_mov_b32 v6, 1\n  v_mov_b32 v8, 0\n  " +
        store + "\n  " + wait + "\n  " + barrier +
        "\n  s_cmp_lg_u32 s6, 0\n  s_cbranch_scc1 .Lend\n  " + writeBack +
        "\n  " + count + "\n  s_cmp_lg_u32 s8, " + number +
        " - 1\n  s_cbranch_scc1 .Lend\n  " + invalidate +
        "\n  v_add_u32 v3, 0x100, v1\n  s_mov_b32 s9, " + number +
        "\n.Lloop:\n  " + load +
        "\n  s_waitcnt vmcnt(0)\n  v_add_u32 v3, 0x400 * " +
        std::to_string(step) +
        ", v3\n  s_sub_u32 s9, s9, 1\n  s_cmp_lg_u32 s9, 0\n"
        "  s_cbranch_scc1 .Lloop\n  s_mov_b64 exec, 1\n  " +
        finish + "\n.Lend:\n";
    unsigned all = first + step * (groups - 1) + 1;
    std::string one = runWorkgroups(body, all, 1);
    EXPECT_EQ(one, runWorkgroups(body, all, 3));
    return one;
  }
};

// A counter hands the parts of a sum to the last workgroup, when nothing of the
// release and the acquire is missing.
TEST(SimCheckGlobal, SplitSumsWithACounter) {
  EXPECT_EQ(SplitSum().findings(), "");
  auto without = [](std::string SplitSum::*part, const char *with = "s_nop 0") {
    SplitSum sum;
    sum.*part = with;
    return sum.findings();
  };
  // The wait for the write-back covers stores of all waves ahead of it.
  EXPECT_EQ(without(&SplitSum::wait), "");
  SplitSum noWait;
  noWait.wait = "s_nop 0";
  noWait.writeBack = "buffer_wbl2 sc1";
  EXPECT_TRUE(has(noWait.findings(), incomplete));
  EXPECT_TRUE(has(without(&SplitSum::barrier), "global-race"));
  std::string text = without(&SplitSum::writeBack);
  EXPECT_TRUE(has(text, notWrittenBack)) << text;
  EXPECT_TRUE(has(text, "`global_load_dword v4, v3, s[4:5]`")) << text;
  EXPECT_TRUE(has(text, "`global_store_dword v3, v0, s[4:5]`")) << text;
  EXPECT_TRUE(has(without(&SplitSum::invalidate), notInvalidated));
  // Instructions of too small a scope are as good as none.
  EXPECT_TRUE(
      has(without(&SplitSum::writeBack, "buffer_wbl2 sc0"), notWrittenBack));
  EXPECT_TRUE(
      has(without(&SplitSum::invalidate, "buffer_inv sc0"), notInvalidated));
  // Invalidated before the acquire.
  SplitSum early;
  early.invalidate = "s_nop 0";
  early.writeBack += "\n  buffer_inv sc1";
  EXPECT_TRUE(has(early.findings(), notInvalidated));
  // A counter that is not read orders nothing.
  SplitSum blind;
  blind.count = "global_atomic_add v5, v6, s[4:5]\n  s_mov_b32 s8, 4";
  EXPECT_TRUE(has(blind.findings(), race));
  // A plain load of what is being counted.
  SplitSum peek;
  peek.finish = "s_nop 0";
  peek.count = "s_mov_b64 exec, 1\n  global_load_dword v7, v5, s[4:5]\n"
               "  s_waitcnt vmcnt(0)\n  s_mov_b64 exec, -1\n  " +
               peek.count;
  EXPECT_TRUE(has(peek.findings(), race));
}

// On one die, data need not leave its cache.
TEST(SimCheckGlobal, SplitSumsOnOneDie) {
  SplitSum sum;
  sum.writeBack = sum.invalidate = "s_nop 0";
  EXPECT_EQ(sum.findings(3, 0, 8), "");
  EXPECT_TRUE(has(sum.findings(3, 0, 4), notWrittenBack));
  std::swap(sum.wait, sum.barrier);
  EXPECT_TRUE(has(sum.findings(3, 0, 8), incomplete));
}

// Data that go past the caches on both sides.
TEST(SimCheckGlobal, SplitSumsPastTheCaches) {
  SplitSum sum;
  sum.store += " sc0 sc1";
  sum.load += " sc0 sc1";
  sum.writeBack = sum.invalidate = "s_nop 0";
  EXPECT_EQ(sum.findings(), "");
  SplitSum cached = sum;
  cached.load = SplitSum().load;
  EXPECT_TRUE(has(cached.findings(), notInvalidated));
  cached = sum;
  cached.store = SplitSum().store;
  EXPECT_TRUE(has(cached.findings(), notWrittenBack));
  sum.wait = "s_nop 0";
  EXPECT_TRUE(has(sum.findings(), incomplete));
}

// Scalar atomics count as well.
TEST(SimCheckGlobal, SplitSumsWithScalarAtomics) {
  SplitSum sum;
  sum.count = "s_mov_b32 s8, 1\n  s_add_u32 s12, s4, 0x8000\n"
              "  s_addc_u32 s13, s5, 0\n  s_atomic_add s8, s[12:13], 0x0 glc\n"
              "  s_waitcnt lgkmcnt(0)";
  EXPECT_EQ(sum.findings(), "");

  sum.writeBack = "s_nop 0";
  EXPECT_TRUE(has(sum.findings(), notWrittenBack));
}

/// Workgroup 0 writes a kibibyte and sets a flag, workgroup 1 polls the flag
/// and reads.
struct Handover {
  std::string store = "global_store_dword v1, v0, s[4:5] sc0 sc1";
  std::string wait = "s_waitcnt vmcnt(0)";
  std::string set = "s_mov_b32 s8, 1\n  s_store_dword s8, s[12:13], 0x0 glc";
  std::string poll = "s_load_dword s8, s[12:13], 0x0 glc\n"
                     "  s_waitcnt lgkmcnt(0)";
  std::string acquired = "s_nop 0";
  std::string load = "global_load_dword v4, v1, s[4:5] sc0 sc1";

  std::string findings() const {
    return runWorkgroups(
        "  s_add_u32 s12, s4, 0x8000\n  s_addc_u32 s13, s5, 0\n"
        "  v_mov_b32 v5, 0x8000\n  v_mov_b32 v6, 1\n"
        "  s_cmp_lg_u32 s2, 0\n  s_cbranch_scc1 .Lconsumer\n  " +
            store + "\n  " + wait +
            "\n  s_barrier\n  s_cmp_lg_u32 s6, 0\n"
            "  s_cbranch_scc1 .Lend\n  " +
            set +
            "\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n  s_branch .Lend\n"
            ".Lconsumer:\n  " +
            poll + "\n  s_cmp_eq_u32 s8, 0\n  s_cbranch_scc1 .Lconsumer\n  " +
            acquired + "\n  " + load + "\n  s_waitcnt vmcnt(0)\n.Lend:\n",
        2);
  }
};

// Flags that scalar instructions set and poll.
TEST(SimCheckGlobal, FlagsOfScalarInstructions) {
  EXPECT_EQ(Handover().findings(), "");
  Handover early;
  early.wait = "s_nop 0";
  EXPECT_TRUE(has(early.findings(), incomplete));
  // A store in the scalar cache is for nobody until it is written back.
  Handover cached;
  cached.store = "global_store_dword v1, v0, s[4:5]";
  cached.load = "global_load_dword v4, v1, s[4:5]";
  cached.set = "buffer_wbl2 sc1\n  s_waitcnt vmcnt(0)\n  s_mov_b32 s8, 1\n"
               "  s_store_dword s8, s[12:13], 0x0";
  cached.acquired = "buffer_inv sc1";
  EXPECT_TRUE(has(cached.findings(), race));
  cached.set += "\n  s_dcache_wb";
  EXPECT_EQ(cached.findings(), "");
  cached.set = cached.set.substr(cached.set.find("s_mov_b32"));
  EXPECT_TRUE(has(cached.findings(), notWrittenBack));
  // A poll of the scalar cache.
  Handover stale;
  stale.poll = "s_load_dword s8, s[12:13], 0x0\n  s_waitcnt lgkmcnt(0)";
  EXPECT_TRUE(has(stale.findings(), race));
}

// Flags of vector instructions, as compilers write them.
TEST(SimCheckGlobal, FlagsOfVectorInstructions) {
  Handover flag;
  flag.store = "global_store_dword v1, v0, s[4:5]";
  flag.load = "global_load_dword v4, v1, s[4:5]";
  flag.set = "buffer_wbl2 sc1\n  s_waitcnt vmcnt(0)\n"
             "  global_store_dword v5, v6, s[4:5] sc1";
  flag.poll = "global_load_dword v7, v5, s[4:5] sc1\n  s_waitcnt vmcnt(0)\n"
              "  v_readfirstlane_b32 s8, v7";
  flag.acquired = "buffer_inv sc1";
  EXPECT_EQ(flag.findings(), "");
  Handover plain = flag;
  plain.poll = "global_load_dword v7, v5, s[4:5]\n  s_waitcnt vmcnt(0)\n"
               "  v_readfirstlane_b32 s8, v7";
  EXPECT_TRUE(has(plain.findings(), race));
  plain = flag;
  plain.set = "buffer_wbl2 sc1\n  s_waitcnt vmcnt(0)\n"
              "  global_store_dword v5, v6, s[4:5]";
  EXPECT_TRUE(has(plain.findings(), race));
  plain = flag;
  plain.acquired = "s_nop 0";
  EXPECT_TRUE(has(plain.findings(), notInvalidated));
  // Scalar loads of the data have a cache of their own.
  Handover scalar = flag;
  scalar.load = "s_load_dword s14, s[4:5], 0x0\n  s_waitcnt lgkmcnt(0)";
  EXPECT_TRUE(has(scalar.findings(), "no s_dcache_inv comes behind"));
  scalar.acquired = "buffer_inv sc1\n  s_dcache_inv";
  EXPECT_EQ(scalar.findings(), "");
  // Loads into LDS and buffers that are clipped in part are loads like others.
  Handover toLds = flag;
  toLds.load = "s_lshl_b32 m0, s6, 8\n  s_nop 0\n"
               "  global_load_lds_dword v1, s[4:5]";
  EXPECT_EQ(toLds.findings(), "");
  toLds.acquired = "s_nop 0";
  EXPECT_TRUE(has(toLds.findings(), notInvalidated));
  Handover clipped = flag;
  clipped.load = "s_mov_b64 s[16:17], s[4:5]\n  s_mov_b32 s18, 8\n"
                 "  s_mov_b32 s19, 0x27000\n"
                 "  buffer_load_dwordx4 v[8:11], v1, s[16:19], 0 offen";
  EXPECT_EQ(clipped.findings(), "");
  clipped.acquired = "s_nop 0";
  EXPECT_TRUE(has(clipped.findings(), notInvalidated));
}

// More workgroups than can be told apart are an error, not a gap.
TEST(SimCheckGlobal, TooManyWorkgroups) {
  std::shared_ptr<const CodeObject> object = loadObject(assemble(""));
  Device device;
  LaunchConfig config;
  config.grid = {1 << 22, 1, 1};
  config.block = {64, 1, 1};
  config.instructionBudget = 1000;
  std::string text =
      llvm::toString(device.launch(object->kernels()[0], config).takeError());
  EXPECT_TRUE(has(text, "global-race can follow 4194302 workgroups")) << text;
}

// Order goes on from workgroup to workgroup.
TEST(SimCheckGlobal, OrderIsTransitive) {
  // Workgroup w waits for flag w - 1 and sets flag w; the data of workgroup 0
  // are read by the last one.
  auto chain = [](const std::string &middle) {
    return runWorkgroups(
        "  v_mov_b32 v6, 1\n  s_lshl_b32 s7, s2, 2\n"
        "  s_add_u32 s7, s7, 0x8000\n  v_mov_b32 v5, s7\n"
        "  s_cmp_lg_u32 s6, 0\n  s_cbranch_scc1 .Lend\n"
        "  s_cmp_eq_u32 s2, 0\n  s_cbranch_scc1 .Lfirst\n"
        "  v_subrev_u32 v8, 4, v5\n"
        ".Lpoll:\n  global_load_dword v7, v8, s[4:5] sc1\n"
        "  s_waitcnt vmcnt(0)\n  v_readfirstlane_b32 s8, v7\n"
        "  s_cmp_eq_u32 s8, 0\n  s_cbranch_scc1 .Lpoll\n"
        "  s_cmp_eq_u32 s2, 1\n  s_cbranch_scc1 .Lset\n"
        "  buffer_inv sc1\n  global_load_dword v4, v1, s[4:5]\n"
        "  s_waitcnt vmcnt(0)\n  s_branch .Lend\n"
        ".Lfirst:\n  global_store_dword v1, v0, s[4:5]\n"
        "  buffer_wbl2 sc1\n  s_waitcnt vmcnt(0)\n"
        ".Lset:\n  " +
            middle + "\n.Lend:\n",
        3);
  };
  EXPECT_EQ(chain("global_store_dword v5, v6, s[4:5] sc1"), "");
  // A flag without a release in between: workgroup 2 does not wait.
  EXPECT_TRUE(has(chain("v_add_u32 v9, 4, v5\n"
                        "  s_cmp_eq_u32 s2, 0\n"
                        "  s_cbranch_scc0 .Lend\n"
                        "  global_store_dword v5, v6, s[4:5] sc1\n"
                        "  global_store_dword v9, v6, s[4:5]"),
                  race));
}

} // namespace
