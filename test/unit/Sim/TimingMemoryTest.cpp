//===- TimingMemoryTest.cpp - latencies and bandwidths ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TimedKernel.h"

using namespace tenon::sim;
using namespace tenon::sim::test;
using namespace tenon::target;

namespace {

/// Writes a ring of `links` addresses that lie `stride` bytes apart.
void writeRing(Memory &memory, uint64_t base, unsigned links, uint64_t stride) {
  for (unsigned i = 0; i < links; ++i) {
    uint64_t next = base + (i + 1) % links * stride;
    llvm::cantFail(memory.write(
        base + i * stride,
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(&next), 8)));
  }
}

/// A wave that follows a chain of addresses, each load waiting for the one
/// before.
std::string chase(unsigned loads, const std::string &modifiers = "") {
  return "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
         "  v_mov_b32 v2, s4\n  v_mov_b32 v3, s5\n" +
         repeat(loads, "  global_load_dwordx2 v[2:3], v[2:3], off" + modifiers +
                           "\n  s_waitcnt vmcnt(0)\n");
}

/// Clocks of one link of a chain, in steady state.
double clocksPerLink(TimedKernel &kernel, const std::string &modifiers = "") {
  constexpr unsigned loads = 64;
  return double(kernel.cycles(chase(2 * loads, modifiers)) -
                kernel.cycles(chase(loads, modifiers))) /
         loads;
}

uint64_t clocksOfNs(double ns) {
  return uint64_t(ns * 1e-9 * chipFacts().clockHz);
}

/// Each link of a chain takes the latency of the level that holds it and the
/// slot of the load.
TEST(SimTimingMemory, LatencyOfEachLevel) {
  const TimingFacts &facts = timingFacts();
  unsigned line = chipFacts().l2LineBytes;
  TimedKernel kernel;
  kernel.config.block = {64, 1, 1};
  auto ring = [&](uint64_t bytes, unsigned links) {
    kernel.bufferBytes = {bytes};
    kernel.fill = [=](Memory &memory, llvm::ArrayRef<uint64_t> buffers) {
      writeRing(memory, buffers[0], links, line);
    };
  };
  // Eight lines, which the first lap brings into the L1.
  ring(8 * line, 8);
  EXPECT_EQ(clocksPerLink(kernel),
            inSlots(facts.l1HitClocks) + facts.slotClocks);
  // The same past the L1.
  EXPECT_EQ(clocksPerLink(kernel, " sc1"),
            inSlots(facts.l2HitClocks) + facts.slotClocks);
  // Never the same line, in a buffer that begins in HBM.
  ring(1 << 20, 256);
  EXPECT_EQ(clocksPerLink(kernel),
            inSlots(facts.l2HitClocks + clocksOfNs(facts.hbmNs)) +
                facts.slotClocks);
  // The same in the memory-side cache.
  kernel.timing.warmMall = true;
  EXPECT_EQ(clocksPerLink(kernel),
            inSlots(facts.l2HitClocks + clocksOfNs(facts.mallNs)) +
                facts.slotClocks);
  kernel.timing.warmMall = false;
  // In the L2 from the start.
  kernel.timing.warm = true;
  EXPECT_EQ(clocksPerLink(kernel),
            inSlots(facts.l2HitClocks) + facts.slotClocks);
  // In the memory-side cache: the L2 holds the end of a larger buffer.
  ring(16 * uint64_t(chipFacts().l2Bytes), 256);
  EXPECT_EQ(clocksPerLink(kernel),
            inSlots(facts.l2HitClocks + clocksOfNs(facts.mallNs)) +
                facts.slotClocks);
}

/// What one die has fetched from HBM, another finds in the memory-side cache.
TEST(SimTimingMemory, DiesShareTheMemorySideCache) {
  TimedKernel kernel;
  kernel.bufferBytes = {4096};
  kernel.config.block = {64, 1, 1};
  kernel.config.grid = {2, 1, 1};
  // Workgroup 1, on another die, comes later.
  TimingResult result = kernel.run(
      "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  s_waitcnt lgkmcnt(0)\n"
      "  v_mov_b32 v1, 0\n  s_cmp_eq_u32 s2, 0\n  s_cbranch_scc1 .Lgo\n"
      "  s_sleep 100\n.Lgo:\n  global_load_dword v8, v1, s[4:5] offset:256\n"
      "  s_waitcnt vmcnt(0)\n");
  auto latency = [&](unsigned workgroup) {
    return issueOf(eventOf(result, "s_waitcnt vmcnt", workgroup)) -
           issueOf(eventOf(result, "global_load", workgroup));
  };
  const TimingFacts &facts = timingFacts();
  EXPECT_EQ(latency(0), inSlots(facts.l2HitClocks + clocksOfNs(facts.hbmNs)));
  EXPECT_EQ(latency(1), inSlots(facts.l2HitClocks + clocksOfNs(facts.mallNs)));
}

