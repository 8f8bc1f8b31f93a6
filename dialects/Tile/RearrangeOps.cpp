//===- RearrangeOps.cpp - coordinates, transposes, blocks, parts *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
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
