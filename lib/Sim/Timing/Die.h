//===- Die.h - the compute units of one die, in time ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_DIE_H
#define TENON_LIB_SIM_TIMING_DIE_H

#include "DieMemory.h"
#include "InstructionTiming.h"
#include "SlotQueue.h"

#include "../ResidentWorkgroup.h"

#include "tenon/Sim/Timing.h"

#include <deque>

namespace tenon::sim {

/// Rounds of resident workgroups that a sampled launch runs at least.
inline constexpr uint64_t sampledRounds = 3;
/// The same when the first one takes so many clocks: beginning and end of such
/// rounds weigh little.
inline constexpr uint64_t sampledLongRounds = 2;
inline constexpr uint64_t longRoundClocks = 50000;
/// Clocks that it goes on at least: short rounds differ more.
inline constexpr uint64_t sampledClocks = 40000;

/// What the dies of a timed launch have in common.
struct TimedLaunch {
  TimedLaunch(const LaunchSetup &setup, const TimingOptions &options,
              const target::TargetInfo &chip,
              const target::TimingFacts &timing);

  const LaunchSetup &setup;
  const TimingOptions &options;
  const target::TargetInfo chip;
  const target::ChipFacts &facts;
  target::TimingFacts timing;
  CheckProgram checks;
  std::vector<InstructionTiming> records;
  unsigned dies = 0;        ///< that the chip has
  unsigned unitsPerDie = 0; ///< compute units
  unsigned groupsPerUnit = 0;
  /// Allocations that earlier launches left out: where they begin, and bytes.
  std::vector<std::pair<uint64_t, uint64_t>> leftOut;

  /// Workgroups that a die holds at a time.
  uint64_t round() const { return uint64_t(unitsPerDie) * groupsPerUnit; }
};

/// Times at which operations of a wave complete, in the order of their issue.
/// They are counted down in this order, so that none completes before an
/// earlier one.
class CompletionQueue {
public:
  void push(uint64_t time) {
    times.push_back(times.empty() ? time : std::max(time, times.back()));
  }
  /// When at most `left` are outstanding.
  uint64_t timeOf(unsigned left) const {
    return times.size() <= left ? 0 : times[times.size() - left - 1];
  }
  void retire(unsigned left) {
    while (times.size() > left) {
      times.pop_front();
    }
  }

private:
  std::deque<uint64_t> times;
};

/// Counts of one die, or of all.
struct DieCounts {
  uint64_t waveInstructions = 0;
  InstructionCounts counts = {};
  std::array<uint64_t, stallCount> stalls = {};
  std::array<uint64_t, matrixLoadCount> matrixClocks = {};
  uint64_t ldsClocks = 0, ldsConflictClocks = 0;
  uint64_t waveClocks = 0; ///< of resident waves
  uint64_t workgroups = 0;
  std::vector<uint64_t> executions, clocks; ///< by record, when profiled
  /// The same for the clocks of waiting, by reason.
  std::vector<std::array<uint64_t, stallCount>> recordStalls;

  void add(const DieCounts &other);
};

/// One die: dispatches its workgroups to compute units and issues their
/// instructions, each at its clock, in the order of clocks.
class Die {
public:
  Die(const TimedLaunch &launch, DeviceMemoryTiming &device, unsigned index,
      uint64_t workgroups);

  /// Before it runs: of its workgroups it runs a few rounds as a sample. These
  /// become more, up to `most`, as long as rounds are short, and while the L2
  /// is on its way to hold all it can: until then it need not write back, and
  /// rounds are too quick.
  void sampleRounds(uint64_t most);
  /// Before it runs: it runs its workgroup number `number` alone, which leaves
  /// nothing in memory.
  void probe(uint64_t number);

  /// Runs everything that happens before a clock.
  void runUntil(uint64_t end);
  /// Ends an epoch, after `publish`: waves that waited for others go on.
  void resume(uint64_t now);
  void publish() {
    view.publish();
    for (std::unique_ptr<TimedWorkgroup> &group : groups) {
      group->resident.publish();
    }
  }

  bool hasEnded() const { return ended == wanted || failed; }
  const ResidentWorkgroup *failure() const { return failed; }
  /// The allocation whose values are missing, when it failed because of it.
  std::optional<uint64_t> missing() const { return missingIn; }
  /// Allocations in which stores are missing.
  llvm::ArrayRef<uint64_t> leftOut() const { return storedInto; }

  /// Clock of the last completion of anything.
  uint64_t lastClock() const { return last; }
  /// Clocks at which workgroups ended, in ascending order.
  const std::vector<uint64_t> &endTimes() const { return ends; }
  /// What workgroups made cross the levels, by the round they are of. What the
  /// L2 still holds at the end is in none.
  llvm::ArrayRef<MemoryTraffic> trafficOfRounds() const { return roundTraffic; }

