//===- RearrangeOps.cpp - values, shapes and sums of tiles ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

#include "tenon/Layout/Scatter.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

LogicalResult IotaOp::verify() {
  auto type = cast<RankedTensorType>(getType());
  if (static_cast<int64_t>(getDim()) >= type.getRank()) {
    return emitOpError("dim must be below the rank ")
           << type.getRank() << ", found " << getDim();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Transposes
//===----------------------------------------------------------------------===//

SmallVector<unsigned> TransposeOp::getOrder() {
  return SmallVector<unsigned>(getPermutation());
}

SmallVector<unsigned> TransposeOp::getInverseOrder() {
  SmallVector<unsigned> inverse(getPermutation().size());
  for (auto [to, from] : llvm::enumerate(getPermutation())) {
    inverse[from] = to;
  }
  return inverse;
}

LogicalResult TransposeOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  int64_t rank = source.getRank();
  llvm::SmallBitVector seen(rank);
  for (int64_t dim : getPermutation()) {
    if (dim < 0 || dim >= rank || seen.test(dim)) {
      break;
    }
    seen.set(dim);
  }
  if (static_cast<int64_t>(getPermutation().size()) != rank || !seen.all()) {
    return emitOpError("expected a permutation of ")
           << rank << " dimensions, found [" << getPermutation() << "]";
  }
  SmallVector<int64_t> shape;
  for (int64_t dim : getPermutation()) {
    shape.push_back(source.getDimSize(dim));
  }
  auto expected = RankedTensorType::get(shape, source.getElementType());
  if (RankedTensorType::get(result.getShape(), result.getElementType()) !=
      expected) {
    return emitOpError("expected a result of ")
           << expected << ", found " << result;
  }
  LayoutAttr from = getLayout(source);
  LayoutAttr to = getLayout(result);
  if (from && to &&
      !(to.getLayout() == from.getLayout().transposed(getOrder()))) {
    return emitOpError("the result's layout is not the transposed one of ")
           << from << ", found " << to;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

llvm::Expected<tenon::layout::Layout>
SplitOp::splitLayout(const tenon::layout::Layout &source) {
  SmallVector<SmallVector<int64_t, 2>> blocks(source.rank());
  blocks[getDim()].push_back(getBlock());
  return source.split(blocks);
}

LogicalResult SplitOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  auto dim = static_cast<int64_t>(getDim());
  auto block = static_cast<int64_t>(getBlock());
  if (dim < 0 || dim >= source.getRank()) {
    return emitOpError("dim must be below the rank ")
           << source.getRank() << ", found " << dim;
  }
  int64_t extent = source.getDimSize(dim);
  if (block < 1 || !llvm::isPowerOf2_64(block) || extent % block != 0) {
    return emitOpError("block must be a power of two that divides the extent ")
           << extent << ", found " << block;
  }
  SmallVector<int64_t> shape(source.getShape());
  shape[dim] = block;
  shape.insert(shape.begin() + dim + 1, extent / block);
  if (result.getElementType() != source.getElementType() ||
      result.getShape() != ArrayRef(shape)) {
    return emitOpError("expected a result of ")
           << RankedTensorType::get(shape, source.getElementType())
           << ", found " << result;
  }
  LayoutAttr from = getLayout(source);
  LayoutAttr to = getLayout(result);
  if (!from || !to) {
    return success();
  }
  auto split = splitLayout(from.getLayout());
  if (!split) {
    return emitOpError(llvm::toString(split.takeError()));
  }
  if (!(*split == to.getLayout())) {
    return emitOpError("the result's layout is not that of the source cut into "
                       "blocks, ")
           << LayoutAttr::get(getContext(), std::move(*split)) << ", found "
           << to;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Parts of LDS buffers
//===----------------------------------------------------------------------===//

int64_t LdsPartOp::getByteOffset() {
  return static_cast<int64_t>(getOffset()) *
         getBuffer().getType().getElementType().getIntOrFloatBitWidth() / 8;
}

LogicalResult LdsPartOp::verify() {
  LdsType whole = getBuffer().getType();
  LdsType part = getType();
  if (whole.getStages() != 1 || part.getStages() != 1) {
    return emitOpError("cuts buffers of one stage, found ")
           << whole << " and " << part;
  }
  if (whole.getElementType() != part.getElementType() ||
      whole.getElementType().getIntOrFloatBitWidth() % 8 != 0) {
    return emitOpError("expected elements of ")
           << whole.getElementType() << " in whole bytes, found "
           << part.getElementType();
  }
  for (LdsType type : {whole, part}) {
    layout::LdsLayout layout = type.getLdsLayout();
    if (!layout.swizzle().empty() || layout.padding().interval != 0) {
      return emitOpError("cuts layouts without swizzle and padding, found ")
             << type;
    }
  }
  int64_t end = getByteOffset() + part.getLdsLayout().sizeInBytes();
  int64_t size = whole.getLdsLayout().sizeInBytes();
  if (end > size) {
    return emitOpError("reaches byte ") << end << " of a buffer of " << size;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Slices and reductions
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  Type element = cast<RankedTensorType>(getType()).getElementType();
  if (element != getScalar().getType()) {
    return emitOpError("makes a tile of ")
           << element << " from a scalar of type " << getScalar().getType();
  }
  return success();
}

/// Checks that \p small has the extents \p dims of \p large, the element type
/// of \p large and, when both are placed, the layout of \p large without the
/// other dimensions (or, with \p mayScatter, that with register bits moved to
/// lane bits that it leaves free).
static LogicalResult verifySlice(Operation *op, RankedTensorType small,
                                 RankedTensorType large, ArrayRef<int64_t> kept,
                                 ArrayRef<unsigned> removed,
                                 bool mayScatter = false) {
  if (small.getRank() != static_cast<int64_t>(kept.size())) {
    return op->emitOpError("expected a tile of rank ")
           << kept.size() << ", found " << small;
  }
  for (auto [position, dim] : llvm::enumerate(kept)) {
    if (small.getDimSize(position) != large.getDimSize(dim)) {
      return op->emitOpError("dimension ")
             << position << " must have the extent of dimension " << dim << " ("
             << large.getDimSize(dim) << "), found "
             << small.getDimSize(position);
    }
  }
  if (small.getElementType() != large.getElementType()) {
    return op->emitOpError("expected elements of ")
           << large.getElementType() << ", found " << small.getElementType();
  }
  LayoutAttr smallLayout = getLayout(small);
  LayoutAttr largeLayout = getLayout(large);
  if (!smallLayout || !largeLayout) {
    return success();
  }
  if (!largeLayout.getLayout().isSeparable(removed)) {
    return op->emitOpError("the layout ")
           << largeLayout << " does not separate the dropped dimensions";
  }
  layout::Layout expected = largeLayout.getLayout().slice(removed);
  bool fits =
      mayScatter
          ? layout::matchScatter(expected, smallLayout.getLayout()).has_value()
          : expected == smallLayout.getLayout();
  if (!fits) {
    return op->emitOpError("expected the layout ")
           << LayoutAttr::get(op->getContext(), expected)
           << (mayScatter
                   ? ", or that with register bits moved to free lane bits"
                   : "")
           << ", found " << smallLayout;
  }
  return success();
}

/// The dimensions of a tile of rank \p rank that \p dims does not name.
static SmallVector<unsigned> complement(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<unsigned> rest;
  for (int64_t dim = 0; dim < rank; ++dim) {
    if (!llvm::is_contained(dims, dim)) {
      rest.push_back(dim);
    }
  }
  return rest;
}

static LogicalResult verifyDims(Operation *op, ArrayRef<int64_t> dims,
                                int64_t rank) {
  for (auto [position, dim] : llvm::enumerate(dims)) {
    if (dim < 0 || dim >= rank || (position > 0 && dims[position - 1] >= dim)) {
      return op->emitOpError("dims must be increasing and below ")
             << rank << ", found [" << dims << "]";
    }
  }
  return success();
}

SmallVector<unsigned> BroadcastOp::getRepeatedDims() {
  return complement(getDims(), cast<RankedTensorType>(getType()).getRank());
}

LogicalResult BroadcastOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (failed(verifyDims(*this, getDims(), result.getRank()))) {
    return failure();
  }
  return verifySlice(*this, source, result, getDims(), getRepeatedDims());
}

/// The dimensions of a tile of rank \p rank without \p dim.
static SmallVector<int64_t> allBut(int64_t dim, int64_t rank) {
  SmallVector<int64_t> kept;
  for (int64_t other = 0; other < rank; ++other) {
    if (other != dim) {
      kept.push_back(other);
    }
  }
  return kept;
}

/// Checks that dimension \p dim of \p type exists and that a placed tile holds
/// it in registers alone.
static LogicalResult verifyInRegisters(Operation *op, RankedTensorType type,
                                       int64_t dim) {
  if (dim < 0 || dim >= type.getRank()) {
    return op->emitOpError("dim must be below the rank ")
           << type.getRank() << ", found " << dim;
  }
  LayoutAttr layout = getLayout(type);
  if (layout && (!layout.getLayout().isSeparable(static_cast<unsigned>(dim)) ||
                 !layout.getLayout().laneBitsAlong(dim).empty() ||
                 !layout.getLayout().waveBitsAlong(dim).empty() ||
                 layout.getLayout().hasWaveModesAlong(dim))) {
    return op->emitOpError("dimension ")
           << dim << " must lie in registers, found the layout " << layout;
  }
  return success();
}

LogicalResult ExtractOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  int64_t dim = getDim();
  if (failed(verifyInRegisters(*this, source, dim))) {
    return failure();
  }
  int64_t index = getIndex();
  if (index < 0 || index >= source.getDimSize(dim)) {
    return emitOpError("index must be below the extent ")
           << source.getDimSize(dim) << ", found " << index;
  }
  return verifySlice(*this, cast<RankedTensorType>(getType()), source,
                     allBut(dim, source.getRank()), static_cast<unsigned>(dim));
}

LogicalResult StackOp::verify() {
  auto result = cast<RankedTensorType>(getType());
  int64_t dim = getDim();
  if (failed(verifyInRegisters(*this, result, dim))) {
    return failure();
  }
  if (static_cast<int64_t>(getSources().size()) != result.getDimSize(dim)) {
    return emitOpError("has ")
           << getSources().size() << " operands, the extent of dimension "
           << dim << " is " << result.getDimSize(dim);
  }
  for (Value source : getSources()) {
    if (failed(verifySlice(*this, cast<RankedTensorType>(source.getType()),
                           result, allBut(dim, result.getRank()),
                           static_cast<unsigned>(dim)))) {
      return failure();
    }
  }
  return success();
}

static LogicalResult verifyReduction(Operation *op, RankedTensorType source,
                                     RankedTensorType result,
                                     ArrayRef<int64_t> dims) {
  if (failed(verifyDims(op, dims, source.getRank()))) {
    return failure();
  }
  SmallVector<unsigned> kept = complement(dims, source.getRank());
  SmallVector<unsigned> removed(dims.begin(), dims.end());
  return verifySlice(op, result, source,
                     SmallVector<int64_t>(kept.begin(), kept.end()), removed,
                     /*mayScatter=*/true);
}

SmallVector<unsigned> ReduceOp::getReducedDims() {
  return SmallVector<unsigned>(getDims().begin(), getDims().end());
}

LogicalResult ReduceOp::verify() {
  return verifyReduction(*this, cast<RankedTensorType>(getSource().getType()),
                         cast<RankedTensorType>(getType()), getDims());
}

SmallVector<unsigned> DotOp::getReducedDims() {
  return SmallVector<unsigned>(getDims().begin(), getDims().end());
}

LogicalResult DotOp::verify() {
  return verifyReduction(*this, cast<RankedTensorType>(getLhs().getType()),
                         cast<RankedTensorType>(getType()), getDims());
}

LogicalResult ConvertLayoutOp::verify() {
  auto source = cast<RankedTensorType>(getSource().getType());
  auto result = cast<RankedTensorType>(getType());
  if (source.getShape() != result.getShape() ||
      source.getElementType() != result.getElementType()) {
    return emitOpError("changes only the layout, found ")
           << source << " to " << result;
  }
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  return getSource().getType() == getType() ? getSource() : Value();
}
