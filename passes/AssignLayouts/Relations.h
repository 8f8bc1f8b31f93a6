//===- Relations.h - how operations tie layouts together --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_PASSES_ASSIGNLAYOUTS_RELATIONS_H
#define TENON_PASSES_ASSIGNLAYOUTS_RELATIONS_H

#include "dialects/Tile/Tile.h"

#include "tenon/Layout/Mfma.h"

namespace tenon::assign {

/// An operation that works element by element on tiles of one layout.
bool isElementwise(mlir::Operation *op);

/// A constant tile, a splat, or coordinates: costs next to nothing in any
/// layout.
bool isRematerialisable(mlir::Operation *op);

/// The layout of a tile of rank 0: one register, the same on every thread.
layout::Layout scalarLayout(unsigned waves);

/// Spreads the rows of a tile of rank 2 or more over the threads: the last
/// dimension has up to \p run elements side by side in a lane.
llvm::Expected<layout::Layout> spreadRows(llvm::ArrayRef<int64_t> shape,
                                          unsigned waves, int64_t run);

/// The layout that \p user, whose own tiles are placed, wants its operand
/// \p value in; none when the user is not placed or takes any layout.
std::optional<layout::Layout> wantedBy(mlir::Operation *user,
                                       mlir::Value value);

/// Whether a tile gets from layout \p from to \p to without LDS: by renaming
/// registers, or by moves between lanes that undo a scatter.
bool avoidsLds(const layout::Layout &from, const layout::Layout &to);

/// The operation that makes \p value: for what a loop carries, the loop.
mlir::Operation *makerOf(mlir::Value value);

/// The layouts of a product's operands, and of the scales that it has.
struct MmaLayouts {
  layout::Layout lhs, rhs;
  std::optional<layout::Layout> lhsScale, rhsScale;
  /// Dim of the accumulator, of its last two, along which instruction rows lie:
  /// operand A of the instruction is `lhs` for 0 and `rhs` for 1.
  unsigned rowDim;
};

/// What the MFMA instruction of \p mma holds of each operand, when its
/// accumulator is laid out as \p accumulator. \p depth is the number of values
/// along k, where it is not the product's own. Emits an error and fails when
/// the instruction is not chosen yet or does not fit.
mlir::FailureOr<MmaLayouts>
operandLayouts(tile::MmaOp mma, const layout::Layout &accumulator,
               std::optional<int64_t> depth = std::nullopt);

/// The tiles to which an operation ties \p value.
llvm::SmallVector<mlir::Value> tiedTo(mlir::Value value);

/// Calls \p assign with each tile whose layout follows, through \p op, from
/// \p value having \p layout.
void relate(mlir::Operation *op, mlir::Value value,
            const layout::Layout &layout,
            llvm::function_ref<void(mlir::Value, layout::Layout)> assign);

/// Inserts a conversion at every broadcast whose source, and every matrix
/// product whose operand, is not in the layout that the result implies.
mlir::LogicalResult insertConversions(tile::KernelOp kernel);

} // namespace tenon::assign

#endif // TENON_PASSES_ASSIGNLAYOUTS_RELATIONS_H
