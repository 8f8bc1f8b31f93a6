//===- Prefill.h - kernels of tenon.kda_prefill and kda_plan ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILL_H
#define TENON_LIB_KERNELS_KDA_PREFILL_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Target/TargetInfo.h"

namespace tenon::kernels::kda {

/// Schedules of a prefill. Emits an error and fails for what no kernel does.
mlir::FailureOr<llvm::SmallVector<mlir::DictionaryAttr>>
rankPrefillSchedules(spec::KdaPrefillOp op, const target::TargetInfo &target);

/// Writes the plan and the kernels of a prefill: `NAME_plan_chunks` where the
/// op has no plan, `NAME_prologue` and `NAME_walk`.
mlir::LogicalResult lowerPrefill(spec::KdaPrefillOp op,
                                 mlir::DictionaryAttr schedule,
                                 llvm::StringRef name,
                                 mlir::OpBuilder &builder);

mlir::FailureOr<llvm::SmallVector<mlir::DictionaryAttr>>
rankPlanSchedules(spec::KdaPlanOp op);

/// Writes the plan and the kernel of tenon.kda_plan.
mlir::LogicalResult lowerPlan(spec::KdaPlanOp op, mlir::DictionaryAttr schedule,
                              llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILL_H
