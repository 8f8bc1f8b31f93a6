//===- TimedDispatch.cpp - a launch in time ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TimedDispatch.h"

#include "../SourceLines.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <barrier>
#include <cfenv>
#include <cmath>
#include <thread>

using namespace llvm;

namespace tenon::sim {

/// Clocks between two moments at which dies see each other.
static constexpr uint64_t epochClocks = 512;

/// The most rounds of resident workgroups that a sampled launch runs.
static constexpr uint64_t mostSampledRounds = 20;
/// Workgroups, evenly over the grid, by which it is found whether the last ones
/// do something, and how many times fewer instructions are nothing.
static constexpr uint64_t shortProbes = 8;
static constexpr uint64_t muchLess = 8;

/// Findings of a launch that are kept.
static constexpr size_t mostFindings = 100;

/// Above this use of its bandwidth a sampled die runs again with what the dies
/// share taken into account.
static constexpr double busyHbm = 0.5;

/// Above this use of it a round takes as long as HBM works for it.
static constexpr double boundByHbm = 0.95;

StringRef stallName(Stall stall) {
  static constexpr const char *names[stallCount] = {
      "fetch",       "branch",        "vector_load", "lds_data",
      "scalar_load", "barrier",       "matrix",      "vector",
      "lds",         "vector_memory", "issue",       "sleep"};
  return names[unsigned(stall)];
}

TimedDispatch::TimedDispatch(const LaunchSetup &setup,
                             const TimingOptions &options,
                             const target::TargetInfo &chip,
                             const target::TimingFacts &facts)
    : launch(setup, options, chip, facts), busy(setup.workgroups) {}

uint64_t TimedDispatch::groupsOfDie(unsigned die) const {
  return busy > die ? (busy - die - 1) / launch.dies + 1 : 0;
}

Expected<uint64_t> TimedDispatch::instructionsOf(uint64_t number) {
  DeviceMemoryTiming device(launch.chip, launch.timing, 1);
  std::vector<std::unique_ptr<Die>> dies;
  dies.push_back(std::make_unique<Die>(launch, device, 0, 1));
  Die &die = *dies.front();
  die.probe(number);
  warm(die, device);
  uint64_t budget = launch.setup.config.instructionBudget;
  for (uint64_t now = 0; !die.hasEnded() && !die.failure() &&
                         die.counts.waveInstructions <= budget;) {
    now += epochClocks;
    die.runUntil(now);
    std::vector<DieMemory *> memories{&die.memory};
    die.resume(now);
    device.endEpoch(memories, now);
  }
  if (Error error = failureOf(dies)) {
    return std::move(error);
  }
  return die.counts.waveInstructions;
}

Expected<uint64_t> TimedDispatch::findBusy() {
  uint64_t own = groupsOfDie(0);
  if (own <= shortProbes || own <= sampledRounds * launch.round()) {
    return busy; // it is hardly more than the sample
  }
  uint64_t most = 0;
  auto isShort = [&](uint64_t instructions) {
    return instructions * muchLess < most;
  };
  std::vector<uint64_t> found;
  for (uint64_t i = 0; i <= shortProbes; ++i) {
    Expected<uint64_t> instructions =
        instructionsOf((own - 1) * i / shortProbes);
    if (!instructions) {
      return instructions.takeError();
    }
    found.push_back(*instructions);
    most = std::max(most, *instructions);
  }
  // Those up to the last that is not short, if there are others behind it only.
  uint64_t busyProbes = 0;
  while (busyProbes < found.size() && !isShort(found[busyProbes])) {
    ++busyProbes;
  }
  bool isMixed = std::any_of(found.begin() + int64_t(busyProbes), found.end(),
                             [&](uint64_t count) { return !isShort(count); });
  if (busyProbes == 0 || busyProbes == found.size() || isMixed) {
    return busy;
  }
  uint64_t low = (own - 1) * (busyProbes - 1) / shortProbes;
  uint64_t high = (own - 1) * busyProbes / shortProbes;
  while (high - low > 1) {
    uint64_t middle = (low + high) / 2;
    Expected<uint64_t> instructions = instructionsOf(middle);
    if (!instructions) {
      return instructions.takeError();
    }
    (isShort(*instructions) ? high : low) = middle;
  }
  return std::min(busy, high * launch.dies);
}

Error TimedDispatch::failureOf(
    const std::vector<std::unique_ptr<Die>> &dies) const {
  for (const std::unique_ptr<Die> &die : dies) {
    if (die->missing()) {
      return make_error<MissingValues>(die->failure()->describeFailure(),
                                       *die->missing());
    }
  }
  const ResidentWorkgroup *first = nullptr;
  for (const std::unique_ptr<Die> &die : dies) {
    const ResidentWorkgroup *failed = die->failure();
    if (failed && (!first || failed->position < first->position)) {
      first = failed;
    }
  }
  if (!first) {
    return Error::success();
  }
  return make_error<LaunchFailure>(
      first->describeFailure(), first->failure->check, std::vector<Finding>());
}

uint64_t TimedDispatch::extrapolate(const Die &die, uint64_t all,
                                    uint64_t drain) const {
  uint64_t run = die.counts.workgroups;
  uint64_t clocks = die.lastClock() + drain;
  if (run == all) {
    return clocks;
  }
  // A round is what the die holds at a time. The first ones fill the pipeline
  // and the caches, the last one drains them; those that were not run take as
  // long as the last third of the others.
  uint64_t round = launch.round();
  const std::vector<uint64_t> &ends = die.endTimes();
  uint64_t whole = run / round - 1;
  double period = 0;
  if (whole == 1) {
    // Of two long ones the second one, whose workgroups begin and end with
    // those of the first in front of them.
    for (uint64_t i = 0; i < round; ++i) {
      period += double(ends[round + i] - ends[i]) / double(round);
    }
  } else {
    uint64_t steady = std::max<uint64_t>(1, whole / 3);
    period =
        double(ends[whole * round - 1] - ends[(whole - steady) * round - 1]) /
        double(steady);
  }
  // Rounds that HBM bounds all begin with loads and end with stores, which fall
  // into step only after many rounds: HBM's work is what each of them takes.
  if (die.memory.traffic.hbmClocks > boundByHbm * double(clocks)) {
    period = trafficOfRound(die).hbmClocks;
  }
  // The last round lasts as long as the compute unit with the most of it.
  uint64_t rest = all % round;
  double last = std::ceil(double(rest) / launch.unitsPerDie) /
                double(launch.groupsPerUnit);
  double missing = double(all / round) + last - double(run / round);
  return clocks + uint64_t(period * missing);
}

MemoryTraffic TimedDispatch::trafficOfRound(const Die &die) const {
  // What the first round fetches, later ones may find in the caches. Writes
  // come late, also after the end: they are those of the mean round.
  ArrayRef<MemoryTraffic> rounds =
      die.trafficOfRounds().take_front(die.counts.workgroups / launch.round());
  MemoryTraffic sum;
  double share = 1 / double(rounds.size() - 1);
  for (const MemoryTraffic &round : rounds.drop_front()) {
    MemoryTraffic reads = round;
    reads.mallBytes -= round.hbmWriteBytes();
    reads.hbmBytes = round.hbmReadBytes;
    reads.hbmClocks = round.hbmReadClocks;
    sum.addScaled(reads, MemoryTraffic(), share);
  }
  const MemoryTraffic &all = die.memory.traffic;
  double mean = double(launch.round()) / double(die.counts.workgroups);
  uint64_t written = uint64_t(double(all.hbmWriteBytes()) * mean);
  sum.mallBytes += written;
  sum.hbmBytes += written;
  sum.hbmClocks += all.hbmWriteClocks() * mean;
  return sum;
}

MemoryTraffic TimedDispatch::trafficOfAll(const Die &die) const {
  double missing =
      double(groupsOfDie(0) - die.counts.workgroups) / double(launch.round());
  MemoryTraffic sum = die.memory.traffic;
  if (missing > 0) {
    sum.addScaled(trafficOfRound(die), MemoryTraffic(), missing);
  }
  MemoryTraffic all;
  all.addScaled(sum, MemoryTraffic(), double(busy) / double(groupsOfDie(0)));
  return all;
}

double TimedDispatch::firstFetchShareOf(ArrayRef<uint64_t> lines) const {
  DenseMap<uint64_t, std::pair<uint64_t, uint64_t>> allocations;
  unsigned size = launch.facts.l2LineBytes;
  for (uint64_t line : lines) {
    auto [base, bytes] = launch.setup.memory.allocationOf(line * size);
    auto &entry = allocations[base];
    ++entry.first;
    entry.second = (bytes + size - 1) / size + 1;
  }
  double fetched = 0, first = 0;
  for (const auto &[base, entry] : allocations) {
    double everyDie = double(entry.first) * launch.dies;
    fetched += everyDie;
    first += std::min(everyDie, double(entry.second));
  }
  return fetched ? first / fetched : 1;
}

Expected<TimedDispatch::Pass> TimedDispatch::runPass(unsigned dieCount,
                                                     double firstFetchShare) {
  const LaunchSetup &setup = launch.setup;
  DeviceMemoryTiming device(launch.chip, launch.timing, dieCount);
  bool isSampled = dieCount < launch.dies;
  if (isSampled) {
    device.setFirstFetchShare(firstFetchShare);
  }
  std::vector<std::unique_ptr<Die>> dies;
  for (unsigned i = 0; i < dieCount; ++i) {
    dies.push_back(std::make_unique<Die>(launch, device, i, groupsOfDie(i)));
    if (isSampled) {
      dies.back()->sampleRounds(mostSampledRounds);
    }
    warm(*dies.back(), device);
  }
  sampledLines.clear();

  uint64_t now = 0;
  bool goesOn = true;
  bool overBudget = false;
  auto endEpoch = [&]() noexcept {
    now += epochClocks;
    uint64_t instructions = 0;
    std::vector<DieMemory *> memories;
    goesOn = false;
    for (std::unique_ptr<Die> &die : dies) {
      if (isSampled) {
        sampledLines.insert(sampledLines.end(), die->memory.fetched.begin(),
                            die->memory.fetched.end());
      } else {
        die->publish();
      }
      memories.push_back(&die->memory);
      die->resume(now);
      instructions += die->counts.waveInstructions;
      goesOn |= !die->hasEnded();
    }
    device.endEpoch(memories, now);
    for (std::unique_ptr<Die> &die : dies) {
      goesOn &= !die->failure();
    }
    if (goesOn && instructions > setup.config.instructionBudget) {
      overBudget = true;
      goesOn = false;
    }
  };
  unsigned threads = setup.config.numThreads
                         ? setup.config.numThreads
                         : std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, dieCount);
  std::barrier epochEnd(std::ptrdiff_t(threads), endEpoch);
  auto work = [&](unsigned thread) {
    fenv_t environment;
    std::fegetenv(&environment);
    while (goesOn) {
      for (unsigned i = thread; i < dieCount; i += threads) {
        dies[i]->runUntil(now + epochClocks);
      }
      epochEnd.arrive_and_wait();
    }
    std::fesetenv(&environment);
  };
  std::vector<std::thread> helpers;
  for (unsigned i = 1; i < threads; ++i) {
    helpers.emplace_back(work, i);
  }
  work(0);
  for (std::thread &helper : helpers) {
    helper.join();
  }
  if (Error error = failureOf(dies)) {
    return std::move(error);
  }
  if (overBudget) {
    return make_error<LaunchFailure>(
        ("kernel " + setup.kernel.name() +
         ": the instruction budget of the launch is used up")
            .str(),
        Check::Budget, std::vector<Finding>());
  }

