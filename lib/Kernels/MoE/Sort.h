//===- Sort.h - routes of tenon.moe_experts by expert -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sorted form of routes, which the two products of an expert share, and the
// launches around them: sorting before, the sum over a token's routes behind.
// A route is numbered `token * K + k`.
//
// The rows of products are slots: those of an expert follow each other in the
// order of their routes' numbers and begin with a tile of its own. Slots that
// are left over in the last tile of an expert hold no route.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_MOE_SORT_H
#define TENON_LIB_KERNELS_MOE_SORT_H

#include "../KernelArguments.h"
#include "../TileBuilder.h"

namespace tenon::kernels::moe {

/// Workspaces of i32 that the launches of addSort fill.
/// @{
/// [slots] The number of the slot's route, -1 where there is none. Undefined in
/// tiles without an expert.
inline constexpr llvm::StringLiteral sortedRoutes = "sorted_route";
/// [tiles] The tile's expert on this rank, from 0 to E - 1; -1 behind the last
/// tile.
inline constexpr llvm::StringLiteral tileExperts = "tile_expert";
/// [1] The number of tiles that have an expert.
inline constexpr llvm::StringLiteral tileCount = "tile_count";
/// @}

/// A number of tiles of \p tileRows slots that holds the routes of \p op,
/// however they fall: the extent of a grid over tiles. Slots are as many times
/// tileRows.
mlir::Value tileBound(spec::MoeExpertsOp op, PlanBuilder &plan,
                      int64_t tileRows);

/// States the workspaces and launches the kernels that fill them, which are
/// called \p name with a suffix. \p tileRows is a power of two from 16 to 512.
/// The launches are empty where \p runs, a value of the plan that is 0 or 1, is
/// 0; null stands for 1.
void addSort(spec::MoeExpertsOp op, int64_t tileRows, llvm::StringRef name,
             PlanBuilder &plan, mlir::OpBuilder &builder, mlir::Value runs);

/// Launches the weighted sum over the routes of each token, into out. \p rows
/// names a workspace [T * K, D] of \p element, f32 or bf16, with the rows of
/// routes by their numbers; rows of what is no route are not read.
void addCombine(spec::MoeExpertsOp op, llvm::StringRef rows, mlir::Type element,
                llvm::StringRef name, PlanBuilder &plan,
                mlir::OpBuilder &builder, mlir::Value runs);

/// Launches what writes zeros to the rows of out, which are rows of routes,
/// where there is no route.
void addClear(spec::MoeExpertsOp op, llvm::StringRef name, PlanBuilder &plan,
              mlir::OpBuilder &builder, mlir::Value runs);

/// Launches what writes zeros to the rows of out, which are those of tokens, as
/// far as tokens have routes.
void addZeros(spec::MoeExpertsOp op, llvm::StringRef name, PlanBuilder &plan,
              mlir::OpBuilder &builder);

/// What kernels that look routes up by themselves need besides x, ids and
/// weights, and how they do.
class RouteLookup {
public:
  /// Adds the arguments of a kernel of \p op that uses it: pointers to ids and
  /// to expert_map and num_tokens where they are there, and the scalar T.
  static void addArguments(spec::MoeExpertsOp op, PlanBuilder &plan,
                           KernelArguments &arguments);

  RouteLookup(spec::MoeExpertsOp op, TileBuilder &t,
              const llvm::StringMap<mlir::Value> &args)
      : op(op), t(t), args(args) {}

  /// The number of tokens that have routes, an i32 (read on the device).
  mlir::Value tokens();
  /// The expert on this rank of each of \p ids, a tile of i32 of rank 1; -1
  /// where there is no route. \p exists is a tile of i1: the others have none.
  mlir::Value experts(mlir::Value ids, mlir::Value exists);
  /// Which of \p ids have an expert on this rank, a tile of i1; those at
  /// \p places from \p count on have none.
  mlir::Value areRoutes(mlir::Value ids, mlir::Value places, int64_t count);
  /// The expert of the route numbered \p route, a uniform i32, and whether
  /// there is one, as 1 or 0.
  std::pair<mlir::Value, mlir::Value> expert(mlir::Value route);

private:
  spec::MoeExpertsOp op;
  TileBuilder &t;
  const llvm::StringMap<mlir::Value> &args;
};

} // namespace tenon::kernels::moe

#endif // TENON_LIB_KERNELS_MOE_SORT_H
