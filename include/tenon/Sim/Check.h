//===- Check.h - what a launch is checked for, and findings -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_SIM_CHECK_H
#define TENON_SIM_CHECK_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenon::sim {

/// The faults that hardware does not report.
enum class Check : uint8_t {
  LdsRace,    ///< waves of a workgroup that access LDS without order
  GlobalRace, ///< workgroups of a launch that access memory without order
  Wait,       ///< a register or LDS location used before its wait
  Hazard,     ///< too few wait states between two instructions
  Uninit,     ///< undefined data that reach a store, an address or a branch
  Bounds,     ///< an access outside every allocation; ends the launch
  Align,      ///< a misaligned access; an atomic that is ends the launch
  Barrier,    ///< a barrier that only some waves reach; ends the launch
  Budget,     ///< the instruction budget is used up; ends the launch
};

inline constexpr unsigned checkCount = 9;

/// The name of a check on the command line ("lds-race").
llvm::StringRef checkName(Check check);

/// A set of checks.
class CheckSet {
public:
  static CheckSet none() { return {}; }
  static CheckSet all() {
    CheckSet set;
    set.bits = (1u << checkCount) - 1;
    return set;
  }
  /// "all", "none", or names with commas between them.
  static llvm::Expected<CheckSet> parse(llvm::StringRef text);

  bool has(Check check) const { return (bits >> unsigned(check)) & 1; }
  bool any() const { return bits != 0; }
  void add(Check check) { bits |= 1u << unsigned(check); }

private:
  uint32_t bits = 0;
};

/// One side of a finding: an instruction as a wave executed it.
struct FindingPlace {
  std::array<uint32_t, 3> workgroup = {};
  uint32_t wave = 0;
  std::optional<uint32_t> lane; ///< when it is about one lane
  uint64_t pc = 0;              ///< ELF address of the instruction
  std::string text;             ///< of the instruction
  std::string location;         ///< "file.c:12" when there is a line table
};

/// A fault that a check found. The same fault of the same instruction is
/// reported once, where it comes first in the order of workgroups, waves and
/// lanes.
struct Finding {
  Check check = Check::LdsRace;
  std::string kernel;
  FindingPlace place;
  std::string message;
  std::optional<FindingPlace> other; ///< the other access of a race
  uint64_t count = 1;                ///< how often it was met
};

/// A finding in a few lines of text.
std::string formatFinding(const Finding &finding);

/// The error of a launch that could not go on.
class LaunchFailure : public llvm::ErrorInfo<LaunchFailure> {
public:
  static char ID;
  LaunchFailure(std::string message, std::optional<Check> check,
                std::vector<Finding> findings)
      : text(std::move(message)), stoppedBy(check), found(std::move(findings)) {
  }

  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override;

  /// The check whose finding ended the launch; nothing when the launch met
  /// something that cannot be executed.
  std::optional<Check> check() const { return stoppedBy; }
  /// What was found until the end, with what ended the launch.
  const std::vector<Finding> &findings() const { return found; }

private:
  std::string text;
  std::optional<Check> stoppedBy;
  std::vector<Finding> found;
};

/// A timed launch depends on values that an earlier one has left out (see
/// TimingOptions::leftOut).
class MissingValues : public llvm::ErrorInfo<MissingValues, LaunchFailure> {
public:
  static char ID;
  MissingValues(std::string message, uint64_t allocation)
      : ErrorInfo(std::move(message), std::nullopt, std::vector<Finding>()),
        base(allocation) {}

  /// Where the allocation begins that holds them.
  uint64_t allocation() const { return base; }

private:
  uint64_t base;
};

} // namespace tenon::sim

#endif // TENON_SIM_CHECK_H
