//===- Run.h - run a compiled op on a device and check it -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUN_RUN_H
#define TENON_RUN_RUN_H

#include "tenon/Reference/Compare.h"
#include "tenon/Reference/Generate.h"
#include "tenon/Run/Harness.h"
#include "tenon/Runtime/Plan.h"
#include "tenon/Sim/Check.h"
#include "tenon/Sim/Device.h"
#include "tenon/Sim/InstructionClass.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::run {

/// What the user asked for cannot be done with these inputs: a size, a file, a
/// stride. Other errors of this library mean that the device could not execute.
class InputError : public llvm::ErrorInfo<InputError> {
public:
  static char ID;
  explicit InputError(std::string message) : text(std::move(message)) {}
  void log(llvm::raw_ostream &stream) const override { stream << text; }
  std::error_code convertToErrorCode() const override {
    return std::make_error_code(std::errc::invalid_argument);
  }

private:
  std::string text;
};

/// What to run on which data. Names are those of the op's contract.
struct RunOptions {
  std::map<std::string, int64_t> dims;        ///< sizes by symbol: N, S, L
  std::map<std::string, int64_t> scalars;     ///< of the call, by name
  Lists lists;                                ///< instead of files
  std::map<std::string, std::string> inputs;  ///< .npy files by operand
  std::map<std::string, std::string> outputs; ///< .npy files by operand
  /// In elements, outermost first; dimensions behind those given are dense.
  std::map<std::string, std::vector<int64_t>> strides;
  std::map<std::string, reference::Fill> fills;
  uint64_t seed = 0;
  bool check = false;
  /// With `check`: compares the first piece of the result, the last twenty and
  /// 64 at random; of the others only that nothing beside them is written. A
  /// piece is up to 16 rows of a product, one row and head of a decode step.
  bool checkSampled = false;
  unsigned threads = 0;                        ///< 0: all cores
  sim::CheckSet checks = sim::CheckSet::all(); ///< of the simulator
  uint64_t perturb = 0;                        ///< sim::LaunchConfig::perturb
  std::optional<uint64_t> workgroupOrder;
  bool profile = false;
  /// Bytes of LDS that each workgroup takes besides what its kernel uses.
  uint32_t padLds = 0;
  /// Models the times of the launches. A sampled one drops stores, so that
  /// neither `check` nor `outputs` go with it.
  std::optional<sim::TimingOptions> timing;
  std::string trace; ///< a file for the timeline, or empty
};

/// What one launch did.
struct LaunchStats {
  std::string kernel;
  std::array<uint32_t, 3> grid = {}; ///< workgroups
  std::array<uint32_t, 3> workgroupSize = {};
  uint64_t waveInstructions = 0;
  sim::InstructionCounts instructions = {};
  double seconds = 0.0;                    ///< of the host
  std::vector<sim::ProfileEntry> profile;  ///< when asked for
  std::optional<sim::TimingResult> timing; ///< when asked for
};

/// Modelled time of launches each of which depends on the one before.
struct PlanTime {
  double kernelUs = 0;   ///< the sum of what a profiler reports for each
  double endToEndUs = 0; ///< as the host sees it, gaps between them included
};

/// How one operand compares with the reference.
struct OperandCheck {
  /// Its name, or "operand/against" where it is measured more than once.
  std::string operand;
  double tolerance = 0.0;
  bool passed = false;
  reference::ErrorAccumulator errors;
  uint64_t skippedGroups = 0; ///< of a sampled check
  /// Memory that the op must not write, but the kernel did: bytes, and a
  /// sentence about the first of them.
  uint64_t strayBytes = 0;
  std::string firstStray;
};

struct RunResult {
  std::vector<LaunchStats> launches;
  std::vector<OperandCheck> checks;   ///< when asked for
  std::vector<sim::Finding> findings; ///< of all launches
  /// Units of work that were not padding, as the op counts them (rows times
  /// heads), and the least wave instructions that one needs.
  uint64_t workUnits = 0;
  uint64_t floorPerUnit = 0;
  std::string unitName;             ///< "(row, head)"
  std::vector<std::string> remarks; ///< of the reference, with the checks

  bool passed() const;
  /// Of all launches; none when they were not timed, or there are none.
  std::optional<PlanTime> time() const;
};

/// Runs \p plan with the kernels of \p codeObject in the simulator.
llvm::Expected<RunResult> runOnSimulator(const runtime::Plan &plan,
                                         llvm::ArrayRef<uint8_t> codeObject,
                                         const Harness &harness,
                                         const RunOptions &options);

/// The checks and counts for people.
std::string formatResult(const RunResult &result);

/// The JSON text of `--stats-json` (docs/reference/json.md).
std::string statsToJson(const RunResult &result);

} // namespace tenon::run

#endif // TENON_RUN_RUN_H
