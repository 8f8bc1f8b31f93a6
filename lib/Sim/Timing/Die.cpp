//===- Die.cpp - the compute units of one die, in time ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Die.h"

#include "NeededValues.h"

#include <algorithm>

using namespace llvm;

namespace tenon::sim {

/// Workgroups of each die whose instructions a trace keeps.
static constexpr uint64_t tracedWorkgroups = 4;

TimedLaunch::TimedLaunch(const LaunchSetup &setup, const TimingOptions &options,
                         const target::TargetInfo &chip,
                         const target::TimingFacts &timing)
    : setup(setup), options(options), chip(chip), facts(this->chip.facts()),
      timing(timing), checks(*setup.program),
      records(timingOf(*setup.program, checks, timing)), dies(facts.xcds),
      unitsPerDie(facts.computeUnits / facts.xcds),
      groupsPerUnit(unsigned(setup.resident / facts.computeUnits)) {
  // Checks and profiles follow every instruction.
  bool skips = options.skipValues && !setup.observed;
  std::vector<bool> needed;
  if (skips || !options.leftOut.empty()) {
    needed = valuesForTime(*setup.program, checks, setup.entryRecord,
                           setup.workItems % waveSize == 0);
  }
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].isNeeded = !needed.empty() && needed[i];
    records[i].isSkipped =
        skips ? !needed[i] : options.skipValues && records[i].isMatrix;
  }
  for (uint64_t base : options.leftOut) {
    leftOut.push_back(setup.memory.allocationOf(base));
  }
}

void DieCounts::add(const DieCounts &other) {
  waveInstructions += other.waveInstructions;
  for (unsigned i = 0; i < instructionClassCount; ++i) {
    counts[i] += other.counts[i];
  }
  for (unsigned i = 0; i < stallCount; ++i) {
    stalls[i] += other.stalls[i];
  }
  for (unsigned i = 0; i < matrixLoadCount; ++i) {
    matrixClocks[i] += other.matrixClocks[i];
  }
  ldsClocks += other.ldsClocks;
  ldsConflictClocks += other.ldsConflictClocks;
  waveClocks += other.waveClocks;
  workgroups += other.workgroups;
  executions.resize(std::max(executions.size(), other.executions.size()));
  clocks.resize(executions.size());
  recordStalls.resize(executions.size());
  for (size_t i = 0; i < other.executions.size(); ++i) {
    executions[i] += other.executions[i];
    clocks[i] += other.clocks[i];
    for (unsigned reason = 0; reason < stallCount; ++reason) {
      recordStalls[i][reason] += other.recordStalls[i][reason];
    }
  }
}

Die::Die(const TimedLaunch &launch, DeviceMemoryTiming &device, unsigned index,
         uint64_t workgroups)
    : memory(launch.chip, launch.timing, device), launch(launch), index(index),
      workgroups(workgroups), wanted(workgroups), mostWanted(workgroups),
      view(launch.setup.memory),
      simds(launch.unitsPerDie * launch.facts.simdsPerCu),
      units(launch.unitsPerDie), events(dispatcher() + 1),
      patterns(launch.records.size()) {
  if (launch.setup.config.profile) {
    counts.executions.resize(launch.records.size());
    counts.clocks.resize(launch.records.size());
    counts.recordStalls.resize(launch.records.size());
  }
  if (workgroups) {
    events.set(dispatcher(), 0);
  }
}

void Die::schedule(unsigned simd, uint64_t time) {
  unsigned slot = launch.timing.slotClocks;
  // The SIMDs of a compute unit take turns.
  uint64_t phase = simd % slot;
  uint64_t aligned =
      time <= phase ? phase : (time - phase + slot - 1) / slot * slot + phase;
  if (aligned < events.timeOf(simd)) {
    events.set(simd, aligned);
  }
}

void Die::sampleRounds(uint64_t most) {
  uint64_t round = launch.round();
  isSampled = true;
  wanted = std::min(workgroups, sampledLongRounds * round);
  mostWanted = std::min(workgroups, most * round);
  isFillingL2 = true;
}

void Die::probe(uint64_t number) {
  isSampled = true;
  first = number;
  wanted = mostWanted = 1;
}

void Die::extendSample(uint64_t now) {
  uint64_t round = launch.round();
  if (wanted % round || wanted >= mostWanted) {
    return;
  }
  if (wanted == sampledLongRounds * round) {
    // All of them have begun, when the first round had ended.
    if (now < longRoundClocks) {
      wanted = std::min(mostWanted, sampledRounds * round);
    }
    return;
  }
  bool isFirst = wanted == sampledRounds * round;
  // A launch that never fills the L2 need not be followed that far.
  double atEnd =
      double(memory.linesFilled()) / double(wanted) * double(workgroups);
  bool wasFilling = isFillingL2;
  isFillingL2 =
      isFillingL2 && !memory.hasFilled() && atEnd >= double(memory.linesOfL2());
  // The rounds behind the moment at which it is full are like the rest; the
  // one in which it happens is not.
  if (isFillingL2 || (wasFilling && !isFirst) || now < sampledClocks) {
    wanted = std::min(mostWanted, wanted + round);
  }
}