/// Workgroups of 256 that load (or store) 32 KiB each, apart from each other:
/// workgroup w works on what lies at (w & mask) * 32 KiB.
std::string stream(bool isStore, unsigned mask, const std::string &modifiers) {
  std::string text = "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                     "  v_lshlrev_b32 v1, 4, v0\n  s_and_b32 s2, s2, 0x" +
                     llvm::utohexstr(mask) +
                     "\n  s_lshl_b32 s8, s2, 15\n  v_add_u32 v1, s8, v1\n"
                     "  s_waitcnt lgkmcnt(0)\n";
  for (unsigned i = 0; i < 8; ++i) {
    std::string data = "v[" + std::to_string(8 + 4 * i) + ":" +
                       std::to_string(11 + 4 * i) + "]";
    text += isStore ? "  global_store_dwordx4 v1, " + data
                    : "  global_load_dwordx4 " + data + ", v1";
    text += ", s[4:5]" + modifiers + "\n  v_add_u32 v1, 0x1000, v1\n";
  }
  return text + "  s_waitcnt vmcnt(0)\n";
}

/// Kernels that only load reach the bandwidth of HBM and those that only store
/// that of the memory-side cache, as often as their bytes say and no more.
TEST(SimTimingMemory, StreamsReachHbmBandwidth) {
  constexpr uint64_t bytes = 64 << 20;
  for (bool isStore : {false, true}) {
    TimedKernel kernel;
    kernel.bufferBytes = {bytes};
    kernel.config.block = {256, 1, 1};
    kernel.config.grid = {bytes >> 15, 1, 1};
    TimingResult result = kernel.run(stream(isStore, 0xFFFF, ""));
    // Stores end in the memory-side cache, which holds them all.
    double bandwidth =
        isStore ? timingFacts().mallBandwidth : timingFacts().hbmBandwidth;
    double best = double(bytes) / bandwidth * chipFacts().clockHz;
    double latency =
        double(timingFacts().l2HitClocks + clocksOfNs(timingFacts().hbmNs));
    // No store goes further than the L2 until that is full.
    unsigned unitsOfDie = chipFacts().computeUnits / chipFacts().xcds;
    double toL2 = std::min(unitsOfDie * timingFacts().l1BytesPerClock,
                           timingFacts().l2Channels *
                               timingFacts().l2ChannelBytesPerClock);
    double untilFull = isStore ? double(chipFacts().l2Bytes) / toL2 : 0;
    EXPECT_GE(double(result.cycles), 0.99 * best) << isStore;
    EXPECT_LE(double(result.cycles), 1.02 * best + 2 * latency + untilFull)
        << isStore;
    EXPECT_NEAR(double(result.hbmBytes), double(bytes), 0.01 * bytes);
    EXPECT_NEAR(double(result.l1Bytes), double(bytes), 0.01 * bytes);
  }
}

/// What the L2s hold at the end goes to HBM behind the kernel: it counts as
/// bytes, but not as use of its bandwidth.
TEST(SimTimingMemory, BytesBehindTheKernelAreNoUseOfHbm) {
  constexpr uint64_t bytes = 2 << 20;
  TimedKernel kernel;
  kernel.bufferBytes = {bytes};
  kernel.config.block = {256, 1, 1};
  kernel.config.grid = {bytes >> 15, 1, 1};
  TimingResult held = kernel.run(stream(true, 0xFFFF, ""));
  EXPECT_NEAR(double(held.hbmBytes), double(bytes), 0.01 * bytes);
  EXPECT_LT(held.fractionOfHbm, 0.01);
  TimingResult streamed = kernel.run(stream(true, 0xFFFF, " nt"));
  EXPECT_NEAR(streamed.fractionOfHbm,
              double(bytes) * chipFacts().clockHz /
                  (double(streamed.cycles) * timingFacts().hbmBandwidth),
              0.01);
  EXPECT_LE(streamed.fractionOfHbm, 1.0);
}

