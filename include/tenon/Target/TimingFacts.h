//===- TimingFacts.h - Clocks and latencies of a chip -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TARGET_TIMINGFACTS_H
#define TENON_TARGET_TIMINGFACTS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace tenon::target {

/// What keeps the matrix cores of a kernel busy.
enum class MatrixUse { None, F32, F16, F8, F4 };

/// How far a family of kernels has been held against silicon.
struct CalibrationClass {
  llvm::StringRef family;
  /// Kernels of the same use count as of the family.
  MatrixUse use;
  double medianError; ///< relative, absolute value
  double p90Error;
  unsigned rows; ///< measurements behind the two
};

/// What the timing model takes from a chip beyond ChipFacts. Clocks are engine
/// clocks at ChipFacts::clockHz; times that belong to the fabric and the memory
/// are in nanoseconds. Each figure of a table names its source, "fitted" (by
/// tools/calibrate.py) or "assumed".
struct TimingFacts {
  // Launch.
  double launchUs;       ///< of a kernel that does nothing
  double endToEndUs;     ///< what the host sees beyond the kernel, first launch
  double dependentGapUs; ///< between a launch and one that depends on it
  unsigned dispatchClocks;  ///< between two workgroups that a die starts
  unsigned waveStartClocks; ///< from dispatch to the first instruction

  // Issue. A SIMD looks at its waves once per slot.
  unsigned slotClocks;
  unsigned branchClocks;      ///< a taken branch, beyond its slot
  unsigned barrierClocks;     ///< from the last arrival
  unsigned transClocks;       ///< that exp, log, rcp, rsq, sqrt, sin, cos take
  unsigned quarterRateClocks; ///< 32-bit integer products
  unsigned doubleClocks;      ///< products and sums of doubles
  /// Clocks of matrix instructions that may wait in front of a busy matrix core
  /// while the wave goes on.
  unsigned matrixQueueClocks;
  /// Clocks in which no vector instruction follows a matrix instruction of 8
  /// passes or more.
  unsigned matrixShadowClocks;

  // Instruction cache.
  unsigned fetchLineBytes;
  unsigned fetchMissClocks;

  // LDS.
  unsigned ldsLatency;           ///< from issue to data, without queueing
  unsigned ldsQueueClocks;       ///< work that may wait in front of the unit
  unsigned ldsInstructionClocks; ///< that the unit takes at least

  // Scalar memory.
  unsigned scalarHitClocks;
  unsigned scalarCacheBytes;

  // Vector memory.
  unsigned vectorQueueClocks; ///< address work that may wait in front
  unsigned l1HitClocks;
  double l1BytesPerClock;      ///< into registers
  double ldsCopyBytesPerClock; ///< of loads into LDS
  unsigned l1Ways;
  unsigned l2HitClocks; ///< from issue
  unsigned l2Channels, l2Ways;
  double l2ChannelBytesPerClock;
  double mallNs, hbmNs;  ///< latency beyond an L2 miss
  double mallBandwidth;  ///< of the device, bytes per second
  double hbmBandwidth;   ///< attainable, of the device, bytes per second
  unsigned atomicClocks; ///< beyond the L2's latency

  // Clock of a kernel that keeps all matrix cores busy all the time, by format.
  // With less use it is higher, up to the peak: the power is what stays.
  double matrixClockF32, matrixClockF16, matrixClockF8, matrixClockF4;

  llvm::ArrayRef<CalibrationClass> calibration;
};

/// Sets the figure of that name (a number of TimingFacts, as it is spelled
/// there) and forgets the calibration, which is that of other figures. The
/// error for an unknown name lists the known ones.
llvm::Error setTimingFact(TimingFacts &facts, llvm::StringRef name,
                          double value);

} // namespace tenon::target

#endif // TENON_TARGET_TIMINGFACTS_H
