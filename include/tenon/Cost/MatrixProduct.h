//===- MatrixProduct.h - cost of products of matrices -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_COST_MATRIXPRODUCT_H
#define TENON_COST_MATRIXPRODUCT_H

#include "tenon/Target/TargetInfo.h"

#include <optional>

namespace tenon::cost {

/// [m, k] by [k, n], elements of so many bits.
struct MatrixProduct {
  int64_t m;
  int64_t n;
  int64_t k;
  unsigned lhsBits;
  unsigned rhsBits;
};

/// How it is cut: each workgroup computes `products` tiles of m x n that share
/// their left operand, in steps of k of which `stages` are in registers at a
/// time.
struct MatrixTile {
  int64_t m;
  int64_t n;
  int64_t k;
  unsigned wavesM;
  unsigned wavesN;
  unsigned wavesK; ///< each with sums of its own, added at the end
  unsigned stages;
  unsigned lhsStages = 0; ///< those of the left operand, 0: as `stages`
  unsigned products = 1;
  /// Workgroups that share the k of a tile, the last of which adds up.
  unsigned split = 1;
  /// Workgroups that walk over all tiles, one tile after the other, and those
  /// that share the steps of all tiles evenly; 0: each has a tile, or a share
  /// of one.
  unsigned persistent = 0;
  unsigned streamK = 0;
  /// Operands that all waves copy into LDS together; others each wave reads
  /// into registers itself.
  bool lhsInLds = false;
  bool rhsInLds = false;
  /// Operands that waves read into registers may lie in accumulation registers,
  /// which leaves the others to the sums.
  bool readsIntoAgprs = false;
  /// Elements along k whose scales a wave reads from row-major ones by one
  /// access, which touches a line for each row of the left operand; 0: packed
  /// scales, or none.
  unsigned lhsScaleDepth = 0;
};

/// Workgroups of \p tile that a compute unit holds as far as the operands'
/// registers and LDS go, 0 when it holds none.
unsigned residentWorkgroups(const MatrixProduct &product,
                            const MatrixTile &tile,
                            const target::TargetInfo &target);

/// Seconds that a product is expected to take, for ranking alone: the longest
/// of what the busiest compute unit, the L2, the way from the memory-side cache
/// to the dies and the memory take, and what begins and ends it. Nothing when
/// the tile does not fit registers or LDS.
std::optional<double> matrixProductCost(const MatrixProduct &product,
                                        const MatrixTile &tile,
                                        const target::TargetInfo &target);

} // namespace tenon::cost

#endif // TENON_COST_MATRIXPRODUCT_H
