//===- Wave.h - state of a wave and of its workgroup ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_WAVE_H
#define TENON_LIB_SIM_WAVE_H

#include "Instruction.h"
#include "MemoryView.h"
#include "WaitCounters.h"

#include "tenon/Sim/Check.h"

#include "llvm/ADT/Twine.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace tenon::sim {

class Program;
class WaveChecks;
struct MemoryTrace;

inline constexpr unsigned waveSize = 64;
inline constexpr uint64_t allLanes = ~uint64_t(0);

/// Upper halves of the flat addresses of LDS and of the private segment.
inline constexpr uint32_t sharedAperture = 0x10000;
inline constexpr uint32_t privateAperture = 0x20000;

/// One register of all lanes.
struct alignas(64) Row {
  uint32_t lane[waveSize];
};

/// The MODE register, as far as it changes results.
struct Mode {
  uint32_t bits = 0; ///< layout of hwreg(HW_REG_MODE)

  unsigned round32() const { return bits & 3; }
  unsigned round16And64() const { return (bits >> 2) & 3; }
  bool flushInput32() const { return !(bits & 0x10); }
  bool flushOutput32() const { return !(bits & 0x20); }
  bool flushInput16And64() const { return !(bits & 0x40); }
  bool flushOutput16And64() const { return !(bits & 0x80); }
  /// FP16_OVFL: conversions to 8 bits saturate instead of overflowing.
  bool saturatesSmallFloats() const { return bits & 0x800000; }
  bool dx10Clamp() const { return bits & 0x100; }
  bool ieee() const { return bits & 0x200; }
};

/// What the waves of a workgroup share.
struct Workgroup {
  std::array<uint32_t, 3> id = {};
  uint64_t linearId = 0;
  uint64_t position = 0; ///< in the order of dispatch
  /// The group segment in whole granules; accesses beyond read zero.
  std::vector<uint8_t> lds;
};

enum class WaveStop : uint8_t {
  Running,
  Barrier,
  /// Goes on in the next quantum: only other workgroups, or time, can help.
  AwaitsOthers,
  /// The same, and the current instruction has not happened.
  Again,
  Ended,
  Failed,
};

struct Wave {
  alignas(64) uint32_t v[rowCount][waveSize];
  alignas(64) uint32_t s[sgprCount];
  /// All ones in the lanes of EXEC that were last asked for by laneMask().
  alignas(64) uint32_t maskRow[waveSize];
  uint64_t maskRowFor = 0;
  uint32_t scc = 0;
  uint32_t pc = 0; ///< record index of the next instruction
  WaveStop stop = WaveStop::Running;
  Mode mode;
  WaitCounters waits;

  MemoryView *memory = nullptr;
  const Program *program = nullptr;
  Workgroup *workgroup = nullptr;
  WaveChecks *checks = nullptr; ///< null when nothing is checked
  MemoryTrace *trace = nullptr; ///< where accesses are put when it is timed
  uint64_t loadAddress = 0;
  uint64_t perturb = 0; ///< LaunchConfig::perturb
  uint32_t waveIndex = 0;
  uint64_t executed = 0; ///< instructions, also the clock of s_memtime
  int64_t left = 0;      ///< instructions it may still run in this quantum
  /// Where it last loaded from past the caches in this quantum, or 0.
  uint64_t polled = 0;
  /// Private segment, swizzled: dword d of lane l is at 4 * (64 * d + l).
  std::vector<uint8_t> scratch;
  uint32_t scratchBytes = 0; ///< per lane
  std::string failure;
  std::optional<Check> failedCheck; ///< the check that `failure` belongs to

  uint64_t pair(unsigned reg) const {
    uint64_t value;
    std::memcpy(&value, &s[reg], sizeof(value));
    return value;
  }
  void setPair(unsigned reg, uint64_t value) {
    std::memcpy(&s[reg], &value, sizeof(value));
  }
  uint64_t exec() const { return pair(sgprExec); }
  uint64_t vcc() const { return pair(sgprVcc); }

  /// EXEC as a row of all-ones and zero lanes, for blends.
  const uint32_t *laneMask() {
    uint64_t bits = exec();
    if (bits != maskRowFor) {
      expandMask(bits, maskRow);
      maskRowFor = bits;
    }
    return maskRow;
  }

  static void expandMask(uint64_t bits, uint32_t *row) {
    for (unsigned half = 0; half < 2; ++half) {
      uint32_t word = uint32_t(bits >> (32 * half));
      for (unsigned i = 0; i < 32; ++i) {
        row[32 * half + i] = -((word >> i) & 1);
      }
    }
  }

  /// Ends the launch with a message about the current instruction, as a
  /// finding of `check` when there is one.
  void fail(const llvm::Twine &message,
            std::optional<Check> check = std::nullopt) {
    if (stop != WaveStop::Failed) {
      failure = message.str();
      failedCheck = check;
      stop = WaveStop::Failed;
    }
  }

  uint32_t readScalar(const Operand &operand) const {
    switch (operand.kind) {
    case OperandKind::Sgpr:
      return s[operand.reg];
    case OperandKind::Constant:
      return uint32_t(operand.value);
    case OperandKind::Scc:
      return scc;
    case OperandKind::Vccz:
      return vcc() == 0;
    case OperandKind::Execz:
      return exec() == 0;
    case OperandKind::Vgpr: // v_readlane and friends take lane 0 themselves
    case OperandKind::None:
      break;
    }
    return 0;
  }

  uint64_t readScalar64(const Operand &operand) const {
    switch (operand.kind) {
    case OperandKind::Sgpr:
      return pair(operand.reg);
    case OperandKind::Constant:
      return operand.value;
    default:
      return readScalar(operand);
    }
  }
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_WAVE_H
