//===- Decode.h - kernels of tenon.mla_decode -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MLA_DECODE_H
#define TENON_LIB_KERNELS_MLA_DECODE_H

#include "DecodeKernel.h"

#include "dialects/Tenon/Tenon.h"
#include "tenon/Target/TargetInfo.h"

namespace tenon::kernels::mla {

/// What of \p op shapes the code of its kernels.
DecodeShape decodeShape(spec::MlaDecodeOp op);

/// The schedule that \p attribute says. Emits an error at \p op and fails when
/// it says none.
mlir::FailureOr<DecodeSchedule>
parseDecodeSchedule(spec::MlaDecodeOp op, mlir::DictionaryAttr attribute);

/// Schedules of attention, the one expected to be fastest first: dictionaries
/// `{rows = r, keys = k, stages = s}` (see DecodeSchedule).
mlir::FailureOr<llvm::SmallVector<mlir::DictionaryAttr>>
rankDecodeSchedules(spec::MlaDecodeOp op, const target::TargetInfo &target);

/// Writes the launch plan and the kernels of attention.
mlir::LogicalResult lowerDecode(spec::MlaDecodeOp op,
                                mlir::DictionaryAttr schedule,
                                llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_DECODE_H
