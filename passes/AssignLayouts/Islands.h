//===- Islands.h - tiles that take one layout together ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_PASSES_ASSIGNLAYOUTS_ISLANDS_H
#define TENON_PASSES_ASSIGNLAYOUTS_ISLANDS_H

#include "dialects/Tile/Tile.h"

#include "llvm/ADT/MapVector.h"

namespace tenon::assign {

/// A layout wanted for one tile.
struct Seed {
  mlir::Value value;
  layout::Layout layout;
};

/// The layouts of an island's tiles.
using Placement = llvm::MapVector<mlir::Value, layout::Layout>;

/// A set of tiles without layouts that are connected through operations which
/// tie the layout of one to that of the other.
class Island {
public:
  explicit Island(unsigned waves) : waves(waves) {}

  void add(mlir::Value value) { values.push_back(value); }
  llvm::ArrayRef<mlir::Value> getValues() const { return values; }
  /// Whether a tile of the island is the result of a matrix product.
  bool holdsAccumulators() const;

  /// The cheapest placement of all candidates. Emits an error and fails when
  /// there is none.
  mlir::FailureOr<Placement> choose() const;

private:
  /// Layouts wanted by users outside (through convert_layout and broadcast).
  std::vector<Seed> demands() const;
  /// Layouts that placed neighbours impose: there is no other choice for a tile
  /// and those that an operation ties to it.
  std::vector<Seed> anchors() const;
  /// Layouts of accumulators, when the island holds those of matrix products:
  /// each way to share the result out among the waves.
  std::vector<Seed> accumulators() const;
  /// Layouts that spread the island over all threads, with 1, 2, 4 or 8
  /// elements side by side in a lane.
  std::vector<Seed> spreads() const;
  /// The placement of all tiles that follows from the seed, or nothing when
  /// the seed does not determine it or contradicts itself.
  std::optional<Placement> derive(const Seed &seed) const;
  /// Instructions that one wave issues for the island and for the exchanges at
  /// its border.
  double cost(const Placement &placement) const;

  unsigned waves;
  llvm::SmallVector<mlir::Value> values;
};

/// Places every tile of \p kernel that has no layout, by setting its type.
mlir::LogicalResult placeIslands(tile::KernelOp kernel);

} // namespace tenon::assign

#endif // TENON_PASSES_ASSIGNLAYOUTS_ISLANDS_H
