//===- GemmWalk.h - workgroups that compute several tiles -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two forms. Persistent workgroups take every so manieth tile. In the stream-K
// form they do so as long as there is a tile for each; the steps of the tiles
// that are left stand in a row, and each workgroup has an equal run of them:
// the ends of a run are parts of tiles, whose sums meet as those of GemmSplit.h
// do.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_DENSE_GEMMWALK_H
#define TENON_LIB_KERNELS_DENSE_GEMMWALK_H

#include "GemmSplit.h"

namespace tenon::kernels::dense {

/// Passes what a schedule that walks needs: `grid_x` and `grid_y` of tiles,
/// `workgroups`, and for stream-K `steps` of a tile, `rounds` (whole tiles of a
/// workgroup), `run` and `longer` (steps of the other tiles that a workgroup
/// has, of which the first `longer` have one more), `arrivals` and `partials`,
/// for sums of \p parts products. \p depth is K. Returns the number
/// of workgroups.
mlir::Value passWalk(PlanBuilder &plan, KernelArguments &arguments,
                     const GemmSchedule &schedule, int64_t parts,
                     mlir::Value gridX, mlir::Value gridY, mlir::Value depth);

/// The whole tiles of a workgroup and its run of the steps of the others.
class StreamWalk {
public:
  /// \p args are the kernel's arguments by name; the run is the \p place-th.
  StreamWalk(TileBuilder &t, const GemmSchedule &schedule,
             const llvm::StringMap<mlir::Value> &args, mlir::Value place);

  /// How many tiles the workgroup has, wholly or in part.
  mlir::Value turns;

  /// Which tile it has in turn \p turn. \p placeOf gives the tile of a number
  /// among so many whole ones.
  mlir::Value
  tileOf(mlir::Value turn,
         llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> placeOf);

  /// Which steps of tile \p number, that of turn \p turn, it has.
  DepthRange enter(mlir::Value turn, mlir::Value number, mlir::Value depth,
                   std::optional<int64_t> knownDepth);

  /// Finishes the tile that was entered last, of which \p rows rows are
  /// computed: by \p finishWhole with \p sums when the run has all of its
  /// steps, else by \p finishRows in the workgroup that arrives last.
  void finish(mlir::ValueRange sums, mlir::Value rows,
              llvm::function_ref<void(mlir::ValueRange)> finishWhole,
              FinishRows finishRows);

private:
  mlir::Value isWhole(mlir::Value turn);
  mlir::Value ownerOf(mlir::Value number);
  mlir::Value view(mlir::Value slot, int64_t part, mlir::Value bytes);
  int64_t rowsOfSlice() const;
  llvm::SmallVector<mlir::Value> addParts(mlir::Value firstOwner,
                                          mlir::Value count, mlir::Value rows,
                                          mlir::Value firstRow);

  TileBuilder &t;
  const GemmSchedule &schedule;
  const llvm::StringMap<mlir::Value> &args;
  mlir::Value place;
  mlir::Value wholeTiles;       ///< of all workgroups
  mlir::Value sharedBegin;      ///< first step of the others
  mlir::Value firstShared;      ///< tile of the run
  mlir::Value runBegin, runEnd; ///< steps, counted over all tiles
  mlir::Value tile;             ///< that was entered
  mlir::Value tileBegin;        ///< its first step
  mlir::Value from, to;         ///< of its steps, those of the run
  int64_t parts = 1;
};

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_GEMMWALK_H
