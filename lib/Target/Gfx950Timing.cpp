//===- Gfx950Timing.cpp - Clocks and latencies of the MI355X ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants marked "fitted" change only together with a run of
// tools/calibrate.py that does not worsen
// docs/explanation/timing-model.md.
//
//===----------------------------------------------------------------------===//

#include "Chips.h"

namespace tenon::target {

const TimingFacts &gfx950Timing() {
  // docs/explanation/timing-model.md.
  static const CalibrationClass calibration[] = {
      {"f4gemm", MatrixUse::F4, 0.077, 0.214, 638},
      {"bf16gemm", MatrixUse::F16, 0.049, 0.142, 214},
      {"fp8gemm_blockscale", MatrixUse::F8, 0.092, 0.188, 148},
      {"kda_decode", MatrixUse::None, 0.065, 0.143, 5},
  };
  static const TimingFacts facts = {
      .launchUs = 3.4,        // fitted
      .endToEndUs = 0.4,      // 3.8 us for an empty launch, less launchUs
      .dependentGapUs = 1.0,  // assumed
      .dispatchClocks = 8,    // assumed
      .waveStartClocks = 200, // assumed

      .slotClocks = 4,         // CDNA3 ISA: 16 lanes of a wave of 64 per clock
      .branchClocks = 16,      // assumed
      .barrierClocks = 64,     // fitted
      .transClocks = 8,        // LLVM pull request 156411: two issue slots
      .quarterRateClocks = 16, // LLVM SISchedule.td: WriteIntMul
      .doubleClocks = 4,       // MI355X data sheet: 78.6 TFLOP/s of vector F64
      .matrixQueueClocks = 16, // assumed, after FlyDSL's notes
      .matrixShadowClocks = 8, // LLVM pull request 184084

      .fetchLineBytes = 128,  // assumed
      .fetchMissClocks = 300, // assumed: that of an L2 hit

      .ldsLatency = 48,          // fitted
      .ldsQueueClocks = 64,      // assumed
      .ldsInstructionClocks = 2, // assumed

      .scalarHitClocks = 120,       // fitted
      .scalarCacheBytes = 16 << 10, // CDNA3 white paper

      .vectorQueueClocks = 32,      // fitted
      .l1HitClocks = 180,           // fitted
      .l1BytesPerClock = 64,        // CDNA3 white paper
      .ldsCopyBytesPerClock = 32,   // fitted
      .l1Ways = 64,                 // nod-ai guide
      .l2HitClocks = 250,           // fitted
      .l2Channels = 16,             // nod-ai guide
      .l2Ways = 16,                 // nod-ai guide
      .l2ChannelBytesPerClock = 48, // fitted
      .mallNs = 220,                // fitted
      .hbmNs = 290,                 // fitted
      .mallBandwidth = 8.48e12,     // fitted
      .hbmBandwidth = 6.5e12,       // fitted
      .atomicClocks = 100,          // assumed

      .matrixClockF32 = 2.1e9,  // assumed
      .matrixClockF16 = 1.75e9, // fitted
      .matrixClockF8 = 1.65e9,  // fitted
      .matrixClockF4 = 1.65e9,  // fitted

      .calibration = calibration,
  };
  return facts;
}

} // namespace tenon::target
