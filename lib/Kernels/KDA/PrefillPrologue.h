//===- PrefillPrologue.h - what chunks do on their own ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILLPROLOGUE_H
#define TENON_LIB_KERNELS_KDA_PREFILLPROLOGUE_H

#include "dialects/Tenon/Tenon.h"
#include "dialects/Tile/Tile.h"

namespace tenon::kernels::kda {

/// Tokens per chunk, and channels per head.
inline constexpr int64_t chunkTokens = 64;
inline constexpr int64_t D = 128;

/// Tokens by channels: a wave has 16 tokens, of each of which it accesses all
/// channels at once.
layout::Layout rowLayout();

/// Error that a term of an FP32 product may have, as a fraction of its
/// magnitude, with `products = fp32`: what two parts of bf16 lose.
inline constexpr double termAccuracy = 0x1p-14;

/// What shapes the code of a prologue.
struct PrologueShape {
  int64_t heads;
  spec::GateKind gate;
  double lowerBound; ///< of a bounded gate
  double qkEps;
  spec::NullSlot nullSlot;
  spec::ConvLayout convLayout;
  /// Whether the convolution's output is rounded to bf16.
  bool roundConv;
  bool outputNorm;
  /// Elements of operands of products and of what the walk takes: bf16, f16 or
  /// f32.
  mlir::Type operand;
};

/// Waves of a workgroup, one per 16 tokens.
inline constexpr unsigned prologueWaves = 4;

/// Writes the body of \p kernel, grid (H, C): a workgroup takes one head of one
/// chunk of 64 tokens from the raw projections to what the walk needs.
///
/// Arguments by name: the operands of tenon.kda_prefill as pointers with
/// `NAME_stride` (bytes from row to row, i32; of slots i64), `columns` (L of
/// conv_state, i32), `plan`, and the workspaces `w`, `qg`, `kg`, `u`, `aqk`,
/// `decay` and, with output norm, `gate`.
void writePrologue(tile::KernelOp kernel, const PrologueShape &shape,
                   mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILLPROLOGUE_H
