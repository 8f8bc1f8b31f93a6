//===- TimedDispatch.h - a launch in time -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_TIMEDDISPATCH_H
#define TENON_LIB_SIM_TIMING_TIMEDDISPATCH_H

#include "Die.h"

namespace tenon::sim {

/// Executes a launch that is set up and finds out how long it takes.
///
/// Dies run in epochs of a fixed number of clocks, each on some host thread.
/// Between two epochs stores and atomics become visible in the order of dies,
/// and the dies' requests to the memory that they share are put together.
///
/// A sampled launch runs workgroups of the first die only, for a few rounds of
/// what it holds at a time; the other dies are taken to do the same, and the
/// rest of the rounds to take as long as the last one seen. Its stores are
/// dropped. Workgroups at the end of the grid that do nothing are left out:
/// they are found by running some of them before.
class TimedDispatch {
public:
  TimedDispatch(const LaunchSetup &setup, const TimingOptions &options,
                const target::TargetInfo &chip,
                const target::TimingFacts &facts);

  llvm::Expected<LaunchResult> run();

private:
  /// What one pass over the launch yields.
  struct Pass {
    uint64_t cycles = 0;
    DieCounts counts;
    MemoryTraffic traffic;
    double scale = 1;          ///< from what was run to the launch
    uint64_t drainedBytes = 0; ///< of all dies that were run
    /// Use of HBM if no die fetched what another one has.
    double unsharedHbm = 0;
    std::vector<TraceEvent> trace;
    std::vector<uint64_t> leftOut; ///< allocations in which stores are missing
    FindingLog log;
    AccessStatistics statistics;
  };

  llvm::Expected<Pass> runPass(unsigned dies, double firstFetchShare);
  /// Puts code, and data when wanted, into the caches.
  void warm(Die &die, DeviceMemoryTiming &device);
  /// The number of workgroups before those at the end of the grid that hardly
  /// execute an instruction: all where they are mixed.
  llvm::Expected<uint64_t> findBusy();
  /// Wave instructions of workgroup \p number of the first die.
  llvm::Expected<uint64_t> instructionsOf(uint64_t number);
  llvm::Error failureOf(const std::vector<std::unique_ptr<Die>> &dies) const;
  uint64_t groupsOfDie(unsigned die) const;
  /// Brings what crossed the levels of one die to that of the launch.
  MemoryTraffic trafficOfAll(const Die &die) const;
  /// Clocks of all rounds of a die of which a part was run; `drain`: between
  /// the end of that part and the end of its writes.
  uint64_t extrapolate(const Die &die, uint64_t all, uint64_t drain) const;
  /// What a round of a die adds that was not run.
  MemoryTraffic trafficOfRound(const Die &die) const;
  /// Of the lines that the sampled die fetched, the part that no other die
  /// fetched before: all dies together cannot fetch more than there is.
  double firstFetchShareOf(llvm::ArrayRef<uint64_t> lines) const;
  /// What to say about the trust in a time.
  std::string calibrationOf(const DieCounts &counts) const;
  TimingResult evaluate(const Pass &pass, bool sampled) const;

  TimedLaunch launch;
  uint64_t busy; ///< workgroups of the launch that are not left out
  std::vector<uint64_t> sampledLines; ///< that the sampled die fetched
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_TIMEDDISPATCH_H