/// A kernel whose data fit the L2 runs at its bandwidth, and leaves HBM alone.
TEST(SimTimingMemory, ResidentDataReachL2Bandwidth) {
  constexpr uint64_t bytes = 2 << 20;
  TimedKernel kernel;
  kernel.timing.warm = true;
  kernel.bufferBytes = {bytes};
  kernel.config.block = {256, 1, 1};
  auto run = [&](unsigned groups) {
    kernel.config.grid = {groups, 1, 1};
    return kernel.run(stream(false, (bytes >> 15) - 1, " sc1"));
  };
  TimingResult once = run(2048), result = run(4096);
  double best = 2048.0 * 32768 /
                (chipFacts().xcds * timingFacts().l2Channels *
                 timingFacts().l2ChannelBytesPerClock);
  double clocks = double(result.cycles - once.cycles);
  EXPECT_GE(clocks, best);
  EXPECT_LE(clocks, 1.25 * best);
  EXPECT_NEAR(result.fractionOfL2 * double(result.cycles), 2 * best,
              0.02 * best);
  EXPECT_EQ(result.hbmBytes, 0u);
}

/// Lanes that share lines cost what the lines cost: a load with a line per lane
/// takes 64 clocks of the address unit, one of adjacent lanes few.
TEST(SimTimingMemory, Coalescing) {
  TimedKernel kernel;
  kernel.timing.warm = true;
  kernel.bufferBytes = {1 << 20};
  kernel.config.block = {64, 1, 1};
  auto clocks = [&](unsigned shift) {
    auto body = [&](unsigned loads) {
      return "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_lshlrev_b32 v1, " +
             std::to_string(shift) + ", v0\n  s_waitcnt lgkmcnt(0)\n" +
             repeat(loads, "  global_load_dword v8, v1, s[4:5]\n");
    };
    return double(kernel.cycles(body(400)) - kernel.cycles(body(200))) / 200;
  };
  unsigned line = chipFacts().l2LineBytes;
  ASSERT_EQ(line, 128u);
  EXPECT_EQ(clocks(2), 4);  // 16 lanes a clock
  EXPECT_EQ(clocks(4), 8);  // 64 lanes in 8 lines
  EXPECT_EQ(clocks(6), 32); // two lanes a line
  EXPECT_EQ(clocks(7), 64);
}

/// Atomics go to the L2 and take longer than loads there.
TEST(SimTimingMemory, Atomics) {
  TimedKernel kernel;
  kernel.timing.warm = true;
  kernel.bufferBytes = {4096};
  kernel.config.block = {64, 1, 1};
  TimingResult result = kernel.run(
      "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32 v1, 0\n"
      "  v_mov_b32 v2, 1\n  s_waitcnt lgkmcnt(0)\n"
      "  global_atomic_add v8, v1, v2, s[4:5] sc0\n  s_waitcnt vmcnt(0)\n");
  EXPECT_EQ(issueOf(eventOf(result, "s_waitcnt vmcnt")) -
                issueOf(eventOf(result, "global_atomic")),
            inSlots(timingFacts().l2HitClocks + timingFacts().atomicClocks));
}

/// --cache warm: data that fit come from the L2, what is written goes to HBM
/// all the same.
TEST(SimTimingMemory, WarmData) {
  TimedKernel kernel;
  kernel.bufferBytes = {1 << 20};
  kernel.config.block = {256, 1, 1};
  kernel.config.grid = {32, 1, 1};
  TimingResult cold = kernel.run(stream(false, 0xFFFF, ""));
  kernel.timing.warm = true;
  TimingResult warm = kernel.run(stream(false, 0xFFFF, ""));
  EXPECT_NEAR(double(cold.hbmBytes), 1 << 20, 1024);
  EXPECT_EQ(warm.hbmBytes, 0u);
  EXPECT_EQ(warm.l1Bytes, cold.l1Bytes);
  EXPECT_LT(warm.cycles + clocksOfNs(timingFacts().hbmNs), cold.cycles);
  TimingResult stored = kernel.run(stream(true, 0xFFFF, ""));
  EXPECT_EQ(stored.hbmBytes, 1u << 20);
}

} // namespace
