//===- RearrangeOps.cpp - coordinates, transposes, parts --------*- C++ -*-===//
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
