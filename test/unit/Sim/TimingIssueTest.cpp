//===- TimingIssueTest.cpp - clocks of instructions -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clock of the last instruction of small kernels, worked out from the facts
// of the chip.
//
//===----------------------------------------------------------------------===//

#include "TimedKernel.h"

#include <cmath>

#include <algorithm>

using namespace tenon::sim;
using namespace tenon::sim::test;
using namespace tenon::target;

namespace {

/// Clocks that `count` and twice as many differ by: what they take in steady
/// state, without beginning and end.
uint64_t clocksOf(TimedKernel &kernel, unsigned count,
                  const std::string &lines) {
  return kernel.cycles(repeat(2 * count, lines)) -
         kernel.cycles(repeat(count, lines));
}

std::string registers(unsigned first, unsigned count) {
  return count == 1 ? "v" + std::to_string(first)
                    : "v[" + std::to_string(first) + ":" +
                          std::to_string(first + count - 1) + "]";
}

/// Registers enough for every matrix instruction.
KernelOptions matrixOptions() {
  KernelOptions options;
  options.vgprs = options.accumOffset = 128;
  return options;
}

std::string matrixLine(const Mfma &mfma) {
  std::string line = "  " + mfma.mnemonic.str() + " " +
                     registers(64, mfma.accRegisters()) + ", " +
                     registers(0, mfma.aRegisters()) + ", " +
                     registers(16, mfma.bRegisters()) + ", " +
                     registers(64, mfma.accRegisters());
  if (mfma.isScalable()) {
    auto code = [](MatrixFormat format) {
      switch (format) {
      case MatrixFormat::FP8:
        return "0";
      case MatrixFormat::BF8:
        return "1";
      case MatrixFormat::FP6:
        return "2";
      case MatrixFormat::BF6:
        return "3";
      default:
        return "4";
      }
    };
    line += std::string(" cbsz:") + code(mfma.a) + " blgp:" + code(mfma.b);
  }
  return line + "\n";
}

/// Waves 0 to 3, one on each SIMD, run the first text, waves 4 to 7 the other.
std::string twoKinds(const std::string &first, const std::string &other) {
  return "  v_readfirstlane_b32 s8, v0\n  s_cmp_ge_u32 s8, 0x100\n"
         "  s_cbranch_scc1 .Lother\n" +
         first + "  s_endpgm\n.Lother:\n" + other;
}

/// One wave issues a vector instruction per slot; a wave begins a fixed time
/// after its dispatch.
TEST(SimTimingIssue, VectorInstructionsOfOneWave) {
  TimedKernel kernel;
  kernel.config.block = {64, 1, 1};
  for (unsigned count : {0u, 1u, 7u, 100u}) {
    EXPECT_EQ(kernel.cycles(repeat(count, "  v_add_u32 v2, v3, v4\n")),
              timingFacts().waveStartClocks + count * timingFacts().slotClocks)
        << count;
  }
}

/// Waves on one SIMD share its vector ALU, waves on different ones do not. The
/// four SIMDs take turns, so that the last is three clocks late.
TEST(SimTimingIssue, SimdsShareNothingButTheirWavesDo) {
  constexpr unsigned count = 100;
  for (unsigned waves : {1u, 4u, 5u, 8u, 16u}) {
    TimedKernel kernel;
    kernel.config.block = {64 * waves, 1, 1};
    unsigned simds = chipFacts().simdsPerCu;
    uint64_t busiest = (waves + simds - 1) / simds;
    uint64_t phase = waves % simds ? waves % simds - 1 : simds - 1;
    EXPECT_EQ(kernel.cycles(repeat(count, "  v_add_u32 v2, v3, v4\n")),
              timingFacts().waveStartClocks + phase +
                  busiest * count * timingFacts().slotClocks)
        << waves;
  }
}

/// Vector, scalar and branch instructions of different waves fit one slot.
TEST(SimTimingIssue, UnitsWorkSideBySide) {
  TimedKernel kernel;
  kernel.config.block = {512, 1, 1};
  std::string vector = repeat(200, "  v_add_u32 v2, v3, v4\n");
  std::string scalar = repeat(200, "  s_add_u32 s9, s10, s11\n");
  uint64_t alone = kernel.cycles(twoKinds(vector, ""));
  EXPECT_LE(kernel.cycles(twoKinds(vector, scalar)), alone + 32);
  EXPECT_EQ(kernel.cycles(twoKinds(vector, vector)),
            alone + 200 * timingFacts().slotClocks);
}

/// Transcendental functions, 32-bit products and doubles keep the ALU for as
/// long as they take.
TEST(SimTimingIssue, SlowVectorInstructions) {
  TimedKernel kernel;
  kernel.config.block = {64, 1, 1};
  const TimingFacts &facts = timingFacts();
  EXPECT_GT(facts.transClocks, facts.slotClocks);
  for (const char *line :
       {"v_exp_f32 v2, v3", "v_log_f32 v2, v3", "v_rcp_f32 v2, v3",
        "v_rsq_f32 v2, v3", "v_sqrt_f32 v2, v3", "v_sin_f32 v2, v3",
        "v_cos_f32 v2, v3", "v_rcp_f16 v2, v3"}) {
    EXPECT_EQ(clocksOf(kernel, 10, "  " + std::string(line) + "\n"),
              10 * facts.transClocks)
        << line;
  }
  for (const char *line : {"v_mul_lo_u32 v2, v3, v4", "v_mul_hi_u32 v2, v3, v4",
                           "v_mad_u64_u32 v[2:3], vcc, v4, v5, v[6:7]"}) {
    EXPECT_EQ(clocksOf(kernel, 10, "  " + std::string(line) + "\n"),
              10 * facts.quarterRateClocks)
        << line;
  }
  EXPECT_EQ(
      clocksOf(kernel, 10, "  v_fma_f64 v[2:3], v[4:5], v[6:7], v[8:9]\n"),
      10 * facts.doubleClocks);
  EXPECT_EQ(
      clocksOf(kernel, 10, "  v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]\n"),
      10 * facts.slotClocks);
  // The first of three keeps the ALU for all its clocks, the last for none.
  EXPECT_EQ(kernel.cycles("  v_exp_f32 v2, v3\n  v_exp_f32 v4, v5\n"
                          "  v_mov_b32 v6, v7\n"),
            facts.waveStartClocks + 2 * facts.transClocks + facts.slotClocks);
}

/// Back to back, every matrix instruction of every pair of formats takes its
/// passes of four clocks, and as much of the matrix cores' time.
TEST(SimTimingIssue, MatrixInstructionsBackToBack) {
  TimedKernel kernel;
  kernel.options = matrixOptions();
  kernel.config.block = {64, 1, 1};
  kernel.timing.skipValues = true;
  for (const Mfma &mfma : timedChip().mfmas()) {
    std::string line = matrixLine(mfma);
    TimingResult once = kernel.run(repeat(12, line));
    TimingResult result = kernel.run(repeat(24, line));
    EXPECT_EQ(result.cycles - once.cycles, 12u * 4 * mfma.passes) << line;
    EXPECT_NEAR(result.fractionOfMfma * double(result.cycles),
                24.0 * 4 * mfma.passes /
                    (chipFacts().computeUnits * chipFacts().simdsPerCu),
                1e-9)
        << line;
  }
}

/// The four matrix cores of a compute unit work at the same time; two waves on
/// one SIMD share its core.
TEST(SimTimingIssue, MatrixCoresOfSimds) {
  const Mfma *mfma =
      timedChip().findMfma(16, 16, 32, MatrixFormat::BF16, MatrixFormat::BF16);
  ASSERT_NE(mfma, nullptr);
  uint64_t alone = 0;
  for (unsigned waves : {1u, 4u, 8u}) {
    TimedKernel kernel;
    kernel.options = matrixOptions();
    kernel.config.block = {64 * waves, 1, 1};
    uint64_t clocks = clocksOf(kernel, 20, matrixLine(*mfma));
    alone = waves == 1 ? clocks : alone;
    EXPECT_EQ(clocks, waves == 8 ? 2 * alone : alone) << waves;
  }
}

/// While a matrix core works, other waves of the SIMD use its ALU, the scalar
/// ALU and LDS.
TEST(SimTimingIssue, MatrixInstructionsOverlapWithOthers) {
  TimedKernel kernel;
  kernel.options = matrixOptions();
  kernel.options.ldsBytes = 4096;
  kernel.config.block = {512, 1, 1};
  const Mfma *mfma =
      timedChip().findMfma(32, 32, 16, MatrixFormat::BF16, MatrixFormat::BF16);
  ASSERT_NE(mfma, nullptr);
  std::string matrix = repeat(40, matrixLine(*mfma));
  uint64_t matrixClocks = 40 * 4 * mfma->passes;
  uint64_t alone = kernel.cycles(twoKinds(matrix, ""));
  EXPECT_GE(alone, matrixClocks);
  for (const char *line :
       {"  v_add_u32 v2, v3, v4\n", "  s_add_u32 s9, s10, s11\n",
        "  ds_read_b32 v2, v0\n"}) {
    std::string others = repeat(100, line);
    uint64_t mixed = kernel.cycles(twoKinds(matrix, others));
    EXPECT_LE(mixed, alone + 64) << line; // not the 400 clocks of the others
    // Nor do the others wait for all of the matrix instructions.
    TimingResult result = kernel.run(twoKinds(matrix, others));
    std::vector<TraceEvent> wave = waveOf(result, 0, 4);
    ASSERT_FALSE(wave.empty());
    EXPECT_LT(wave.back().end, timingFacts().waveStartClocks + matrixClocks)
        << line;
  }
}

/// Behind a matrix instruction of 8 passes or more no vector instruction
/// follows for a while; behind a shorter one it follows at once.
TEST(SimTimingIssue, ShadowOfMatrixInstructions) {
  TimedKernel kernel;
  kernel.options = matrixOptions();
  kernel.config.block = {64, 1, 1};
  const TimingFacts &facts = timingFacts();
  for (unsigned passes : {4u, 8u}) {
    const auto mfmas = timedChip().mfmas();
    const Mfma *mfma =
        std::find_if(mfmas.begin(), mfmas.end(),
                     [&](const Mfma &each) { return each.passes == passes; });
    ASSERT_NE(mfma, mfmas.end());
    unsigned shadow = passes == 8 ? facts.matrixShadowClocks : facts.slotClocks;
    EXPECT_EQ(kernel.cycles(matrixLine(*mfma) + "  v_mov_b32 v60, v61\n"),
              facts.waveStartClocks + shadow + facts.slotClocks);
  }
}

/// The clock under load: all matrix cores busy, it is that of the format.
TEST(SimTimingIssue, ClockFallsUnderMatrixLoad) {
  TimedKernel kernel;
  kernel.options = matrixOptions();
  kernel.timing.skipValues = true;
  kernel.config.block = {256, 1, 1};
  kernel.config.grid = {chipFacts().computeUnits, 1, 1};
  const TimingFacts &facts = timingFacts();
  const Mfma *wide =
      timedChip().findMfma(16, 16, 128, MatrixFormat::FP8, MatrixFormat::FP8);
  const Mfma *narrow =
      timedChip().findMfma(16, 16, 128, MatrixFormat::FP4, MatrixFormat::FP4);
  const Mfma *half =
      timedChip().findMfma(16, 16, 32, MatrixFormat::F16, MatrixFormat::F16);
  for (auto [mfma, clock] : {std::pair(wide, facts.matrixClockF8),
                             std::pair(narrow, facts.matrixClockF4),
                             std::pair(half, facts.matrixClockF16)}) {
    ASSERT_NE(mfma, nullptr);
    TimingResult result = kernel.run("  s_movk_i32 s9, 0x40\n.Lloop:\n" +
                                     repeat(32, matrixLine(*mfma)) +
                                     "  s_sub_u32 s9, s9, 1\n"
                                     "  s_cmp_lg_u32 s9, 0\n"
                                     "  s_cbranch_scc1 .Lloop\n");
    EXPECT_GT(result.fractionOfMfma, 0.95);
    // Use times the cube of the clock is constant.
    EXPECT_NEAR(result.clockHz, clock / std::cbrt(result.fractionOfMfma), 1e3);
    EXPECT_NEAR(result.us,
                facts.launchUs + double(result.cycles) / result.clockHz * 1e6,
                1e-9);
    EXPECT_NEAR(result.usEndToEnd, result.us + facts.endToEndUs, 1e-9);
  }
}

/// s_nop and s_sleep keep their wave for what they say, and no other.
TEST(SimTimingIssue, NopsAndSleep) {
  TimedKernel kernel;
  kernel.config.block = {64, 1, 1};
  const TimingFacts &facts = timingFacts();
  for (unsigned nop : {0u, 1u, 7u, 15u}) {
    EXPECT_EQ(kernel.cycles("  s_nop " + std::to_string(nop) + "\n"),
              facts.waveStartClocks + (nop + 1) * facts.slotClocks);
  }
  for (unsigned sleep : {1u, 2u, 100u}) {
    EXPECT_EQ(kernel.cycles("  s_sleep " + std::to_string(sleep) + "\n"),
              facts.waveStartClocks + 64 * sleep + facts.slotClocks);
  }
  TimedKernel both;
  both.config.block = {512, 1, 1};
  std::string vector = repeat(100, "  v_add_u32 v2, v3, v4\n");
  uint64_t alone = both.cycles(twoKinds(vector, ""));
  EXPECT_LE(both.cycles(twoKinds(vector, repeat(8, "  s_nop 9\n"))), alone + 8);
}

/// A branch that is taken costs more than its slot; one that is not does not.
TEST(SimTimingIssue, Branches) {
  TimedKernel kernel;
  kernel.config.block = {64, 1, 1};
  const TimingFacts &facts = timingFacts();
  auto loop = [&](unsigned count) {
    return kernel.cycles("  s_movk_i32 s9, " + std::to_string(count) +
                         "\n.Lloop:\n  s_sub_u32 s9, s9, 1\n"
                         "  s_cmp_lg_u32 s9, 0\n  s_cbranch_scc1 .Lloop\n");
  };
  EXPECT_EQ(loop(200) - loop(100),
            100 * (3 * facts.slotClocks + facts.branchClocks));
  EXPECT_EQ(kernel.cycles("  s_cmp_lg_u32 s9, s9\n" +
                          repeat(10, "  s_cbranch_scc1 .Lend\n") + ".Lend:\n"),
            facts.waveStartClocks + 11 * facts.slotClocks);
}

/// Code that does not fit the instruction cache is fetched again and again:
/// two lines at a time, each time they are reached.
TEST(SimTimingIssue, InstructionFetch) {
  TimedKernel kernel;
  kernel.config.block = {64, 1, 1};
  const TimingFacts &facts = timingFacts();
  // Straight code of twice the cache; the first half is warm.
  unsigned lines = 2 * chipFacts().instructionCacheBytes / facts.fetchLineBytes;
  unsigned perLine = facts.fetchLineBytes / 4;
  TimingResult result =
      kernel.run(repeat(lines * perLine, "  v_mov_b32 v2, v3\n"));
  uint64_t issue = uint64_t(lines) * perLine * facts.slotClocks;
  // Reaching a line asks for the next one as well, so that of two lines in a
  // row the second is on its way while the first is waited for and executed.
  double twoLines = facts.fetchMissClocks - perLine * facts.slotClocks;
  double expected = double(lines) / 4 * twoLines;
  double stalled = double(result.stalls[unsigned(Stall::Fetch)]);
  EXPECT_NEAR(stalled, expected, 0.05 * expected);
  EXPECT_EQ(result.cycles, facts.waveStartClocks + issue + uint64_t(stalled));
}

/// s_setprio lets a younger wave go first.
TEST(SimTimingIssue, Priority) {
  TimedKernel kernel;
  kernel.config.block = {512, 1, 1};
  std::string vector = repeat(100, "  v_add_u32 v2, v3, v4\n");
  auto endOf = [&](const std::string &younger, unsigned wave) {
    TimingResult result = kernel.run(twoKinds(vector, younger + vector));
    return waveOf(result, 0, wave).back().end;
  };
  EXPECT_LT(endOf("", 0), endOf("", 4));
  EXPECT_GT(endOf("  s_setprio 3\n", 0), endOf("  s_setprio 3\n", 4));
}

} // namespace
