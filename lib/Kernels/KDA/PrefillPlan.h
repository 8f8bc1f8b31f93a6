//===- PrefillPlan.h - kernel of tenon.kda_plan -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILLPLAN_H
#define TENON_LIB_KERNELS_KDA_PREFILLPLAN_H

#include "dialects/Tile/Tile.h"

namespace tenon::kernels::kda {

/// Waves of a workgroup.
inline constexpr unsigned planWaves = 4;

/// Writes the body of \p kernel, grid (N): a workgroup writes the rows of one
/// sequence, from that of its first chunk to that of the next sequence's first.
///
/// Arguments by name: pointers `cu_seqlens` and `plan`, i32 `sequences` (N) and
/// `chunks` (C).
void writeChunkPlan(tile::KernelOp kernel, mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILLPLAN_H
