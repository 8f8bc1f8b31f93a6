//===- XcdOrder.h - which tile a workgroup computes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_DENSE_XCDORDER_H
#define TENON_LIB_KERNELS_DENSE_XCDORDER_H

#include "../TileBuilder.h"

#include <utility>

namespace tenon::kernels::dense {

/// Gives the workgroups of a die, to which they go in turn, tiles that share
/// rows and columns, so that they meet in its L2: each die has a run of
/// consecutive tiles (of T tiles the first T mod D dies have one more), in
/// bands of `group` rows of tiles, each band column by column. A bijection for
/// every grid.
struct XcdOrder {
  TileBuilder &t;
  int64_t group;
  int64_t dies;
  mlir::Value columns; ///< of tiles, i32
  mlir::Value rows;    ///< of tiles, i32

  /// The column and the row of the tile of workgroup \p number, counted row by
  /// row.
  std::pair<mlir::Value, mlir::Value> tileOf(mlir::Value number);
  /// Where workgroup \p number of \p total stands when those of a die stand
  /// side by side.
  mlir::Value placeOf(mlir::Value number, mlir::Value total);
  /// The column and the row of the tile at \p place in the order of the dies'
  /// runs.
  std::pair<mlir::Value, mlir::Value> tileAt(mlir::Value place);
};

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_XCDORDER_H
