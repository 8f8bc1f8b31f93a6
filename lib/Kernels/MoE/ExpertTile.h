//===- ExpertTile.h - the routes that a workgroup computes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup multiplies a tile of rows, which are routes to one expert, by
// that expert's weights. Which routes these are is found in one of two ways:
//
// - sorted: launches before have sorted the routes by expert (see Sort.h).
// - direct: for up to 16 tokens. Workgroup row `r` is route r; the first route
//   to an expert takes all of them, row t being token t, and the others have
//   nothing to do. A token that names its expert twice has a workgroup row for
//   every further time.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_MOE_EXPERTTILE_H
#define TENON_LIB_KERNELS_MOE_EXPERTTILE_H

#include "Sort.h"

namespace tenon::kernels::moe {

/// Tokens that the direct form takes.
inline constexpr int64_t directTokens = 16;

/// The routes of a workgroup.
struct ExpertTile {
  mlir::Value runs;   ///< i1: whether there is anything to do
  mlir::Value expert; ///< i32, defined where it runs
  /// i32 [rows]: the numbers of the routes, -1 where a row has none.
  mlir::Value routes;
};

/// The tile of workgroup row \p row in the direct form.
ExpertTile directTile(spec::MoeExpertsOp op, TileBuilder &t,
                      const llvm::StringMap<mlir::Value> &args, mlir::Value row,
                      int64_t waves);

/// The tile of workgroup row \p row, of \p rows slots, of sorted routes.
ExpertTile sortedTile(TileBuilder &t, const llvm::StringMap<mlir::Value> &args,
                      mlir::Value row, int64_t rows);

/// The tokens of \p routes, -1 where there is none.
mlir::Value tokensOf(spec::MoeExpertsOp op, TileBuilder &t, mlir::Value routes);

} // namespace tenon::kernels::moe

#endif // TENON_LIB_KERNELS_MOE_EXPERTTILE_H
