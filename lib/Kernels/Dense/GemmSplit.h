//===- GemmSplit.h - workgroups that share the K of a tile ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_DENSE_GEMMSPLIT_H
#define TENON_LIB_KERNELS_DENSE_GEMMSPLIT_H

#include "Gemm.h"

#include "../KernelArguments.h"
#include "../TileBuilder.h"

namespace tenon::kernels::dense {

/// Passes the workspaces of a product whose tiles are \p schedule.split shares
/// of \p parts sums each: `grid_x`, `arrivals` and `partials`.
void passSplitWorkspaces(PlanBuilder &plan, KernelArguments &arguments,
                         const GemmSchedule &schedule, int64_t parts,
                         mlir::Value gridX, mlir::Value gridY);

/// The part of K that a workgroup computes.
struct DepthRange {
  mlir::Value begin; ///< of its whole steps, null: 0
  mlir::Value span;  ///< elements of these
  /// What is left of K behind all whole steps: nothing but for the last share.
  mlir::Value restBegin, restEnd;
};

/// What whole steps cover of a depth of \p depth.
mlir::Value wholeSteps(TileBuilder &t, const GemmSchedule &schedule,
                       mlir::Value depth, std::optional<int64_t> knownDepth);

/// The share of number \p share of schedule.split when the whole steps of K are
/// divided evenly: each has a constant number of them where they come out even.
/// Of one share \p share is not looked at.
DepthRange shareOfDepth(TileBuilder &t, const GemmSchedule &schedule,
                        mlir::Value share, mlir::Value depth,
                        std::optional<int64_t> knownDepth);

/// The layout [slices, rows, columns] in which slices of a tile's sums are
/// added in registers: a lane holds \p run columns side by side of all of them,
/// lanes beside each other lie along \p rowsTogether rows, then along columns.
layout::Layout sumLayout(const GemmSchedule &schedule, int64_t slices,
                         int64_t run, int64_t rowsTogether = 1);

/// Columns side by side of FP32 sums that lie row by row and that a lane stores
/// for other workgroups: one access, so that lanes beside each other fill
/// lines.
constexpr int64_t sumColumns = 4;

/// Rows of a tile of \p parts sums that are added up together, where a lane
/// should have \p most sums of them: all of the tile's, or a part of them.
int64_t rowsAtATime(const GemmSchedule &schedule, int64_t parts, int64_t most);

/// What becomes of the totals of the rows from \p firstRow on.
using FinishRows =
    llvm::function_ref<void(mlir::ValueRange totals, mlir::Value firstRow)>;

/// The sums of all shares of a tile.
class SplitSums {
public:
  /// \p args are the kernel's arguments by name; the tile is the \p tile-th, of
  /// which \p rows rows are computed.
  SplitSums(TileBuilder &t, const GemmSchedule &schedule,
            const llvm::StringMap<mlir::Value> &args, mlir::Value tile,
            mlir::Value share, mlir::Value rows)
      : t(t), schedule(schedule), args(args), tile(tile), share(share),
        rows(rows) {}

  /// Leaves \p sums to the workgroup that arrives last, which adds those of all
  /// shares in the order of the shares and calls \p finishRows with the totals,
  /// of all rows or of some after the other.
  void finish(mlir::ValueRange sums, FinishRows finishRows);

private:
  int64_t rowsTogether() const;
  mlir::Value view(mlir::Value number, int64_t dims);
  llvm::SmallVector<mlir::Value> addShares(mlir::Value firstRow, int64_t count);

  TileBuilder &t;
  const GemmSchedule &schedule;
  const llvm::StringMap<mlir::Value> &args;
  mlir::Value tile, share, rows;
  int64_t parts = 1;
};

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_GEMMSPLIT_H
