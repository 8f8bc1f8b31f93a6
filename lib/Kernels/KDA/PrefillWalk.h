//===- PrefillWalk.h - the recurrence over chunks ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILLWALK_H
#define TENON_LIB_KERNELS_KDA_PREFILLWALK_H

#include "dialects/Tenon/Tenon.h"
#include "dialects/Tile/Tile.h"

namespace tenon::kernels::kda {

/// What shapes the code of a walk.
struct WalkShape {
  int64_t heads;
  bool outputNorm;
  double normEps; ///< of an output norm
  spec::NullSlot nullSlot;
  spec::ConvLayout convLayout;
  spec::StateOrder stateOrder;
};

/// Waves of a workgroup, one per 32 value columns.
inline constexpr unsigned walkWaves = 4;

/// Writes the body of \p kernel, grid (H, N): a workgroup takes the state of
/// one head of one sequence from its first chunk to its last, writes what the
/// chunks put out, the state, and the history of the head's channels.
///
/// Arguments by name: the operands of tenon.kda_prefill as pointers with
/// `NAME_stride` (bytes from row to row, i32; of slots i64), `columns` (L of
/// conv_state where it is the last dimension, i32), and the workspaces of the
/// prologue. Rows 64 of any of qkv, out and out_gate reach less than 2^31
/// bytes.
void writeWalk(tile::KernelOp kernel, const WalkShape &shape,
               mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILLWALK_H
