//===- PrefillScan.h - the state at the start of each group -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_PREFILLSCAN_H
#define TENON_LIB_KERNELS_KDA_PREFILLSCAN_H

#include "dialects/Tile/Tile.h"

namespace tenon::kernels::kda {

/// Waves of a workgroup, and the rows of the state that it takes.
inline constexpr unsigned scanWaves = 4;
inline constexpr int64_t scanRows = 16;

/// Groups of a sequence at most: the scan takes them one after the other.
inline constexpr int64_t mostGroups = 32;

/// Writes the body of \p kernel, grid (H * 128 / scanRows, N): of some rows of
/// the state of one head of one sequence, in place of what group g - 1 makes of
/// zeros, the state at the beginning of group g.
///
/// Arguments by name: pointers `cu_seqlens`, `entry`, `transform`, `carry`, i32
/// `groups` and `least_chunks`. See Groups.h and PrefillWalk.h.
/// \p operand: elements of `transform`, and of the state that it multiplies.
void writeScan(tile::KernelOp kernel, int64_t heads, mlir::Type operand,
               mlir::OpBuilder &builder);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_PREFILLSCAN_H
