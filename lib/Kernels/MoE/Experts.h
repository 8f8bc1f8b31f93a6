//===- Experts.h - kernels of tenon.moe_experts -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MOE_EXPERTS_H
#define TENON_LIB_KERNELS_MOE_EXPERTS_H

#include "../Dense/Gemm.h"

namespace tenon::kernels::moe {

/// How the products of experts are cut: those with w13 and with w2. Both have
/// tiles of as many rows.
struct ExpertsSchedule {
  /// Whether up to 16 tokens are not sorted (see ExpertTile.h).
  bool direct = false;
  /// Whether the second product adds its rows to out, which holds zeros, by
  /// atomics in bf16, instead of leaving them for a launch that sums them in
  /// their order.
  bool atomic = false;
  dense::GemmSchedule up, down;
};

/// Schedules `{form = "direct" or "sorted", up = {...}, down = {...}}` with
/// those of dense::GemmSchedule for the products with w13 and w2, the one
/// expected to be fastest first. `sum = "atomic"` besides is never chosen,
/// since its results differ from run to run.
llvm::SmallVector<mlir::DictionaryAttr>
rankExpertsSchedules(spec::MoeExpertsOp op, const target::TargetInfo &target);

/// The schedule that \p attribute says; emits an error at \p op and fails when
/// it says none, or one that the op does not allow.
mlir::FailureOr<ExpertsSchedule>
parseExpertsSchedule(spec::MoeExpertsOp op, mlir::DictionaryAttr attribute);

/// Writes the plan and the kernels.
mlir::LogicalResult lowerExperts(spec::MoeExpertsOp op,
                                 mlir::DictionaryAttr schedule,
                                 llvm::StringRef name,
                                 mlir::OpBuilder &builder);

} // namespace tenon::kernels::moe

#endif // TENON_LIB_KERNELS_MOE_EXPERTS_H
