//===- Decode.h - kernels of tenon.kda_decode -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_DECODE_H
#define TENON_LIB_KERNELS_KDA_DECODE_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Target/TargetInfo.h"

namespace tenon::kernels::kda {

/// Schedules of a decode step: `waves`, the waves per workgroup. A workgroup
/// updates the state of one head of one request.
mlir::FailureOr<llvm::SmallVector<mlir::DictionaryAttr>>
rankDecodeSchedules(spec::KdaDecodeOp op, const target::TargetInfo &target);

/// Waves that the registers of a SIMD should have room for.
unsigned decodeWavesPerSimd(spec::KdaDecodeOp op, unsigned waves,
                            const target::TargetInfo &target);

/// Writes the plan and the kernel of a decode step.
mlir::LogicalResult lowerDecode(spec::KdaDecodeOp op,
                                mlir::DictionaryAttr schedule,
                                llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_DECODE_H
