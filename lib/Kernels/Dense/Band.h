//===- Band.h - rows of an operand along which K runs -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the rows of x, of the weights and of their scales lie that a workgroup
// reads, row-major or in one of the orders of #tenon.weight_layout.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_DENSE_BAND_H
#define TENON_LIB_KERNELS_DENSE_BAND_H

#include "../PlanBuilder.h"
#include "../TileBuilder.h"

namespace tenon::kernels::dense {

/// Rows of packed weights, and of packed scales, that lie in one tile.
inline constexpr int64_t packedRows = 16;
inline constexpr int64_t scaleRows = 32;

/// Bits of an element of a memref.
inline int64_t bitsOf(mlir::Value operand) {
  return llvm::cast<mlir::MemRefType>(operand.getType())
      .getElementTypeBitWidth();
}

/// Strides of some dimensions of a view, in elements, and the extents of their
/// blocks (see tile.view).
struct ViewStrides {
  llvm::SmallVector<mlir::OpFoldResult> strides;
  llvm::SmallVector<int64_t> blocks;

  void add(mlir::OpFoldResult stride, int64_t block = 0) {
    strides.push_back(stride);
    blocks.push_back(block);
  }
  void append(const ViewStrides &other) {
    strides.append(other.strides);
    blocks.append(other.blocks);
  }
};

/// One level of an order of elements along K: \p extent of them (0: all
/// others),
/// \p stride elements apart. Powers of two, but for the stride of the last.
struct DepthLevel {
  int64_t extent;
  int64_t stride;
};

/// ScaleWords: rows of scales, whose block 4 s + g of each 16 is byte 4 g + s:
/// a word holds what a lane needs of four instructions.
enum class BandOrder { RowMajor, Packed, PackedScales, ScaleWords };

/// Rows of x, of the weights or of scales.
struct Band {
  BandOrder order = BandOrder::RowMajor;
  mlir::Value pointer; ///< to the first row; packed: to the first tile of rows
  mlir::Value stride;  ///< elements from row to row; packed: from tile to tile
  mlir::Value bytes;   ///< to the end of the last row
  mlir::Value depth;   ///< elements along K
  /// Values of K for each byte, or bytes for each value.
  int64_t valuesPerByte = 1;
  int64_t bytesPerValue = 1;
  /// Packed: the row of the first tile with which the band begins, null for 0.
  mlir::Value firstRow;
  /// Packed scales: whether gate and up share the words of a tile.
  bool sharesTiles = false;
  /// Row-major: the rows that are gathered (see tile.load), null for those from
  /// the pointer on.
  mlir::Value gathered;
  bool nontemporal = false; ///< read once

  /// Strides along the rows.
  ViewStrides rows(mlir::Builder &builder) const;
  /// Strides along K, whose elements are taken in \p order.
  ViewStrides alongDepth(mlir::Builder &builder,
                         llvm::ArrayRef<DepthLevel> order) const;
  /// The stride from one slice of \p depth elements along K to the next.
  ViewStrides slices(mlir::Builder &builder, int64_t depth) const;

  /// Bytes from the band's pointer to what begins with element \p first along
  /// K, a multiple of 128 values.
  mlir::Value bytesBefore(TileBuilder &t, mlir::Value first) const;

private:
  /// Elements along K from which on their places are evenly spread, and where
  /// element \p k lies, a power of two or a multiple of those.
  int64_t evenFrom() const;
  int64_t placeOf(int64_t k) const;
};

/// A range of rows of packed weights.
struct PackedRows {
  mlir::Value first;
  mlir::Value count;
  /// What the first one is known to be a multiple of.
  int64_t multiple = 1;
  /// Bands that alternate by tiles, and which of them it is.
  int64_t bands = 1;
  int64_t band = 0;
};

/// The band of \p rows of packed weights at \p pointer, with \p depth values of
/// \p bits bits along K.
Band packedBand(TileBuilder &t, mlir::Value pointer, mlir::Value depth,
                unsigned bits, const PackedRows &rows);

/// The band of the scales of \p rows at \p pointer, for \p depth values.
Band packedScaleBand(TileBuilder &t, mlir::Value pointer, mlir::Value depth,
                     const PackedRows &rows);

/// Whether tiles of \p rows tokens and \p columns columns, and slices of \p
/// depth values along K, are cut at the edges of the packed operands of \p op.
bool fitsPackedTiles(spec::GemmOp op, int64_t rows, int64_t columns,
                     int64_t depth);

/// Fails with an error at \p op unless tiles of \p rows tokens and \p columns
/// columns, and slices of \p depth values along K, are cut at the edges of its
/// packed operands.
mlir::LogicalResult checkPackedTile(spec::GemmOp op, int64_t rows,
                                    int64_t columns, int64_t depth);

/// Requires of a call that 32-bit offsets reach all that a workgroup with
/// \p columns columns reads of packed weights.
void requirePackedReach(spec::GemmOp op, int64_t columns, PlanBuilder &plan);

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_BAND_H