void Die::dispatch(uint64_t now) {
  if (next == wanted) {
    extendSample(now);
  }
  if (next == wanted) {
    return;
  }
  if (now < nextDispatch) {
    events.set(dispatcher(), nextDispatch);
    return;
  }
  // The compute unit with the fewest workgroups, the first of equal ones.
  auto emptiest =
      std::min_element(units.begin(), units.end(),
                       [](const ComputeUnit &a, const ComputeUnit &b) {
                         return a.groups < b.groups;
                       });
  if (emptiest->groups >= launch.groupsPerUnit) {
    return; // the next end of a workgroup comes back here
  }
  startWorkgroup(unsigned(emptiest - units.begin()), now);
  nextDispatch = now + launch.timing.dispatchClocks;
  if (next < wanted || wanted < mostWanted) {
    events.set(dispatcher(), nextDispatch);
  }
}

void Die::startWorkgroup(unsigned unit, uint64_t now) {
  uint64_t number = next++;
  uint64_t position = (first + number) * launch.dies + index;
  groups.push_back(
      std::make_unique<TimedWorkgroup>(launch.setup, position, &view));
  TimedWorkgroup &group = *groups.back();
  group.unit = unit;
  group.started = now;
  group.round = number / launch.round();
  roundTraffic.resize(std::max<size_t>(roundTraffic.size(), group.round + 1));
  group.isTraced = launch.options.trace && number < tracedWorkgroups;
  group.resident.start(pool);
  ++units[unit].groups;
  unsigned perUnit = launch.facts.simdsPerCu;
  const auto &waves = group.resident.allWaves();
  group.waves.resize(waves.size());
  for (size_t i = 0; i < waves.size(); ++i) {
    TimedWave &timed = group.waves[i];
    unsigned first = unit * perUnit;
    unsigned simd = unsigned(
        std::min_element(simds.begin() + first, simds.begin() + first + perUnit,
                         [](const Simd &a, const Simd &b) {
                           return a.waves.size() < b.waves.size();
                         }) -
        simds.begin());
    timed.wave = waves[i].get();
    timed.wave->trace = &access;
    timed.group = &group;
    timed.simd = simd;
    timed.earliest = timed.ready = now + launch.timing.waveStartClocks;
    // Behind those of its priority, the lowest.
    simds[simd].waves.push_back(&timed);
    schedule(simd, timed.ready);
  }
}

void Die::endWorkgroup(TimedWorkgroup &group, uint64_t now) {
  ++ended;
  ++counts.workgroups;
  ends.push_back(now);
  --units[group.unit].groups;
  counts.waveClocks += (now - group.started) * group.waves.size();
  group.resident.leave(pool, observations);
  erase_if(groups, [&](const std::unique_ptr<TimedWorkgroup> &held) {
    return held.get() == &group;
  });
  if (events.timeOf(dispatcher()) == SlotQueue::never &&
      (next < wanted || wanted < mostWanted)) {
    events.set(dispatcher(), now);
  }
}

void Die::fail(TimedWorkgroup &group) {
  if (!failed || group.resident.position < failed->position) {
    failed = &group.resident;
  }
}

void Die::wake(TimedWave &timed, uint64_t time, Stall reason) {
  timed.isParked = false;
  if (time > timed.ready) {
    timed.ready = time;
    timed.reason = reason;
  }
  schedule(timed.simd, timed.ready);
}

void Die::resume(uint64_t now) {
  for (std::unique_ptr<TimedWorkgroup> &group : groups) {
    for (TimedWave &timed : group->waves) {
      Wave &wave = *timed.wave;
      wave.polled = 0;
      if (wave.stop == WaveStop::AwaitsOthers || wave.stop == WaveStop::Again) {
        wave.stop = WaveStop::Running;
        wake(timed, std::max(now, timed.atomicDone), Stall::Sleep);
      }
    }
  }
}

void Die::runUntil(uint64_t end) {
  SlotQueue::Event event;
  while (!failed && events.takeBefore(end, event)) {
    if (event.source == dispatcher()) {
      dispatch(event.time);
    } else {
      runSlot(event.source, event.time);
    }
  }
  rounding = -1; // another die may run on this host thread
}

void Die::runSlot(unsigned simd, uint64_t now) {
  Simd &here = simds[simd];
  uint64_t slot = launch.timing.slotClocks;
  uint64_t nextTime = ~uint64_t(0);
  unsigned used = 0;
  for (size_t i = 0; i < here.waves.size(); ++i) {
    TimedWave &timed = *here.waves[i];
    if (timed.isParked) {
      continue;
    }
    if (timed.ready > now) {
      nextTime = std::min(nextTime, timed.ready);
      continue;
    }
    const InstructionTiming &coming = launch.records[timed.wave->pc];
    uint64_t free = now;
    if (used >> unsigned(coming.unit) & 1) {
      free = now + slot;
      timed.blocked = Stall::Issue;
    } else {
      free = available(timed, coming, now);
    }
    if (free > now) {
      nextTime = std::min(nextTime, free);
      continue;
    }
    // Waits and nops go to no unit, so that any number fits a slot.
    if (coming.unit != IssueUnit::Internal) {
      used |= 1u << unsigned(coming.unit);
    }
    TimedWorkgroup &group = *timed.group;
    size_t waves = here.waves.size();
    issue(timed, now);
    if (failed) {
      return;
    }
    if (here.waves.size() < waves) { // it has ended, and is gone
      --i;
      if (group.ended == group.waves.size()) {
        endWorkgroup(group, now);
      }
      continue;
    }
    if (here.waves[i] != &timed) { // it has moved to its new priority
      i = size_t(-1);
      continue;
    }
    if (!timed.isParked) {
      nextTime = std::min(nextTime, std::max(timed.ready, now + slot));
    }
  }
  if (nextTime != ~uint64_t(0)) {
    schedule(simd, std::max(nextTime, now + 1));
  }
}

} // namespace tenon::sim
