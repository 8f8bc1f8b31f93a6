//===- TimingLaunchTest.cpp - whole launches in time ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Occupancy, rounds of workgroups, and that a timed launch is the same on any
// number of host threads and computes what an untimed one does.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "TimedKernel.h"

using namespace tenon::sim;
using namespace tenon::sim::test;
using namespace tenon::target;

namespace {

constexpr unsigned sleepClocks = 64 * 100;
const std::string sleeper = "  s_sleep 100\n";

/// Clocks of `rounds` rounds of sleeping workgroups of one wave, and the time
/// in which a die starts its workgroups.
void expectRounds(const TimedKernel &base, unsigned perUnit, unsigned wavesEach,
                  const char *what) {
  const TimingFacts &facts = timingFacts();
  for (unsigned rounds : {1u, 2u, 3u}) {
    TimedKernel kernel = base;
    kernel.config.block = {64 * wavesEach, 1, 1};
    kernel.config.grid = {chipFacts().computeUnits * perUnit * rounds, 1, 1};
    TimingResult result = kernel.run(sleeper);
    unsigned perDie = chipFacts().computeUnits / chipFacts().xcds * perUnit;
    uint64_t first = facts.waveStartClocks + sleepClocks;
    EXPECT_GE(result.cycles, rounds * first) << what << rounds;
    EXPECT_LE(result.cycles,
              rounds * (first + 32) + perDie * facts.dispatchClocks)
        << what << rounds;
    // While all are there; starting and ending takes a little.
    double waves = double(perUnit * wavesEach) /
                   std::min(chipFacts().simdsPerCu,
                            std::max(1u, perUnit * wavesEach * rounds));
    EXPECT_LE(result.occupancyWaves, waves) << what << rounds;
    EXPECT_GE(result.occupancyWaves, 0.6 * waves) << what << rounds;
  }
}

/// LDS, registers, barriers and wave slots limit how many workgroups a compute
/// unit holds; more of them run in further rounds.
TEST(SimTimingLaunch, OccupancyAndRounds) {
  TimedKernel half;
  half.options.ldsBytes = chipFacts().ldsBytes / 2;
  expectRounds(half, 2, 4, "half of the LDS ");
  half.options.ldsBytes += chipFacts().ldsGranule;
  expectRounds(half, 1, 4, "more than half of the LDS ");
  TimedKernel wide;
  wide.options.vgprs = wide.options.accumOffset = 256;
  expectRounds(wide, 2, 4, "two waves' registers per SIMD ");
  wide.options.vgprs = 512;
  expectRounds(wide, 1, 4, "one wave's registers per SIMD ");
  TimedKernel small;
  small.options.vgprs = small.options.accumOffset = 32;
  expectRounds(small, 8, 4, "eight waves per SIMD ");
  expectRounds(small, 16, 2, "sixteen barriers ");
}

/// One workgroup more than a round takes a second round.
TEST(SimTimingLaunch, OneMoreThanFits) {
  TimedKernel kernel;
  kernel.options.ldsBytes = chipFacts().ldsBytes;
  kernel.config.block = {64, 1, 1};
  kernel.config.grid = {chipFacts().computeUnits, 1, 1};
  uint64_t one = kernel.cycles(sleeper);
  ++kernel.config.grid[0];
  uint64_t two = kernel.cycles(sleeper);
  EXPECT_LT(one, 1.2 * sleepClocks);
  EXPECT_GT(two, 2 * sleepClocks);
}

/// Workgroup w runs on die w % 8, and fills compute units in turn.
TEST(SimTimingLaunch, WorkgroupsGoAroundTheDies) {
  TimedKernel kernel;
  kernel.config.block = {64, 1, 1};
  kernel.config.grid = {24, 1, 1};
  TimingResult result = kernel.run(sleeper);
  for (unsigned group = 0; group < 24; ++group) {
    TraceEvent event = eventOf(result, "s_sleep", group);
    EXPECT_EQ(event.die, group % chipFacts().xcds);
    EXPECT_EQ(event.computeUnit, group / chipFacts().xcds);
    EXPECT_EQ(issueOf(event),
              timingFacts().waveStartClocks +
                  group / chipFacts().xcds * timingFacts().dispatchClocks);
  }
}

/// All that a launch leaves behind.
struct Outcome {
  std::vector<uint8_t> memory;
  std::string times;
  bool operator==(const Outcome &) const = default;
};

void PrintTo(const Outcome &outcome, std::ostream *stream) {
  *stream << outcome.times;
}

/// Launches a kernel of a program on buffers of 64 KiB with set contents.
Outcome launchOn(unsigned threads, const Kernel &kernel, unsigned groups,
                 bool isTimed, std::array<uint32_t, 3> block = {256, 1, 1},
                 uint32_t mask = ~0u) {
  constexpr uint64_t bytes = 65536;
  Device device;
  LaunchConfig config;
  config.grid = {groups, 1, 1};
  config.block = block;
  config.numThreads = threads;
  config.checks = CheckSet();
  config.profile = true;
  std::vector<uint64_t> buffers;
  auto addBuffer = [&] {
    uint64_t address = llvm::cantFail(device.memory().allocate(bytes));
    std::vector<uint32_t> words(bytes / 4);
    for (unsigned i = 0; i < words.size(); ++i) {
      words[i] = (i * 2654435761u >> 7) & mask;
    }
    llvm::cantFail(device.memory().write(
        address, llvm::ArrayRef(reinterpret_cast<const uint8_t *>(words.data()),
                                bytes)));
    buffers.push_back(address);
    return address;
  };
  for (const KernelArg &arg : kernel.info().args) {
    if (arg.kind == "global_buffer") {
      config.setArg(arg.offset, addBuffer());
    } else if (!arg.isHidden()) {
      config.setArg(arg.offset, groups);
    }
  }
  if (kernel.info().args.empty()) {
    config.setArg(0, addBuffer());
  }
  if (isTimed) {
    config.timing.emplace();
  }
  Outcome outcome;
  llvm::Expected<LaunchResult> result = device.launch(kernel, config);
  if (!result) {
    ADD_FAILURE() << kernel.name().str() << ": "
                  << llvm::toString(result.takeError());
    return outcome;
  }
  if (isTimed) {
    const TimingResult &timing = *result->timing;
    EXPECT_GT(timing.cycles, 0u);
    for (uint64_t value :
         {timing.cycles, timing.l1Bytes, timing.l2Bytes, timing.mallBytes,
          timing.hbmBytes, timing.ldsConflictCycles}) {
      outcome.times += std::to_string(value) + " ";
    }
    for (uint64_t value : timing.stalls) {
      outcome.times += std::to_string(value) + " ";
    }
    for (const ProfileEntry &entry : result->profile) {
      outcome.times += std::to_string(entry.count) + "/" +
                       std::to_string(entry.cycles) + " ";
    }
    outcome.times += std::to_string(timing.occupancyWaves);
  } else {
    outcome.times = std::to_string(result->waveInstructions);
  }
  for (uint64_t address : buffers) {
    std::vector<uint8_t> content(bytes);
    llvm::cantFail(device.memory().read(address, content));
    outcome.memory.insert(outcome.memory.end(), content.begin(), content.end());
  }
  return outcome;
}

/// Workgroup 0 polls until the others have added up to their number.
const char *const polling =
    "  s_load_dwordx2 s[4:5], s[0:1], 0x0\n  v_mov_b32 v1, 0\n"
    "  v_mov_b32 v2, 1\n  s_waitcnt lgkmcnt(0)\n  s_cmp_lg_u32 s2, 0\n"
    "  s_cbranch_scc1 .Lother\n.Lwait:\n  s_sleep 2\n"
    "  global_load_dword v3, v1, s[4:5] sc1\n  s_waitcnt vmcnt(0)\n"
    "  v_readfirstlane_b32 s8, v3\n  s_cmp_lg_u32 s8, 39\n"
    "  s_cbranch_scc1 .Lwait\n  v_mov_b32 v4, 7\n"
    "  global_store_dword v1, v4, s[4:5] offset:512 sc1\n  s_endpgm\n"
    ".Lother:\n  s_lshl_b32 s8, s2, 2\n  s_and_b32 s8, s8, 0x1F\n.Lspend:\n"
    "  s_sub_u32 s8, s8, 1\n  s_cmp_gt_i32 s8, 0\n  s_cbranch_scc1 .Lspend\n"
    "  s_mov_b64 exec, 1\n  global_atomic_add v1, v2, s[4:5]\n"
    "  s_waitcnt vmcnt(0)\n";

/// Times, stalls, bytes, profile and memory are the same on one, two and three
/// host threads: kernels with atomics, ones that wait for other workgroups and
/// ones whose dies do unequal work among them.
TEST(SimTimingLaunch, HostThreadsChangeNothing) {
  auto object = loadProgram("Groups.gfx950.O3");
  ASSERT_NE(object, nullptr);
  for (const char *name : {"bitonicSort", "histogram", "integerAtomics",
                           "compact", "lastGroupSums", "prefixScan"}) {
    const Kernel *kernel = object->findKernel(name);
    ASSERT_NE(kernel, nullptr) << name;
    Outcome one = launchOn(1, *kernel, 45, true);
    EXPECT_EQ(one, launchOn(2, *kernel, 45, true)) << name;
    EXPECT_EQ(one, launchOn(3, *kernel, 45, true)) << name;
  }
  auto polls = loadObject(assemble(polling));
  ASSERT_NE(polls, nullptr);
  Outcome one = launchOn(1, polls->kernels()[0], 40, true, {64, 1, 1}, 0);
  EXPECT_EQ(one, launchOn(2, polls->kernels()[0], 40, true, {64, 1, 1}, 0));
  EXPECT_EQ(one, launchOn(3, polls->kernels()[0], 40, true, {64, 1, 1}, 0));
  ASSERT_GE(one.memory.size(), 516u);
  EXPECT_EQ(one.memory[0], 39);
  EXPECT_EQ(one.memory[512], 7);
}

/// A timed launch leaves in memory what an untimed one does. (What atomics
/// return depends on the order, so that only kernels that do not use it are
/// here.)
TEST(SimTimingLaunch, ComputesWhatAnUntimedLaunchDoes) {
  auto groups = loadProgram("Groups.gfx950.O3"),
       workloads = loadProgram("Workloads.gfx950.O0");
  ASSERT_NE(groups, nullptr);
  ASSERT_NE(workloads, nullptr);
  for (const char *name :
       {"prefixScan", "bitonicSort", "histogram", "integerAtomics", "exchanges",
        "lastGroupSums", "genericPointers"}) {
    const Kernel *kernel = groups->findKernel(name);
    ASSERT_NE(kernel, nullptr) << name;
    unsigned count = name == std::string("exchanges") ? 8 : 24;
    EXPECT_EQ(launchOn(2, *kernel, count, true).memory,
              launchOn(2, *kernel, count, false).memory)
        << name;
  }
  for (const char *name : {"reduceSum", "mix64", "divideSqrt", "lookUp"}) {
    const Kernel *kernel = workloads->findKernel(name);
    ASSERT_NE(kernel, nullptr) << name;
    unsigned count = 16;
    EXPECT_EQ(launchOn(2, *kernel, count, true).memory,
              launchOn(2, *kernel, count, false).memory)
        << name;
  }
}

/// What a timed launch of a failing kernel says is what an untimed one says.
TEST(SimTimingLaunch, FailuresAreThoseOfAnUntimedLaunch) {
  auto object =
      loadObject(assemble("  s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                          "  s_lshl_b32 s8, s2, 12\n  v_add_u32 v1, s8, v0\n"
                          "  s_waitcnt lgkmcnt(0)\n"
                          "  global_load_dword v2, v1, s[4:5]\n"));
  ASSERT_NE(object, nullptr);
  std::string messages[2];
  for (bool isTimed : {false, true}) {
    Device device;
    LaunchConfig config;
    config.grid = {40, 1, 1};
    config.setArg(0, llvm::cantFail(device.memory().allocate(16384)));
    config.checks = CheckSet();
    if (isTimed) {
      config.timing.emplace();
    }
    llvm::Expected<LaunchResult> result =
        device.launch(object->kernels()[0], config);
    ASSERT_FALSE(bool(result));
    messages[isTimed] = llvm::toString(result.takeError());
  }
  EXPECT_NE(messages[0].find("workgroup (4, 0, 0)"), std::string::npos);
  EXPECT_EQ(messages[0], messages[1]);
}

} // namespace
