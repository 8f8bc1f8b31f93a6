//===- GemmStep.h - what a step of tenon.gemm takes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_DENSE_GEMMSTEP_H
#define TENON_LIB_KERNELS_DENSE_GEMMSTEP_H

#include "Band.h"
#include "Gemm.h"

namespace tenon::kernels::dense {

/// Elements along K of the 16x16 instruction for the op's types, or of those
/// that share what a lane reads of FP4 weights.
inline int64_t instructionDepth(spec::GemmOp op) {
  return op.getFormat() == spec::GemmFormat::BF16 ? 32 : 128;
}

/// Bytes of \p rows rows of \p operand in one step.
inline int64_t stepBytes(const GemmSchedule &schedule, int64_t rows,
                         mlir::Value operand) {
  return rows * schedule.tileK * bitsOf(operand) / 8;
}

/// Bytes of one copy into LDS by all waves, 16 per lane.
inline int64_t copyBytes(const GemmSchedule &schedule) {
  return schedule.waves() * 64 * 16;
}

/// Whether steps load scales, which go into registers.
inline bool hasBlockScales(spec::GemmOp op) {
  return op.getFormat() != spec::GemmFormat::BF16 &&
         op.getFormat() != spec::GemmFormat::FP8;
}

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_GEMMSTEP_H
