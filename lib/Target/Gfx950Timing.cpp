//===- Gfx950Timing.cpp - Clocks and latencies of the MI355X ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants marked "fitted" change only together with a run of
// tools/silicon/calibrate.py that does not worsen
// docs/explanation/timing-model.md.
//
//===----------------------------------------------------------------------===//

#include "Chips.h"

namespace tenon::target {

const TimingFacts &gfx950Timing() {
  static const TimingFacts facts = {
      .launchUs = 2.2,        // fitted
      .endToEndUs = 1.6,      // 3.8 us for an empty launch, less launchUs
      .dependentGapUs = 1.0,  // assumed
      .dispatchClocks = 8,    // assumed
      .waveStartClocks = 200, // assumed

      .slotClocks = 4,         // CDNA3 ISA: 16 lanes of a wave of 64 per clock
      .branchClocks = 16,      // assumed
      .barrierClocks = 16,     // assumed
      .transClocks = 8,        // LLVM pull request 156411: two issue slots
      .quarterRateClocks = 16, // LLVM SISchedule.td: WriteIntMul
      .doubleClocks = 4,       // MI355X data sheet: 78.6 TFLOP/s of vector F64
      .matrixQueueClocks = 16, // assumed, after FlyDSL's notes
      .matrixShadowClocks = 8, // LLVM pull request 184084

      .fetchLineBytes = 128,  // assumed
      .fetchMissClocks = 300, // assumed: that of an L2 hit

      .ldsLatency = 64,          // assumed
      .ldsQueueClocks = 64,      // assumed
      .ldsInstructionClocks = 2, // assumed

      .scalarHitClocks = 60,        // assumed
      .scalarCacheBytes = 16 << 10, // CDNA3 white paper

      .vectorQueueClocks = 64,       // assumed
      .l1HitClocks = 120,            // assumed
      .l1BytesPerClock = 64,         // CDNA3 white paper
      .l1Ways = 64,                  // nod-ai guide
      .l2HitClocks = 300,            // assumed
      .l2Channels = 16,              // nod-ai guide
      .l2Ways = 16,                  // nod-ai guide
      .l2ChannelBytesPerClock = 128, // CDNA3 white paper
      .mallNs = 150,                 // assumed
      .hbmNs = 400,                  // assumed
      .mallBandwidth = 10.6e12,      // measured C-store rate, moe_isa facts
      .hbmBandwidth = 6.0e12,        // fitted; AITER kimik3_a4w4_tuned_fmoe.csv
      .atomicClocks = 100,           // assumed

      .matrixClockF32 = 2.1e9, // assumed
      .matrixClockF16 = 1.6e9, // fitted
      .matrixClockF8 = 1.6e9,  // fitted
      .matrixClockF4 = 1.5e9,  // fitted

      .calibration = {},
  };
  return facts;
}

} // namespace tenon::target
