//===- ResidentWorkgroup.h - a workgroup that runs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_RESIDENTWORKGROUP_H
#define TENON_LIB_SIM_RESIDENTWORKGROUP_H

#include "LaunchSetup.h"
#include "Wave.h"

namespace tenon::sim {

/// Waves that one host thread has used and will use again.
class WavePool {
public:
  std::unique_ptr<Wave> take();
  std::unique_ptr<WaveChecks> takeChecks();
  std::unique_ptr<GroupChecks> takeGroupChecks();
  void give(std::vector<std::unique_ptr<Wave>> &used) { move(used, waves); }
  void give(std::vector<std::unique_ptr<WaveChecks>> &used) {
    move(used, checks);
  }
  void give(std::unique_ptr<GroupChecks> used) {
    groupChecks.push_back(std::move(used));
  }

private:
  template <typename T>
  static void move(std::vector<std::unique_ptr<T>> &from,
                   std::vector<std::unique_ptr<T>> &to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()),
              std::make_move_iterator(from.end()));
    from.clear();
  }

  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<std::unique_ptr<WaveChecks>> checks;
  std::vector<std::unique_ptr<GroupChecks>> groupChecks;
};

/// What a host thread counts.
struct QuantumResult {
  /// Takes what the checks of a workgroup have found and counted.
  void add(GroupChecks &checks) {
    log.merge(checks.log);
    statistics.add(checks.statistics);
    checks.log.clear();
    checks.statistics = {};
  }

  FindingLog log;
  AccessStatistics statistics;
  uint64_t waveInstructions = 0;
  InstructionCounts counts = {};
  uint64_t *profile = nullptr; ///< executions by record, when wanted
};

/// A workgroup on its compute unit, from its first instruction to its last.
class ResidentWorkgroup {
public:
  /// Why the launch has to end.
  struct Failure {
    uint32_t wave = 0;
    uint32_t record = 0;
    std::string message;
    std::optional<Check> check;
  };

  /// `shared`: the view of several workgroups that run on one host thread;
  /// without it the workgroup has its own.
  ResidentWorkgroup(const LaunchSetup &setup, uint64_t position,
                    MemoryView *shared = nullptr);

  bool isStarted() const { return !waves.empty(); }
  void start(WavePool &pool);
  /// Gives its waves back.
  void leave(WavePool &pool, QuantumResult &result);

  /// Runs until each wave has executed so many instructions, waits for what
  /// only the end of the quantum brings, or has ended.
  void runQuantum(int64_t instructions, QuantumResult &result);

  const LaunchSetup &setup;
  const uint64_t position;
  Workgroup group;
  std::unique_ptr<GroupChecks> checks; ///< when the launch is observed
  std::unique_ptr<GroupOrder> order;   ///< when races are checked
  std::optional<Failure> failure;
  bool hasEnded = false;
  int64_t charged = 0; ///< to the budget, by the last quantum

  /// Makes the stores and atomics visible to others.
  void publish() {
    if (ownView) {
      ownView->publish();
    }
    if (order) {
      order->publish(setup.checks->globalOrder);
    }
  }

  const std::vector<std::unique_ptr<Wave>> &allWaves() const { return waves; }
  const Wave &firstUnfinished() const;
  /// Releases the waves that wait at a barrier; false when one can never be
  /// passed.
  bool passBarrier(unsigned waiting, unsigned ended);
  void fail(const Wave &wave, std::string message, std::optional<Check> check);
  /// Where and why it failed, in a sentence.
  std::string describeFailure() const;

private:
  void startWave(unsigned waveIndex);
  /// An observed wave is checked and profiled on the way.
  template <bool observed> void runWave(Wave &wave, QuantumResult &result);

  std::optional<MemoryView> ownView;
  MemoryView *view;
  std::vector<std::unique_ptr<Wave>> waves;
  std::vector<std::unique_ptr<WaveChecks>> waveChecks;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_RESIDENTWORKGROUP_H