  Pass pass;
  uint64_t run = 0;
  for (unsigned i = 0; i < dieCount; ++i) {
    Die &die = *dies[i];
    run += die.counts.workgroups;
    uint64_t drain = die.memory.drainClocks(die.lastClock());
    pass.drainedBytes += die.memory.drainedBytes();
    pass.cycles =
        std::max(pass.cycles, extrapolate(die, groupsOfDie(i), drain));
    pass.counts.add(die.counts);
    pass.traffic.add(die.memory.traffic);
    pass.trace.insert(pass.trace.end(), die.trace.begin(), die.trace.end());
    pass.log.merge(die.observations.log);
    pass.statistics.add(die.observations.statistics);
    for (uint64_t base : die.leftOut()) {
      if (!is_contained(pass.leftOut, base)) {
        pass.leftOut.push_back(base);
      }
    }
  }
  pass.traffic.hbmBytes -=
      std::min(pass.traffic.hbmBytes, device.doublyCountedBytes());
  if (isSampled) {
    // Those that are left out begin one after the other behind the last of the
    // others, which goes on as long as a workgroup does.
    uint64_t idle =
        (setup.workgroups - busy) / launch.dies * launch.timing.dispatchClocks;
    uint64_t life = pass.counts.waveClocks / (run * setup.wavesPerWorkgroup);
    pass.cycles += idle - std::min(idle, life);
    pass.scale = double(busy) / double(run);
    pass.unsharedHbm = double(pass.traffic.hbmBytes) * pass.scale *
                       launch.facts.clockHz /
                       (double(pass.cycles) * launch.timing.hbmBandwidth);
    pass.traffic = trafficOfAll(*dies[0]);
    pass.traffic.hbmBytes -= uint64_t(double(pass.traffic.hbmReadBytes) *
                                      (1 - firstFetchShareOf(sampledLines)));
  }
  return pass;
}

