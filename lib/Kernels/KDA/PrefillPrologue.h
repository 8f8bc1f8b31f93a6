//===- PrefillPrologue.h - what chunks do on their own ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILLPROLOGUE_H
#define TENON_LIB_KERNELS_KDA_PREFILLPROLOGUE_H

#include "dialects/Tenon/Tenon.h"
#include "dialects/Tile/Tile.h"

namespace tenon::kernels::kda {

/// Tokens per chunk.
inline constexpr int64_t chunkTokens = 64;

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
};

/// Waves of a workgroup, one per 16 tokens.
inline constexpr unsigned prologueWaves = 4;

/// Writes the body of \p kernel, grid (H, C): a workgroup takes one head of one
/// chunk of 64 tokens from the raw projections to what the walk needs.
///
/// Arguments by name: the operands of tenon.kda_prefill as pointers with
/// `NAME_stride` (bytes from row to row, i32; of slots i64), `columns` (L of
/// conv_state, i32), `plan`, and the workspaces `w`, `qg`, `kg`, `u`, `aqk`,
/// `decay`.
void writePrologue(tile::KernelOp kernel, const PrologueShape &shape,
                   mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILLPROLOGUE_H
