//===- TimingWaitTest.cpp - LDS, wait counters and barriers -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TimedKernel.h"

#include <map>
#include <set>

using namespace tenon::sim;
using namespace tenon::sim::test;
using namespace tenon::target;

namespace {

/// v2 = work-item * stride bytes.
std::string ldsAddress(unsigned stride) {
  return "  v_mul_u32_u24 v2, 0x" + llvm::utohexstr(stride) + ", v0\n";
}

/// The clocks that one access by 64 lanes takes by the rule for its size: in
/// each phase as many as the busiest bank has different dwords.
unsigned ldsClocks(LdsOp op, unsigned bytes, unsigned stride,
                   unsigned *conflicts = nullptr) {
  const LdsAccessRule &rule = timedChip().ldsRule(op);
  unsigned clocks = 0;
  for (uint64_t phase : rule.phases) {
    std::map<unsigned, std::set<unsigned>> banks;
    for (unsigned lane = 0; lane < 64; ++lane) {
      for (unsigned dword = 0; phase >> lane & 1 && dword < bytes / 4;
           ++dword) {
        unsigned at = lane * stride / 4 + dword;
        banks[at % rule.banks].insert(at);
      }
    }
    size_t most = 0;
    for (const auto &[bank, dwords] : banks) {
      most = std::max(most, dwords.size());
    }
    clocks += unsigned(most);
  }
  if (conflicts) {
    *conflicts = clocks - unsigned(rule.phases.size());
  }
  return clocks;
}

/// Reads and writes of every width and many strides take the clocks of their
/// phases and of the banks that several lanes want, when nothing else limits
/// them, and the conflicts are counted.
TEST(SimTimingWait, LdsBankConflicts) {
  struct Access {
    const char *mnemonic;
    LdsOp op;
    unsigned bytes;
  };
  std::set<unsigned> seen;
  for (const Access &access : {Access{"ds_read_b32", LdsOp::ReadB32, 4},
                               Access{"ds_read_b64", LdsOp::ReadB64, 8},
                               Access{"ds_read_b128", LdsOp::ReadB128, 16},
                               Access{"ds_write_b32", LdsOp::WriteB32, 4},
                               Access{"ds_write_b64", LdsOp::WriteB64, 8},
                               Access{"ds_write_b128", LdsOp::WriteB128, 16}}) {
    bool isRead =
        std::string(access.mnemonic).find("read") != std::string::npos;
    std::string data = access.bytes == 4   ? "v8"
                       : access.bytes == 8 ? "v[8:9]"
                                           : "v[8:11]";
    std::string line = "  " + std::string(access.mnemonic) + " " +
                       (isRead ? data + ", v2" : "v2, " + data) + "\n";
    for (unsigned factor : {1u, 2u, 3u, 4u, 8u, 16u, 32u}) {
      unsigned stride = access.bytes * factor;
      if (64 * stride > 60000) {
        continue;
      }
      TimedKernel kernel;
      kernel.options.ldsBytes = 64 * stride;
      kernel.config.block = {64, 1, 1};
      constexpr unsigned count = 64; // the queue in front of LDS is full then
      std::string start = ldsAddress(stride);
      TimingResult once = kernel.run(start + repeat(count, line));
      TimingResult twice = kernel.run(start + repeat(2 * count, line));
      unsigned conflicts = 0;
      unsigned clocks = ldsClocks(access.op, access.bytes, stride, &conflicts);
      // One wave issues one per slot at most.
      unsigned each = std::max(clocks, timingFacts().slotClocks);
      EXPECT_EQ(twice.cycles - once.cycles, count * each) << line << stride;
      EXPECT_EQ(once.ldsConflictCycles, count * conflicts) << line << stride;
      seen.insert(clocks);
    }
  }
  EXPECT_TRUE(seen.contains(64)) << "nothing conflicted in all lanes";
  EXPECT_GE(seen.size(), 6u);
}

/// The waves of all SIMDs share one LDS unit.
TEST(SimTimingWait, WavesShareLds) {
  unsigned clocks = ldsClocks(LdsOp::ReadB128, 16, 16);
  ASSERT_GE(clocks, timingFacts().slotClocks);
  for (unsigned waves : {1u, 4u, 8u}) {
    TimedKernel kernel;
    kernel.options.ldsBytes = 16384;
    kernel.config.block = {64 * waves, 1, 1};
    std::string line = "  ds_read_b128 v[8:11], v2\n", start = ldsAddress(16);
    EXPECT_EQ(kernel.cycles(start + repeat(128, line)) -
                  kernel.cycles(start + repeat(64, line)),
              64 * waves * clocks)
        << waves;
  }
}

/// lgkmcnt(1) waits for the first of two reads, lgkmcnt(0) for both.
TEST(SimTimingWait, LdsReads) {
  TimedKernel kernel;
  kernel.options.ldsBytes = 32768;
  kernel.config.block = {64, 1, 1};
  // The first read has no conflict, the second one in all lanes.
  TimingResult result =
      kernel.run("  v_lshlrev_b32 v2, 2, v0\n  v_lshlrev_b32 v3, 8, v0\n"
                 "  ds_read_b32 v8, v2\n  ds_read_b32 v9, v3\n"
                 "  s_waitcnt lgkmcnt(1)\n  s_waitcnt lgkmcnt(0)\n");
  const TimingFacts &facts = timingFacts();
  uint64_t first = facts.waveStartClocks + 2 * facts.slotClocks;
  unsigned quick =
      std::max(ldsClocks(LdsOp::ReadB32, 4, 4), facts.ldsInstructionClocks);
  EXPECT_EQ(issueOf(eventOf(result, "ds_read")), first);
  TraceEvent one = eventOf(result, "s_waitcnt");
  EXPECT_EQ(one.stall, Stall::LdsData);
  uint64_t arrives = first + quick + facts.ldsLatency;
  EXPECT_GE(issueOf(one), arrives);
  EXPECT_LT(issueOf(one), arrives + facts.slotClocks);
  TraceEvent both = eventOf(result, "s_waitcnt", 0, 0, 5);
  arrives = first + facts.slotClocks + ldsClocks(LdsOp::ReadB32, 4, 256) +
            facts.ldsLatency;
  EXPECT_GE(issueOf(both), arrives);
  EXPECT_LT(issueOf(both), arrives + facts.slotClocks);
}

/// vmcnt(n) waits for the loads ahead of the last n, in the order of issue:
/// one whose data are near waits for an earlier one that comes from far.
TEST(SimTimingWait, VectorLoads) {
  TimedKernel kernel;
  kernel.bufferBytes = {4096};
  kernel.config.block = {64, 1, 1};
  const std::string start = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                            "  v_lshlrev_b32 v1, 2, v0\n"
                            "  s_waitcnt lgkmcnt(0)\n"
                            "  global_load_dword v8, v1, s[4:5]\n"
                            "  s_waitcnt vmcnt(0)\n";
  const std::string near = "  global_load_dword v9, v1, s[4:5]\n",
                    far = "  global_load_dword v10, v1, s[4:5] offset:1024\n";
  const TimingFacts &facts = timingFacts();
  uint64_t hbm =
      facts.l2HitClocks + uint64_t(facts.hbmNs * 1e-9 * chipFacts().clockHz);
  // Issue of the instruction with number `index` behind the start.
  auto issues = [&](const std::string &lines) {
    TimingResult result = kernel.run(start + lines);
    std::vector<TraceEvent> wave = waveOf(result, 0, 0);
    std::vector<uint64_t> clocks;
    for (size_t i = 5; i < wave.size(); ++i) {
      clocks.push_back(issueOf(wave[i]) - issueOf(wave[5]));
    }
    return clocks;
  };
  auto expectWithinSlot = [&](uint64_t found, uint64_t expected) {
    EXPECT_GE(found, expected);
    // The second line of the load leaves a little later than the first.
    EXPECT_LE(found, expected + 2 * facts.slotClocks);
  };
  auto clocks = issues(near + far +
                       "  s_waitcnt vmcnt(1)\n"
                       "  s_waitcnt vmcnt(0)\n");
  expectWithinSlot(clocks[2], facts.l1HitClocks);
  expectWithinSlot(clocks[3], facts.slotClocks + hbm);
  clocks = issues(far + near + "  s_waitcnt vmcnt(1)\n  s_waitcnt vmcnt(0)\n");
  expectWithinSlot(clocks[2], hbm);
  expectWithinSlot(clocks[3], hbm);
  clocks = issues(far + near +
                  "  s_waitcnt vmcnt(2)\n"
                  "  s_waitcnt lgkmcnt(0)\n");
  EXPECT_EQ(clocks[2], 2 * facts.slotClocks);
  EXPECT_EQ(clocks[3], 3 * facts.slotClocks);
}

/// Kernel arguments come from the memory-side cache at first and from the
/// scalar cache the second time, and are waited for by lgkmcnt(0).
TEST(SimTimingWait, ScalarLoads) {
  TimedKernel kernel;
  kernel.bufferBytes = {4096};
  kernel.config.block = {64, 1, 1};
  TimingResult result = kernel.run(
      "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
      "  s_load_dwordx2 s[6:7], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n");
  const TimingFacts &facts = timingFacts();
  uint64_t mall = inSlots(facts.l2HitClocks +
                          uint64_t(facts.mallNs * 1e-9 * chipFacts().clockHz));
  std::vector<TraceEvent> wave = waveOf(result, 0, 0);
  ASSERT_GE(wave.size(), 4u);
  EXPECT_EQ(wave[1].stall, Stall::ScalarLoad);
  EXPECT_EQ(issueOf(wave[1]) - issueOf(wave[0]), mall);
  EXPECT_EQ(issueOf(wave[3]) - issueOf(wave[2]), facts.scalarHitClocks);
}

/// A barrier lets its waves go a fixed time after the last has come.
TEST(SimTimingWait, Barrier) {
  TimedKernel kernel;
  kernel.config.block = {256, 1, 1};
  TimingResult result =
      kernel.run("  v_readfirstlane_b32 s8, v0\n  s_cmp_lg_u32 s8, 0x80\n"
                 "  s_cbranch_scc1 .Lquick\n" +
                 repeat(500, "  v_add_u32 v2, v3, v4\n") +
                 ".Lquick:\n  s_barrier\n  v_mov_b32 v5, v6\n");
  const TimingFacts &facts = timingFacts();
  uint64_t last = issueOf(eventOf(result, "s_barrier", 0, 2));
  EXPECT_GE(last, facts.waveStartClocks + 500 * facts.slotClocks);
  for (unsigned wave : {0u, 1u, 2u, 3u}) {
    TraceEvent next = eventOf(result, "v_mov_b32", 0, wave);
    EXPECT_GE(issueOf(next), last + facts.barrierClocks) << wave;
    EXPECT_LT(issueOf(next), last + facts.barrierClocks + facts.slotClocks);
    EXPECT_EQ(next.stall, Stall::Barrier);
    if (wave != 2) {
      EXPECT_LT(issueOf(eventOf(result, "s_barrier", 0, wave)),
                facts.waveStartClocks + 100);
    }
  }
  EXPECT_GE(result.stalls[unsigned(Stall::Barrier)],
            3 * 500 * facts.slotClocks);
}

/// A profile has the same waits by instruction that the launch has in all.
TEST(SimTimingWait, ProfileNamesWhatWasWaitedFor) {
  TimedKernel kernel;
  kernel.bufferBytes = {4096};
  kernel.options.ldsBytes = 65536;
  kernel.config.block = {256, 1, 1};
  kernel.config.profile = true;
  LaunchResult result = kernel.launch(
      "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_lshlrev_b32 v1, 2, v0\n"
      "  s_waitcnt lgkmcnt(0)\n  global_load_dword v8, v1, s[4:5]\n"
      "  v_lshlrev_b32 v2, 8, v0\n  s_waitcnt vmcnt(0)\n" +
      repeat(20, "  ds_read_b32 v9, v2\n") +
      "  s_waitcnt lgkmcnt(0)\n  s_barrier\n  v_exp_f32 v3, v3\n"
      "  v_exp_f32 v3, v3\n");
  std::array<uint64_t, stallCount> sums = {};
  std::map<std::string, Stall> most;
  for (const ProfileEntry &entry : result.profile) {
    uint64_t waits = 0;
    for (unsigned i = 0; i < stallCount; ++i) {
      sums[i] += entry.stalls[i];
      waits += entry.stalls[i];
      if (entry.stalls[i] &&
          entry.stalls[i] ==
              *std::max_element(entry.stalls.begin(), entry.stalls.end())) {
        most[llvm::StringRef(entry.text).trim().str()] = Stall(i);
      }
    }
    EXPECT_EQ(entry.cycles, waits + entry.count * timingFacts().slotClocks)
        << entry.text;
  }
  EXPECT_EQ(sums, result.timing->stalls);
  EXPECT_EQ(most.at("s_waitcnt vmcnt(0)"), Stall::VectorLoad);
  EXPECT_EQ(most.at("s_waitcnt lgkmcnt(0)"), Stall::LdsData);
  EXPECT_EQ(most.at("ds_read_b32 v9, v2"), Stall::Lds);
}

/// An event of a timeline names what the wave waited for longest, not first: a
/// read behind a branch waits for the branch, and then for room in LDS.
TEST(SimTimingWait, TimelineNamesTheLongestWait) {
  TimedKernel kernel;
  kernel.options.ldsBytes = 65536;
  kernel.config.block = {256, 1, 1};
  TimingResult result =
      kernel.run("  v_lshlrev_b32 v2, 8, v0\n  s_movk_i32 s9, 20\n.Lloop:\n"
                 "  ds_read_b32 v9, v2\n  s_sub_u32 s9, s9, 1\n"
                 "  s_cmp_lg_u32 s9, 0\n  s_cbranch_scc1 .Lloop\n");
  TraceEvent longest;
  for (unsigned wave = 0; wave < 4; ++wave) {
    std::vector<TraceEvent> events = waveOf(result, 0, wave);
    // Behind the first read, which no branch leads to.
    for (size_t i = 3; i < events.size(); ++i) {
      bool isRead = llvm::StringRef(result.traceTexts.at(events[i].record))
                        .contains("ds_read");
      longest =
          isRead && events[i].stalled > longest.stalled ? events[i] : longest;
    }
  }
  ASSERT_GT(longest.stalled, 3 * timingFacts().branchClocks);
  EXPECT_EQ(longest.stall, Stall::Lds);
}

} // namespace
