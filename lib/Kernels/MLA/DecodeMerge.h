//===- DecodeMerge.h - parts of MLA decode made one -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MLA_DECODEMERGE_H
#define TENON_LIB_KERNELS_MLA_DECODEMERGE_H

#include "../KernelArguments.h"

#include "dialects/Tenon/Tenon.h"

namespace tenon::kernels::mla {

/// Adds the launch of the kernel \p name that merges the parts of requests with
/// more than one slot into out and lse of \p op. The plan, an operand or a
/// workspace "plan", has \p slots slots, and a request at most \p queries
/// tokens. The workspaces are stated already:
///
/// - "parts", f32 [slots, rows, 512]: results of a slot, each divided by its
///   own sum; rows = max_queries * heads, row t * heads + h;
/// - "part_lse", f32 [slots, rows]: their logarithms to base 2; minus infinity
///   of a row without keys in the slot, whose results are zeros.
void launchDecodeMerge(spec::MlaDecodeOp op, PlanBuilder &plan,
                       mlir::Value slots, mlir::Value queries,
                       llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_DECODEMERGE_H
