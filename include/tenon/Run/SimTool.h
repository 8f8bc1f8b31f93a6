//===- SimTool.h - run a kernel of any code object --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUN_SIMTOOL_H
#define TENON_RUN_SIMTOOL_H

#include "tenon/Sim/Device.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tenon::run {

/// One launch, as `tenon sim` takes it.
struct SimOptions {
  std::string kernel;                        ///< empty: the only one
  std::array<uint32_t, 3> grid = {1, 1, 1};  ///< workgroups
  std::array<uint32_t, 3> block = {1, 1, 1}; ///< work-items
  uint32_t dynamicLds = 0;
  /// Arguments in the order of the kernel's, or `NAME=VALUE` by the names of
  /// its metadata: i8, i16, i32, i64, f32 or f64 with `:NUMBER`; `null`;
  /// `buf:BYTES[:fill=zero|random|nan|undef][:out=FILE.npy]`;
  /// `npy:FILE[:out=FILE.npy]`; `table:VALUE,VALUE,...`, a buffer with such
  /// values one behind the other. What is left out is zero.
  std::vector<std::string> arguments;
  sim::CheckSet checks = sim::CheckSet::all();
  uint64_t perturb = 0; ///< LaunchConfig::perturb
  std::optional<uint64_t> workgroupOrder;
  bool profile = false;
  std::optional<sim::TimingOptions> timing;
  std::string trace;    ///< a file for the timeline, or empty
  unsigned threads = 0; ///< 0: all cores
  /// LaunchConfig::instructionBudget
  uint64_t instructionBudget = sim::LaunchConfig().instructionBudget;
};

/// What a launch did, also one that did not come to its end.
struct SimOutcome {
  std::string kernel;
  sim::LaunchResult launch; ///< of a launch that failed: the findings
  /// Why the launch ended early, and whether a check ended it rather than
  /// something that cannot be executed.
  std::optional<std::string> failure;
  bool endedByCheck = false;
  std::vector<std::string> omittedArguments; ///< that no option gives
};

/// Runs a kernel of \p object and writes the buffers that are asked for. The
/// error is an InputError when the options do not fit the kernel; otherwise the
/// object cannot be executed.
llvm::Expected<SimOutcome> simulate(llvm::ArrayRef<uint8_t> object,
                                    const SimOptions &options);

/// The JSON text of `tenon sim --stats-json`.
std::string simStatsToJson(const SimOutcome &outcome,
                           const SimOptions &options);

} // namespace tenon::run

#endif // TENON_RUN_SIMTOOL_H
