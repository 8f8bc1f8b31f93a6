//===- PrefillWalk.h - the recurrence over chunks ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILLWALK_H
#define TENON_LIB_KERNELS_KDA_PREFILLWALK_H

#include "dialects/Tenon/Tenon.h"
#include "dialects/Tile/Tile.h"

namespace tenon::kernels::kda {

/// What a walk computes of sequences that are cut into groups of chunks.
enum class WalkPass : uint8_t {
  /// What groups do to a state: that of a zero state, and the transform.
  Groups,
  /// Outputs and state, from the states at the beginning of groups.
  Replay,
};

/// What shapes the code of a walk.
struct WalkShape {
  int64_t heads;
  bool outputNorm;
  double normEps; ///< of an output norm
  spec::NullSlot nullSlot;
  spec::ConvLayout convLayout;
  spec::StateOrder stateOrder;
  WalkPass pass;
  unsigned waves;
  /// Rows v of a workgroup: 128, of groups also 64. A wave has 16 or 32.
  int64_t rows;
  /// Of groups: whether workgroups that read the same chunks meet on a die.
  bool sharesDie;
  int64_t dies; ///< of the chip
  /// Elements of operands of products and of what the prologue hands over:
  /// bf16, f16 or f32.
  mlir::Type operand;
};

/// Writes the body of \p kernel: a workgroup takes the state of one head of one
/// sequence through a group of its chunks, from the first to the last.
///
/// - Replay, grid (H, N, G): writes what the chunks of one group each put out,
///   with the last group the state, with the first the history of the head's
///   channels. Where a sequence has several groups, they begin with `entry`.
/// - Groups, grid (2 H 128 / rows, N, G - 1), which the rows v of a head share
///   first, then its two workgroups: of groups but the last, what becomes of a
///   zero state (of the first group, of the initial state) to `entry` of the
///   next group, and that initial state to `entry` of the first. The second
///   workgroup of a head does so with the identity: `carry` is the product A of
///   the decays, `transform` the rest, S -> S (diag(A) + C). Of the first group
///   nobody needs them.
///
/// Arguments by name: the operands of tenon.kda_prefill as pointers with
/// `NAME_stride` (bytes from row to row, i32; of slots i64), `columns` (L of
/// conv_state where it is the last dimension, i32), and the workspaces of the
/// prologue. Rows 64 of any of qkv and out reach less than 2^31
/// bytes; `groups` (G, i32), `least_chunks` (of a group, i32), `sequences` (N,
/// i32, where workgroups meet on dies) and, per sequence, head and group, the
/// workspaces `entry` f32 [v, k], `transform` bf16 [k, k'] (C transposed) and
/// `carry` f32 [k].
void writeWalk(tile::KernelOp kernel, const WalkShape &shape,
               mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILLWALK_H
