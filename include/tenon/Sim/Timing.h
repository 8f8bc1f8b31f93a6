//===- Timing.h - the modelled time of a launch -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_SIM_TIMING_H
#define TENON_SIM_TIMING_H

#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tenon::sim {

/// Why a wave did not issue an instruction in a slot.
enum class Stall : uint8_t {
  Fetch,      ///< its instructions are not in the cache
  Branch,     ///< a taken branch
  VectorLoad, ///< s_waitcnt vmcnt
  LdsData,    ///< s_waitcnt lgkmcnt for LDS
  ScalarLoad, ///< s_waitcnt lgkmcnt for scalar memory
  Barrier,
  Matrix,       ///< the matrix core is busy
  Vector,       ///< the vector ALU is busy with an instruction
  Lds,          ///< the LDS unit is full
  VectorMemory, ///< the address unit is full
  Issue,        ///< another wave had the slot
  Sleep,        ///< s_nop, s_sleep, and waiting for other workgroups
};
inline constexpr unsigned stallCount = 12;

/// Short name of a reason, as reports print it ("vector_load").
llvm::StringRef stallName(Stall stall);

struct TimingOptions {
  /// Runs the workgroups of one die for a few rounds and scales.
  bool sampled = false;
  /// Data begin in the caches instead of in HBM, as far as they fit.
  bool warm = false;
  /// Data begin in the memory-side cache alone, as far as they fit.
  bool warmMall = false;
  /// Only what addresses, branches and masks depend on is computed, and never
  /// a matrix product: results are wrong, times the same.
  bool skipValues = false;
  /// Where allocations begin whose contents are not what they would be, because
  /// an earlier launch left them out (TimingResult::leftOut). The launch fails
  /// with MissingValues when its time depends on them.
  std::vector<uint64_t> leftOut;
  /// Constants of the model (target::TimingFacts) to try other values of.
  std::vector<std::pair<std::string, double>> constants;
  /// Keeps issue times of the first workgroups for a trace.
  bool trace = false;
};

/// One instruction of a wave in a trace, with the time before it in which the
/// wave could not go on.
struct TraceEvent {
  uint32_t die = 0, computeUnit = 0, simd = 0;
  uint64_t workgroup = 0;
  uint32_t wave = 0;
  uint32_t record = 0;        ///< of the program
  uint64_t begin = 0;         ///< clock behind the instruction before
  uint64_t end = 0;           ///< clock of the slot behind its own
  uint64_t stalled = 0;       ///< clocks of waiting in between
  Stall stall = Stall::Issue; ///< for what
};

/// The modelled time of a launch.
struct TimingResult {
  uint64_t cycles = 0;       ///< from the first dispatch to the last write
  double clockHz = 0;        ///< effective, under this kernel's load
  double us = 0;             ///< of the kernel, as a profiler reports it
  double usEndToEnd = 0;     ///< of one launch, as the host sees it
  double dependentGapUs = 0; ///< between it and a launch that depends on it
  double fractionOfMfma = 0, fractionOfLds = 0, fractionOfL2 = 0,
         fractionOfHbm = 0;
  uint64_t l1Bytes = 0, l2Bytes = 0, mallBytes = 0, hbmBytes = 0;
  uint64_t ldsConflictCycles = 0;
  double occupancyWaves = 0; ///< mean of resident waves per SIMD in use
  std::array<uint64_t, stallCount> stalls = {}; ///< wave clocks by reason
  bool sampled = false; ///< extrapolated from a part of the launch
  /// Where allocations begin in which stores are missing: all of a sampled
  /// launch, and those of values that are skipped.
  std::vector<uint64_t> leftOut;
  /// "calibrated (f4gemm, median error 8 %)" or "uncalibrated".
  std::string calibration;
  std::vector<TraceEvent> trace;
  /// Text of the instructions in the trace, by record.
  std::map<uint32_t, std::string> traceTexts;
};

} // namespace tenon::sim

#endif // TENON_SIM_TIMING_H
