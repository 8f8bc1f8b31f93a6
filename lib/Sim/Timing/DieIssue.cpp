//===- DieIssue.cpp - what an instruction costs -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Die.h"

#include "../HostRounding.h"
#include "../LdsBanks.h"
#include "../MemoryAccess.h"

#include <algorithm>
#include <bit>
#include <cmath>

using namespace llvm;

namespace tenon::sim {

uint64_t Die::available(TimedWave &timed, const InstructionTiming &next,
                        uint64_t now) {
  const Simd &simd = simds[timed.simd];
  const ComputeUnit &unit = units[timed.group->unit];
  auto until = [&](double time, Stall reason) {
    uint64_t clock = time <= double(now) ? now : uint64_t(std::ceil(time));
    if (clock > now) {
      timed.blocked = reason;
    }
    return clock;
  };
  switch (next.unit) {
  case IssueUnit::Vector: {
    uint64_t vector = until(double(simd.vectorFree), Stall::Vector);
    if (!next.isMatrix) {
      return vector;
    }
    uint64_t matrix =
        until(double(simd.matrixFree) - launch.timing.matrixQueueClocks,
              Stall::Matrix);
    return std::max(vector, matrix);
  }
  case IssueUnit::Lds:
    return until(unit.ldsFree - launch.timing.ldsQueueClocks, Stall::Lds);
  case IssueUnit::VectorMemory:
    return until(unit.vectorMemoryFree - launch.timing.vectorQueueClocks,
                 Stall::VectorMemory);
  case IssueUnit::Scalar:
  case IssueUnit::ScalarMemory:
  case IssueUnit::Branch:
  case IssueUnit::Internal:
    break;
  }
  return now;
}

bool Die::execute(TimedWave &timed, const Instr &instr,
                  const InstructionTiming &timing) {
  Wave &wave = *timed.wave;
  uint32_t record = wave.pc;
  wave.pc = record + 1;
  if (launch.setup.observed && !timed.isAgain) {
    wave.checks->before(wave, record);
  }
  timed.isAgain = false;
  if (timing.isSkipped && timing.unit != IssueUnit::VectorMemory) {
    if (timing.unit == IssueUnit::Lds) {
      wave.waits.issueLds(0, 0);
    }
  } else {
    access.addressesOnly = timing.isSkipped;
    if (int now = int(wave.mode.round32()); now != rounding) {
      setHostRounding(wave.mode);
      rounding = now;
    }
    instr.exec(wave, instr);
    if (int now = int(wave.mode.round32()); now != rounding) {
      rounding = -1;
    }
  }
  if (wave.stop == WaveStop::Again) {
    wave.pc = record;
    timed.isAgain = true;
    return false;
  }
  if (launch.setup.observed) {
    wave.checks->after(wave);
  }
  ++wave.executed;
  ++counts.waveInstructions;
  ++counts.counts[unsigned(instr.instructionClass)];
  return true;
}

void Die::issue(TimedWave &timed, uint64_t now) {
  Wave &wave = *timed.wave;
  uint32_t record = wave.pc;
  const Instr &instr = launch.setup.program->records()[record];
  const InstructionTiming &timing = launch.records[record];
  access.bytes = 0;
  if (timing.unit == IssueUnit::Lds && instr.addr != noRow) {
    // The result may overwrite the addresses.
    std::copy_n(wave.v[instr.addr], waveSize, ldsAddress);
  }
  if (!execute(timed, instr, timing)) {
    timed.isParked = true;
    timed.atomicDone = std::max(timed.vector.timeOf(0), timed.lastScalar);
    return;
  }
  countStalls(timed, record, now);
  if (timed.group->isTraced) {
    TraceEvent event;
    event.die = index;
    event.computeUnit = timed.group->unit;
    event.simd = timed.simd % launch.facts.simdsPerCu;
    event.workgroup = timed.group->resident.group.linearId;
    event.wave = wave.waveIndex;
    event.record = record;
    event.begin = std::min(now, timed.earliest);
    event.end = now + launch.timing.slotClocks;
    event.stalled = now - event.begin;
    // What it waited for longer.
    uint64_t ready = std::min(now, std::max(timed.ready, event.begin));
    event.stall =
        ready - event.begin >= now - ready ? timed.reason : timed.blocked;
    trace.push_back(event);
  }
  last = std::max(last, now);
  occupy(timed, record, now);
  lookAhead(timed, record, now);
  if (wave.stop != WaveStop::Running) {
    stop(timed, now);
  }
}

void Die::countStalls(const TimedWave &timed, uint32_t record, uint64_t now) {
  bool isProfiled = !counts.executions.empty();
  auto add = [&](Stall reason, uint64_t clocks) {
    counts.stalls[unsigned(reason)] += clocks;
    if (isProfiled) {
      counts.recordStalls[record][unsigned(reason)] += clocks;
    }
  };
  if (timed.ready > timed.earliest) {
    add(timed.reason, timed.ready - timed.earliest);
  }
  if (now > timed.ready) {
    add(timed.blocked, now - timed.ready);
  }
  if (isProfiled) {
    ++counts.executions[record];
    counts.clocks[record] +=
        now - std::min(now, timed.earliest) + launch.timing.slotClocks;
  }
}

void Die::occupy(TimedWave &timed, uint32_t record, uint64_t now) {
  const InstructionTiming &timing = launch.records[record];
  MemoryTraffic before;
  bool isMemory = timing.unit == IssueUnit::VectorMemory ||
                  timing.unit == IssueUnit::ScalarMemory;
  if (isMemory) {
    before = memory.traffic;
  }
  Simd &simd = simds[timed.simd];
  switch (timing.unit) {
  case IssueUnit::Vector:
    if (timing.isMatrix) {
      simd.matrixFree = std::max(simd.matrixFree, now) + timing.clocks;
      counts.matrixClocks[unsigned(timing.matrixLoad)] += timing.clocks;
      bool hasShadow = timing.clocks >= 8 * launch.timing.slotClocks;
      simd.vectorFree = now + (hasShadow ? launch.timing.matrixShadowClocks
                                         : launch.timing.slotClocks);
    } else {
      simd.vectorFree = now + timing.clocks;
    }
    break;
  case IssueUnit::Lds:
    occupyLds(timed, record, now);
    break;
  case IssueUnit::VectorMemory:
    occupyVectorMemory(timed, record, now);
    break;
  case IssueUnit::ScalarMemory:
    occupyScalarMemory(timed, now);
    checkLeftOut(timed, record);
    if (!storedInto.empty() && !isSampled && access.bytes &&
        access.kind == MemoryAccessKind::Load) {
      checkScalarLoad(timed);
    }
    break;
  case IssueUnit::Internal:
    if (timing.isWait) {
      timed.vector.retire(timing.vmcnt);
      timed.lds.retire(timing.lgkmcnt);
      if (timing.lgkmcnt == 0) {
        timed.scalarLoads = 0;
      }
    } else if (timing.priority >= 0) {
      timed.priority = unsigned(timing.priority);
      std::stable_sort(simd.waves.begin(), simd.waves.end(),
                       [](const TimedWave *a, const TimedWave *b) {
                         return a->priority > b->priority;
                       });
    }
    break;
  case IssueUnit::Scalar:
  case IssueUnit::Branch:
    break;
  }
  if (isMemory) {
    roundTraffic[timed.group->round].addScaled(memory.traffic, before, 1);
  }
}

const Die::LdsPattern &Die::ldsPattern(uint32_t record, uint64_t lanes) {
  std::unique_ptr<LdsPattern> &held = patterns[record];
  if (!held) {
    held = std::make_unique<LdsPattern>();
  }
  // Banks repeat after 256 bytes.
  constexpr uint32_t period = 256;
  uint32_t different = (held->first ^ ldsAddress[0]) % period;
  for (unsigned i = 0; i < waveSize; ++i) {
    different |= held->distance[i] ^ (ldsAddress[i] - ldsAddress[0]);
  }
  if (held->first != ~0u && !different && held->lanes == lanes) {
    return *held;
  }
  held->first = ldsAddress[0];
  held->lanes = lanes;
  for (unsigned i = 0; i < waveSize; ++i) {
    held->distance[i] = ldsAddress[i] - ldsAddress[0];
  }
  const Instr &instr = launch.setup.program->records()[record];
  const CheckRecord &check = launch.checks.records()[record];
  bool isRead = check.is(checkLoad) && !check.is(checkStore);
  const target::LdsAccessRule &rule =
      ldsRuleOf(launch.chip, check.bytes, isRead);
  held->clocks = held->conflicts = 0;
  for (unsigned part = 0; part < (check.is(checkTwoAddress) ? 2u : 1u);
       ++part) {
    unsigned extra =
        ldsExtraPhases(rule, check.bytes, ldsAddress,
                       uint32_t(part ? instr.imm1 : instr.imm), lanes);
    held->clocks += unsigned(rule.phases.size()) + extra;
    held->conflicts += extra;
  }
  if (check.is(checkAtomic)) {
    held->clocks *= 2; // a read and a write
  }
  return *held;
}

void Die::occupyLds(TimedWave &timed, uint32_t record, uint64_t now) {
  const Instr &instr = launch.setup.program->records()[record];
  ComputeUnit &unit = units[timed.group->unit];
  unsigned clocks = launch.timing.ldsInstructionClocks;
  if (instr.addr != noRow && launch.checks.records()[record].bytes) {
    const LdsPattern &pattern = ldsPattern(record, timed.wave->exec());
    clocks = std::max(clocks, pattern.clocks);
    counts.ldsConflictClocks += pattern.conflicts;
  }
  double start = std::max(double(now), unit.ldsFree);
  unit.ldsFree = start + clocks;
  counts.ldsClocks += clocks;
  uint64_t done = uint64_t(unit.ldsFree) + launch.timing.ldsLatency;
  timed.lds.push(done);
  last = std::max(last, done);
}

void Die::checkScalarLoad(TimedWave &timed) {
  uint64_t base =
      launch.setup.memory.allocationOf(access.lanes.address[0]).first;
  if (is_contained(storedInto, base)) {
    timed.group->resident.fail(
        *timed.wave,
        "a scalar load depends on stores whose values are skipped: time it "
        "with its values",
        std::nullopt);
    fail(*timed.group);
  }
}

void Die::checkLeftOut(TimedWave &timed, uint32_t record) {
  if (launch.leftOut.empty() || !launch.records[record].isNeeded ||
      !launch.checks.records()[record].is(checkLoad) || !access.bytes) {
    return;
  }
  bool isScalar = launch.records[record].unit == IssueUnit::ScalarMemory;
  if (!isScalar && !access.lanes.active) {
    return;
  }
  uint64_t address =
      access.lanes
          .address[isScalar ? 0 : std::countr_zero(access.lanes.active)];
  for (auto [base, bytes] : launch.leftOut) {
    if (address - base < bytes) {
      missingIn = base;
      timed.group->resident.fail(
          *timed.wave,
          "its time depends on values that an earlier launch left out",
          std::nullopt);
      fail(*timed.group);
      return;
    }
  }
}

void Die::leaveOut(uint64_t address) {
  if (address - lastStored < lastStoredBytes) {
    return;
  }
  std::tie(lastStored, lastStoredBytes) =
      launch.setup.memory.allocationOf(address);
  if (!is_contained(storedInto, lastStored)) {
    storedInto.push_back(lastStored);
  }
}

void Die::occupyScalarMemory(TimedWave &timed, uint64_t now) {
  uint64_t done = now + launch.timing.scalarHitClocks;
  if (access.bytes) {
    unsigned size = memory.lineBytes();
    uint64_t first = access.lanes.address[0] / size;
    uint64_t end = (access.lanes.address[0] + access.bytes - 1) / size;
    for (uint64_t line = first; line <= end; ++line) {
      done =
          std::max(done, access.kind == MemoryAccessKind::Load
                             ? memory.scalarLoad(timed.group->unit, line, now)
                         : access.kind == MemoryAccessKind::Store
                             ? memory.store(timed.group->unit, line, 1,
                                            /*streams=*/false, now)
                             : memory.atomic(line, now));
    }
  }
  ++timed.scalarLoads;
  timed.lastScalar = std::max(timed.lastScalar, done);
  last = std::max(last, done);
}

void Die::occupyVectorMemory(TimedWave &timed, uint32_t record, uint64_t now) {
  const target::TimingFacts &facts = launch.timing;
  const Instr &instr = launch.setup.program->records()[record];
  const CheckRecord &check = launch.checks.records()[record];
  ComputeUnit &unit = units[timed.group->unit];
  if (!(check.flags & (checkLoad | checkStore | checkToLds))) {
    return; // cache control
  }
  double start = std::max(double(now), unit.vectorMemoryFree);
  uint64_t done = uint64_t(start) + facts.l1HitClocks;
  unsigned clocks = facts.slotClocks;
  if (access.bytes && access.lanes.active) {
    if ((launch.records[record].isSkipped || isSampled) &&
        check.is(checkStore)) {
      leaveOut(access.lanes.address[std::countr_zero(access.lanes.active)]);
    }
    checkLeftOut(timed, record);
    // The lines in the order of lanes, each once.
    unsigned size = memory.lineBytes();
    uint64_t lines[2 * waveSize];
    uint8_t halves[2 * waveSize];
    unsigned count = 0;
    auto add = [&](uint64_t begin, uint64_t end) {
      for (uint64_t at = begin; at < end;
           at = (at / (size / 2) + 1) * (size / 2)) {
        uint64_t line = at / size;
        unsigned i = count;
        while (i && lines[i - 1] != line) {
          --i;
        }
        if (!i) {
          lines[count] = line;
          halves[count] = 0;
          i = ++count;
        }
        halves[i - 1] |= uint8_t(1u << (at % size >= size / 2));
      }
    };
    if (access.lanes.active == allLanes &&
        areAdjacent(access.lanes, access.bytes)) {
      uint64_t first = access.lanes.address[0];
      add(first, first + uint64_t(access.bytes) * waveSize);
    } else {
      for (uint64_t rest = access.lanes.active; rest; rest &= rest - 1) {
        uint64_t address = access.lanes.address[std::countr_zero(rest)];
        add(address, address + access.bytes);
      }
    }
    unsigned active = unsigned(std::popcount(access.lanes.active));
    unsigned bytes = active * access.bytes;
    double rate = access.kind == MemoryAccessKind::ToLds
                      ? facts.ldsCopyBytesPerClock
                      : facts.l1BytesPerClock;
    clocks = std::max(
        {(active + 15) / 16, count, unsigned(std::ceil(double(bytes) / rate))});
    constexpr uint8_t nt = 2, sc1 = 4;
    bool passesL1 = instr.cachePolicy & sc1;
    bool streams = instr.cachePolicy & nt;
    for (unsigned i = 0; i < count; ++i) {
      uint64_t leaves = uint64_t(start) + uint64_t(clocks) * i / count;
      uint64_t arrival = 0;
      switch (access.kind) {
      case MemoryAccessKind::Load:
      case MemoryAccessKind::ToLds:
        arrival = memory.load(timed.group->unit, lines[i], leaves, passesL1);
        break;
      case MemoryAccessKind::Store:
        arrival = memory.store(timed.group->unit, lines[i], halves[i], streams,
                               leaves);
        break;
      case MemoryAccessKind::Atomic:
        arrival = memory.atomic(lines[i], leaves);
        break;
      }
      done = std::max(done, arrival);
    }
    if (access.kind == MemoryAccessKind::ToLds) {
      double begin = std::max(double(now), unit.ldsFree);
      double write = double(bytes) / launch.facts.ldsWriteBytesPerClock;
      unit.ldsFree = begin + write;
      counts.ldsClocks += uint64_t(write);
    }
  }
  unit.vectorMemoryFree = start + clocks;
  timed.vector.push(done);
  if (launch.records[record].isFlat) {
    timed.lds.push(done); // counts in both
  }
  last = std::max(last, done);
}

void Die::lookAhead(TimedWave &timed, uint32_t record, uint64_t now) {
  const target::TimingFacts &facts = launch.timing;
  const InstructionTiming &timing = launch.records[record];
  Wave &wave = *timed.wave;
  timed.earliest = now + facts.slotClocks;
  timed.ready = timed.earliest;
  timed.reason = Stall::Issue;
  auto notBefore = [&](uint64_t time, Stall reason) {
    if (time > timed.ready) {
      timed.ready = time;
      timed.reason = reason;
    }
  };
  if (timing.unit == IssueUnit::Internal && !timing.isWait) {
    notBefore(now + timing.clocks, Stall::Sleep);
  }
  if (wave.stop == WaveStop::Ended) {
    return;
  }
  if (wave.pc != record + 1) {
    notBefore(timed.earliest + facts.branchClocks, Stall::Branch);
  }
  const Instr &coming = launch.setup.program->records()[wave.pc];
  uint64_t line = coming.address / facts.fetchLineBytes;
  if (line != timed.fetchedLine) {
    timed.fetchedLine = line;
    notBefore(memory.fetch(timed.group->unit, line, timed.ready), Stall::Fetch);
  }
  const InstructionTiming &next = launch.records[wave.pc];
  if (next.isWait) {
    notBefore(timed.vector.timeOf(next.vmcnt), Stall::VectorLoad);
    notBefore(timed.lds.timeOf(next.lgkmcnt), Stall::LdsData);
    if (next.lgkmcnt == 0 && timed.scalarLoads) {
      notBefore(timed.lastScalar, Stall::ScalarLoad);
    }
  }
}

void Die::stop(TimedWave &timed, uint64_t now) {
  TimedWorkgroup &group = *timed.group;
  Wave &wave = *timed.wave;
  switch (wave.stop) {
  case WaveStop::Running:
    return;
  case WaveStop::Failed:
    group.resident.fail(wave, wave.failure, wave.failedCheck);
    return fail(group);
  case WaveStop::AwaitsOthers:
    if (launch.records[wave.pc - 1].unit == IssueUnit::Internal) {
      wave.stop = WaveStop::Running; // s_sleep, whose time is known
      return;
    }
    timed.isParked = true;
    timed.atomicDone = std::max(timed.vector.timeOf(0), timed.lastScalar);
    return;
  case WaveStop::Again:
    return;
  case WaveStop::Ended: {
    ++group.ended;
    erase_if(simds[timed.simd].waves,
             [&](TimedWave *other) { return other == &timed; });
    break;
  }
  case WaveStop::Barrier:
    ++group.waiting;
    timed.isParked = true;
    break;
  }
  unsigned all = unsigned(group.waves.size());
  if (!group.waiting || group.waiting + group.ended < all) {
    return;
  }
  if (!group.resident.passBarrier(group.waiting, group.ended)) {
    return fail(group);
  }
  group.waiting = 0;
  for (TimedWave &other : group.waves) {
    if (other.isParked && other.wave->stop == WaveStop::Running) {
      wake(other, now + launch.timing.barrierClocks, Stall::Barrier);
    }
  }
}

} // namespace tenon::sim