void TimedDispatch::warm(Die &die, DeviceMemoryTiming &device) {
  // Code is warm as far as it fits, from the entry on: the kernel has run
  // before.
  unsigned size = launch.timing.fetchLineBytes;
  const Program &program = *launch.setup.program;
  uint64_t entry = program.records()[launch.setup.entryRecord].address;
  uint64_t end = std::min<uint64_t>(
      program.records()[program.recordCount() - 1].address + size,
      entry + launch.facts.instructionCacheBytes);
  for (uint64_t line = entry / size; line <= (end - 1) / size; ++line) {
    die.memory.fillCode(line);
  }
  // Arguments are written just before a launch, past the caches of the dies.
  unsigned line = launch.facts.l2LineBytes;
  const LaunchSetup &setup = launch.setup;
  uint64_t argumentsEnd = setup.kernargAddress + setup.kernarg.size();
  for (uint64_t at = setup.kernargAddress / line; at * line < argumentsEnd;
       ++at) {
    device.fill(at);
  }
  if (!launch.options.warm && !launch.options.warmMall) {
    return;
  }
  launch.setup.memory.forEachAllocation([&](uint64_t base, uint64_t bytes) {
    uint64_t most = std::min<uint64_t>(bytes, launch.facts.mallBytes);
    for (uint64_t at = base / line; at <= (base + most - 1) / line; ++at) {
      device.fill(at);
      if (launch.options.warm) {
        die.memory.fill(at);
      }
    }
  });
}

