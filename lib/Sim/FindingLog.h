//===- FindingLog.h - findings while a launch runs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_FINDINGLOG_H
#define TENON_LIB_SIM_FINDINGLOG_H

#include "tenon/Sim/Check.h"

#include <map>
#include <tuple>

namespace tenon::sim {

class Program;
class SourceLines;

/// Where a finding is, in numbers.
struct FindingSite {
  uint64_t workgroup = 0;
  uint32_t wave = 0;
  int32_t lane = -1; ///< -1: not about one lane
  uint32_t record = 0;

  auto order() const { return std::tie(workgroup, wave, lane, record); }
};

/// A finding without its texts.
struct RawFinding {
  Check check;
  FindingSite site;
  std::optional<FindingSite> other;
  std::string message;
  uint64_t count = 1;
};

/// Findings of one host thread, one per check and pair of instructions: the
/// first in the order of workgroups, waves and lanes, whatever the order in
/// which they come.
class FindingLog {
public:
  void add(RawFinding finding);
  void merge(const FindingLog &log);
  void clear() { findings.clear(); }

  /// The findings with their texts, in the order of the program, at most
  /// `limit`.
  std::vector<Finding> finish(llvm::StringRef kernel, const Program &program,
                              const SourceLines &lines,
                              const std::array<uint32_t, 3> &grid,
                              size_t limit) const;

private:
  using Key = std::tuple<uint32_t, Check, uint32_t>;
  std::map<Key, RawFinding> findings;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_FINDINGLOG_H
