//===- Device.h - a simulated GPU that launches kernels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_SIM_DEVICE_H
#define TENON_SIM_DEVICE_H

#include "tenon/Sim/Check.h"
#include "tenon/Sim/CodeObject.h"
#include "tenon/Sim/InstructionClass.h"
#include "tenon/Sim/Memory.h"
#include "tenon/Sim/Timing.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace tenon::sim {

/// One launch of a kernel.
struct LaunchConfig {
  std::array<uint32_t, 3> grid = {1, 1, 1};  ///< workgroups
  std::array<uint32_t, 3> block = {1, 1, 1}; ///< work-items per workgroup
  uint32_t dynamicLds = 0; ///< bytes behind the static group segment
  /// The kernarg segment up to the last explicit argument or more. Hidden
  /// arguments are filled from the metadata and override what is here.
  std::vector<uint8_t> kernarg;
  unsigned numThreads = 0; ///< host threads; 0: all cores
  /// Wave instructions the launch may execute before it fails.
  uint64_t instructionBudget = uint64_t(1) << 36;
  /// What is checked; findings come with the result.
  CheckSet checks = CheckSet::all();
  /// Fills the statistics of the result; checks do as well.
  bool statistics = false;
  /// Counts the executions of every instruction.
  bool profile = false;
  /// Starts workgroups in an order drawn from this seed instead of ascending.
  std::optional<uint64_t> workgroupOrder;
  /// When not 0, a seed: transcendental results move by up to one unit in the
  /// last place, and sums of matrix products run in any order.
  uint64_t perturb = 0;
  /// Models the time that the launch takes.
  std::optional<TimingOptions> timing;

  /// Writes `value` at `offset` of `kernarg`, growing it as needed.
  template <typename T> void setArg(uint64_t offset, const T &value) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (kernarg.size() < offset + sizeof(T)) {
      kernarg.resize(offset + sizeof(T));
    }
    std::memcpy(kernarg.data() + offset, &value, sizeof(T));
  }
};

/// What a launch moved.
struct AccessStatistics {
  uint64_t loadBytes = 0, storeBytes = 0, atomicBytes = 0; ///< device memory
  uint64_t loadToLdsBytes = 0, scalarLoadBytes = 0;
  uint64_t ldsReadBytes = 0, ldsWriteBytes = 0, ldsAtomicBytes = 0;
  /// Clocks that bank conflicts add to LDS accesses.
  uint64_t ldsExtraPhases = 0;

  void add(const AccessStatistics &other);
};

/// One instruction of a profile.
struct ProfileEntry {
  uint64_t address = 0; ///< in the ELF file
  std::string text;
  std::string location; ///< "file.c:12" when there is a line table
  uint64_t count = 0;   ///< waves that executed it
  /// When the launch is timed: clocks from behind the instruction before to
  /// behind this one, of all these waves, and those of them that were waiting.
  uint64_t cycles = 0;
  std::array<uint64_t, stallCount> stalls = {};
};

/// What a launch executed.
struct LaunchResult {
  uint64_t waveInstructions = 0;
  InstructionCounts counts = {};
  AccessStatistics statistics;
  std::vector<Finding> findings;      ///< in program order, at most 100
  std::vector<ProfileEntry> profile;  ///< when asked for, in program order
  std::optional<TimingResult> timing; ///< when asked for

  uint64_t count(InstructionClass instructionClass) const {
    return counts[unsigned(instructionClass)];
  }
};

/// A device: memory, and launches that run to completion.
///
/// A launch fails with a LaunchFailure that names kernel, workgroup, wave,
/// address and text of the instruction when it meets an instruction the
/// simulator does not implement, an access outside every allocation, a barrier
/// that cannot complete, or the end of its instruction budget. Memory then
/// holds what was written until that point. Faults that let it go on are
/// findings of its result.
class Device {
public:
  Memory &memory() { return deviceMemory; }

  /// Runs a kernel. Several launches may run at a time.
  llvm::Expected<LaunchResult> launch(const Kernel &kernel,
                                      const LaunchConfig &config);

  /// Device address of a code object's image; copies it there on first use.
  llvm::Expected<uint64_t> loadAddress(const CodeObject &codeObject);

  /// Frees the image of a code object that is about to go away.
  llvm::Error unload(const CodeObject &codeObject);

private:
  Memory deviceMemory;
  std::mutex lock;
  std::map<const CodeObject *, uint64_t> images;
};

} // namespace tenon::sim

#endif // TENON_SIM_DEVICE_H
