//===- Experts.h - kernels of tenon.moe_experts -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MOE_EXPERTS_H
#define TENON_LIB_KERNELS_MOE_EXPERTS_H

#include "../Dense/Gemm.h"

namespace tenon::kernels::moe {

/// A schedule of tiles, waves and steps on their way, and of nothing else.
dense::GemmSchedule cutTiles(int64_t tileM, int64_t tileN, int64_t tileK,
                             int64_t wavesM, int64_t wavesN, int64_t wavesK,
                             int64_t stages);

/// How the products of experts are cut: those with w13 and with w2. Both have
/// tiles of as many rows.
struct ExpertsSchedule {
  /// Whether up to 16 tokens are not sorted (see ExpertTile.h).
  bool direct = false;
  /// Whether the second product adds its rows to out, which holds zeros, by
  /// atomics in bf16, instead of leaving them for a launch that sums them in
  /// their order.
  bool atomic = false;
  /// Up to how many tokens one kernel does both products (see FusedStage.cpp),
  /// at most those of the direct form; 0 where there is none.
  int64_t fused = 0;
  dense::GemmSchedule up, down;
};

/// Schedules `{form = "direct" or "sorted", up = {...}, down = {...}}` with
/// those of dense::GemmSchedule for the products with w13 and w2, the one
/// expected to be fastest first. Direct ones may have `fused = N`. `sum =
/// "atomic"` besides is never chosen, since its results differ from run to run.
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