  DieMemory memory;
  DieCounts counts;
  QuantumResult observations;
  std::vector<TraceEvent> trace;

private:
  struct TimedWorkgroup;
  struct TimedWave {
    Wave *wave = nullptr;
    TimedWorkgroup *group = nullptr;
    unsigned simd = 0;            ///< of the die
    uint64_t earliest = 0;        ///< the slot behind its last instruction
    uint64_t ready = 0;           ///< when nothing of its own holds it back
    Stall reason = Stall::Issue;  ///< of `ready`
    Stall blocked = Stall::Issue; ///< what held it back since
    unsigned priority = 0;
    uint64_t fetchedLine = ~uint64_t(0);
    bool isParked = false; ///< someone else will make it ready
    bool isAgain = false;  ///< its instruction comes a second time
    CompletionQueue vector, lds;
    uint64_t lastScalar = 0;
    unsigned scalarLoads = 0;
    uint64_t atomicDone = 0; ///< of what it waits for when parked
  };
  struct TimedWorkgroup {
    TimedWorkgroup(const LaunchSetup &setup, uint64_t position,
                   MemoryView *view)
        : resident(setup, position, view) {}
    ResidentWorkgroup resident;
    std::vector<TimedWave> waves;
    unsigned unit = 0;
    unsigned ended = 0, waiting = 0;
    uint64_t started = 0;
    uint64_t round = 0; ///< that it is of
    bool isTraced = false;
  };
  struct Simd {
    std::vector<TimedWave *> waves; ///< by priority, then by age
    uint64_t vectorFree = 0, matrixFree = 0;
  };
  struct ComputeUnit {
    double ldsFree = 0, vectorMemoryFree = 0;
    unsigned groups = 0;
  };
  void dispatch(uint64_t now);
  unsigned dispatcher() const { return unsigned(simds.size()); }
  void extendSample(uint64_t now);
  void startWorkgroup(unsigned unit, uint64_t now);
  void endWorkgroup(TimedWorkgroup &group, uint64_t now);
  void schedule(unsigned simd, uint64_t time);
  void runSlot(unsigned simd, uint64_t now);

  /// When the unit takes the next instruction of a wave, and what keeps it.
  uint64_t available(TimedWave &timed, const InstructionTiming &next,
                     uint64_t now);
  /// Executes the wave's next instruction at a clock.
  void issue(TimedWave &timed, uint64_t now);
  bool execute(TimedWave &timed, const Instr &instr,
               const InstructionTiming &timing);
  void countStalls(const TimedWave &timed, uint32_t record, uint64_t now);
  void occupy(TimedWave &timed, uint32_t record, uint64_t now);
  void occupyLds(TimedWave &timed, uint32_t record, uint64_t now);
  struct LdsPattern;
  const LdsPattern &ldsPattern(uint32_t record, uint64_t lanes);
  void occupyVectorMemory(TimedWave &timed, uint32_t record, uint64_t now);
  void occupyScalarMemory(TimedWave &timed, uint64_t now);
  /// Ends the launch when a scalar load reads where stores without values went.
  void checkScalarLoad(TimedWave &timed);
  /// Ends the launch when time depends on what the last access read, and an
  /// earlier launch left it out.
  void checkLeftOut(TimedWave &timed, uint32_t record);
  /// Notes the allocation of an address as one in which stores are missing.
  void leaveOut(uint64_t address);
  /// Finds out when the instruction behind the last one may be issued.
  void lookAhead(TimedWave &timed, uint32_t record, uint64_t now);
  void stop(TimedWave &timed, uint64_t now);
  void fail(TimedWorkgroup &group);
  void wake(TimedWave &timed, uint64_t time, Stall reason);

  const TimedLaunch &launch;
  const unsigned index;
  const uint64_t workgroups; ///< of the die
  uint64_t wanted;           ///< of them to be run
  uint64_t mostWanted;
  bool isFillingL2 = false;
  MemoryView view;
  WavePool pool;
  std::vector<Simd> simds;
  std::vector<ComputeUnit> units;
  std::vector<std::unique_ptr<TimedWorkgroup>> groups; ///< resident ones
  /// Of the SIMDs, and behind them of the dispatcher.
  SlotQueue events;
  uint64_t first = 0; ///< workgroup that is run, counted within the die
  uint64_t next = 0;  ///< the next one, counted from the first on
  uint64_t nextDispatch = 0;
  uint64_t ended = 0, last = 0;
  std::vector<uint64_t> ends;
  std::vector<MemoryTraffic> roundTraffic;
  const ResidentWorkgroup *failed = nullptr;
  MemoryTrace access;
  int rounding = -1;      ///< that the host has
  bool isSampled = false; ///< its stores are dropped
  /// Allocations that were stored to without values, and the bytes of the last.
  llvm::SmallVector<uint64_t, 4> storedInto;
  uint64_t lastStored = 0, lastStoredBytes = 0;
  std::optional<uint64_t> missingIn;
  alignas(64) uint32_t ldsAddress[waveSize];
  /// The last access of an LDS instruction and the conflicts it had: they
  /// depend on the distances between lanes and on the first bank alone, which
  /// rarely change in a loop.
  struct LdsPattern {
    uint32_t first = ~0u;
    uint64_t lanes = 0;
    unsigned clocks = 0, conflicts = 0;
    alignas(64) uint32_t distance[waveSize];
  };
  std::vector<std::unique_ptr<LdsPattern>> patterns; ///< by record
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_DIE_H
