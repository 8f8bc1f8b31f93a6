//===- Dispatch.h - workgroups of one launch --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_DISPATCH_H
#define TENON_LIB_SIM_DISPATCH_H

#include "ResidentWorkgroup.h"

#include <atomic>

namespace tenon::sim {

/// The execution of a launch that is set up.
///
/// As many workgroups as the chip holds are resident; each runs a quantum of
/// instructions on some host thread. Between two quanta the stores and atomics
/// of all become visible in the order of dispatch, and workgroups that have
/// ended make room. So workgroups that wait for each other get on, and nothing
/// depends on the number of host threads.
class Dispatch {
public:
  explicit Dispatch(const LaunchSetup &setup) : setup(setup) {}

  /// Runs all workgroups.
  llvm::Expected<LaunchResult> run();

private:
  /// What one host thread works with.
  struct Worker {
    WavePool pool;
    QuantumResult result;
    std::vector<uint64_t> profile; ///< by record
  };

  void admit();
  void runShare(Worker &worker);
  /// What happens between two quanta; false when the launch is over.
  bool endQuantum();
  void noteFailure(const ResidentWorkgroup &workgroup);
  LaunchResult finish();

  const LaunchSetup &setup;
  std::vector<Worker> workers;
  std::vector<std::unique_ptr<ResidentWorkgroup>> resident; ///< by position
  uint64_t nextPosition = 0;
  std::atomic<size_t> nextShare = 0;
  int64_t quantum = 0; ///< instructions of a wave
  int64_t budget = 0;
  std::string errorText;
  std::optional<RawFinding> errorFinding;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_DISPATCH_H
