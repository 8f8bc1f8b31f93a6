//===- DecodePlan.h - the kernel of tenon.mla_plan --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MLA_DECODEPLAN_H
#define TENON_LIB_KERNELS_MLA_DECODEPLAN_H

#include "DecodeSplit.h"

#include "../KernelArguments.h"

#include "dialects/Tenon/Tenon.h"

namespace tenon::kernels::mla {

/// What the rule of tenon.mla_plan depends on besides the lengths. Values are
/// expressions of the launch plan.
struct DecodePlanShape {
  mlir::Value rows;       ///< heads times queries of a request
  mlir::Value workgroups; ///< slots that are worked on at a time, at least 1
  int64_t cpSize;
  int64_t cpInterleave;
};

/// The number of slots that a tenon.mla_decode has where the caller brings no
/// plan, for as many requests (an expression of \p plan): one per request, and
/// enough to split what does not fill the chip.
mlir::Value planSlots(PlanBuilder &plan, mlir::Value requests,
                      mlir::Value workgroups);

/// States what the rule takes besides seq_len and cp_rank: i32 `requests`,
/// `slots`, `workgroups` and `moved`.
void splitArguments(KernelArguments &arguments, PlanBuilder &plan,
                    mlir::Value slots, const DecodePlanShape &shape);
/// These arguments in a kernel.
SplitInputs splitInputs(const llvm::StringMap<mlir::Value> &args,
                        int64_t cpSize, int64_t cpInterleave);

/// Adds the launch of the kernel \p name that writes a plan of \p slots slots
/// for seq_len and cp_rank of the op, where there are more requests than
/// \p least. \p arguments has nothing yet but the pointer "plan" (of an operand
/// or of a workspace).
void launchDecodePlan(spec::SpecOpInterface op, KernelArguments &arguments,
                      PlanBuilder &plan, mlir::Value slots,
                      const DecodePlanShape &shape, int64_t least,
                      llvm::StringRef name, mlir::OpBuilder &builder);

/// The one schedule of a tenon.mla_plan, and its plan and kernel.
llvm::SmallVector<mlir::DictionaryAttr> rankPlanSchedules(spec::MlaPlanOp op);
mlir::LogicalResult lowerPlan(spec::MlaPlanOp op, mlir::DictionaryAttr schedule,
                              llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_DECODEPLAN_H