std::string TimedDispatch::calibrationOf(const DieCounts &counts) const {
  using target::MatrixUse;
  static constexpr MatrixUse uses[matrixLoadCount] = {
      MatrixUse::F32, MatrixUse::F16, MatrixUse::F8, MatrixUse::F4};
  MatrixUse use = MatrixUse::None;
  uint64_t most = 0;
  for (unsigned i = 0; i < matrixLoadCount; ++i) {
    if (counts.matrixClocks[i] > most) {
      most = counts.matrixClocks[i];
      use = uses[i];
    }
  }
  // The figures are those of one chip.
  for (const target::CalibrationClass &known : launch.timing.calibration) {
    if (known.use == use && launch.chip.chip() == "gfx950") {
      return formatv("calibrated ({0}, median error {1:P0}, 90th percentile "
                     "{2:P0})",
                     known.family, known.medianError, known.p90Error)
          .str();
    }
  }
  return "uncalibrated";
}

TimingResult TimedDispatch::evaluate(const Pass &pass, bool sampled) const {
  const target::ChipFacts &facts = launch.facts;
  const target::TimingFacts &timing = launch.timing;
  auto scaled = [&](uint64_t value) {
    return uint64_t(double(value) * pass.scale);
  };
  TimingResult result;
  result.cycles = pass.cycles;
  result.sampled = sampled;
  double cycles = double(std::max<uint64_t>(pass.cycles, 1));
  double simds = double(facts.computeUnits) * facts.simdsPerCu;
  const double loaded[matrixLoadCount] = {
      timing.matrixClockF32, timing.matrixClockF16, timing.matrixClockF8,
      timing.matrixClockF4};
  // Power that matrix cores take grows with the cube of the clock and with
  // their use; the chip keeps it constant.
  double power = 0;
  for (unsigned i = 0; i < matrixLoadCount; ++i) {
    double busy =
        double(pass.counts.matrixClocks[i]) * pass.scale / (cycles * simds);
    result.fractionOfMfma += busy;
    power += busy / std::pow(loaded[i], 3);
  }
  result.clockHz = facts.clockHz;
  if (power > 0) {
    result.clockHz = std::min(facts.clockHz, std::pow(power, -1.0 / 3));
  }
  result.us = timing.launchUs + cycles / result.clockHz * 1e6;
  result.usEndToEnd = result.us + timing.endToEndUs;
  result.dependentGapUs = timing.dependentGapUs;
  result.l1Bytes = pass.traffic.l1Bytes;
  result.l2Bytes = pass.traffic.l2Bytes;
  result.mallBytes = pass.traffic.mallBytes;
  result.hbmBytes = pass.traffic.hbmBytes;
  result.fractionOfLds = double(pass.counts.ldsClocks) * pass.scale /
                         (cycles * facts.computeUnits);
  result.fractionOfL2 =
      double(result.l2Bytes) /
      (cycles * facts.xcds * timing.l2Channels * timing.l2ChannelBytesPerClock);
  // A sampled die stands for all.
  uint64_t drained = pass.drainedBytes * (sampled ? launch.dies : 1);
  result.fractionOfHbm =
      double(result.hbmBytes - std::min(result.hbmBytes, drained)) *
      facts.clockHz / (cycles * timing.hbmBandwidth);
  result.ldsConflictCycles = scaled(pass.counts.ldsConflictClocks);
  double used = std::min<double>(simds, double(launch.setup.workgroups) *
                                            launch.setup.wavesPerWorkgroup);
  result.occupancyWaves =
      double(pass.counts.waveClocks) * pass.scale / (cycles * used);
  for (unsigned i = 0; i < stallCount; ++i) {
    result.stalls[i] = scaled(pass.counts.stalls[i]);
  }
  result.calibration = calibrationOf(pass.counts);
  result.leftOut = pass.leftOut;
  result.trace = pass.trace;
  for (const TraceEvent &event : result.trace) {
    std::string &text = result.traceTexts[event.record];
    if (text.empty()) {
      const Program &program = *launch.setup.program;
      text = program.text(program.records()[event.record]);
    }
  }
  return result;
}

