//===- ScanOp.cpp - sums of the elements up to each -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

static constexpr int64_t lanes = 64;

layout::Layout tenon::tile::scanLayout(int64_t extent, int64_t waves) {
  return llvm::cantFail(layout::Layout::blocked(
      {extent}, {0}, {extent / (lanes * waves)}, {lanes}, {waves}));
}

LdsType ScanOp::bufferType(MLIRContext *context, int64_t waves) {
  return LdsType::get(context, {waves}, IntegerType::get(context, 32));
}

LogicalResult ScanOp::verify() {
  auto type = cast<RankedTensorType>(getSource().getType());
  if (type.getRank() != 1 || !type.getElementType().isInteger(32)) {
    return emitOpError("takes an i32 tile of one dimension, found ") << type;
  }
  auto kernel = (*this)->getParentOfType<KernelOp>();
  if (!kernel) {
    return success();
  }
  int64_t waves = kernel.getWaves();
  int64_t extent = type.getDimSize(0);
  if (extent % (lanes * waves) != 0) {
    return emitOpError("takes a multiple of the ")
           << lanes * waves << " threads of the kernel, found " << extent
           << " elements";
  }
  LayoutAttr layout = getLayout(type);
  if (layout && layout.getLayout() != scanLayout(extent, waves)) {
    return emitOpError("takes elements side by side in a thread, ")
           << LayoutAttr::get(getContext(), scanLayout(extent, waves))
           << ", found " << type;
  }
  if (getBuffer() && getBuffer().getType() != bufferType(getContext(), waves)) {
    return emitOpError("needs a buffer of type ")
           << bufferType(getContext(), waves) << ", found "
           << getBuffer().getType();
  }
  return success();
}