Expected<LaunchResult> TimedDispatch::run() {
  const LaunchSetup &setup = launch.setup;
  // Few workgroups are no sample.
  bool sampled = launch.options.sampled && setup.workgroups >= launch.dies;
  if (sampled) {
    Expected<uint64_t> found = findBusy();
    if (!found) {
      return found.takeError();
    }
    busy = *found;
  }
  Expected<Pass> pass = runPass(sampled ? 1 : launch.dies, 1);
  if (!pass) {
    return pass.takeError();
  }
  TimingResult timing = evaluate(*pass, sampled);
  if (sampled && pass->unsharedHbm > busyHbm) {
    double share = firstFetchShareOf(sampledLines);
    if (share < 0.95) {
      pass = runPass(1, share);
      if (!pass) {
        return pass.takeError();
      }
      timing = evaluate(*pass, sampled);
    }
  }
  LaunchResult result;
  result.waveInstructions =
      uint64_t(double(pass->counts.waveInstructions) * pass->scale);
  for (unsigned i = 0; i < instructionClassCount; ++i) {
    result.counts[i] = uint64_t(double(pass->counts.counts[i]) * pass->scale);
  }
  result.statistics = pass->statistics;
  SourceLines lines(setup.kernel.codeObject().fileBytes());
  result.findings = pass->log.finish(setup.kernel.name(), *setup.program, lines,
                                     setup.config.grid, mostFindings);
  for (size_t i = 0; i < pass->counts.executions.size(); ++i) {
    const Instr &instr = setup.program->records()[i];
    if (uint64_t count = pass->counts.executions[i]) {
      auto scaled = [&](uint64_t value) {
        return uint64_t(double(value) * pass->scale);
      };
      ProfileEntry entry = {instr.address, setup.program->text(instr),
                            lines.at(instr.address), scaled(count),
                            scaled(pass->counts.clocks[i])};
      for (unsigned reason = 0; reason < stallCount; ++reason) {
        entry.stalls[reason] = scaled(pass->counts.recordStalls[i][reason]);
      }
      result.profile.push_back(std::move(entry));
    }
  }
  result.timing = std::move(timing);
  return result;
}

} // namespace tenon::sim
