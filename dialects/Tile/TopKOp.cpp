//===- TopKOp.cpp - the greatest elements of a tile -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/Tile/Tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::tile;

layout::Layout tenon::tile::topKLayout(int64_t count, int64_t waves) {
  SmallVector<layout::Basis> lanes;
  for (int64_t bit = 1; bit < 64; bit *= 2) {
    lanes.push_back({bit < count ? bit : 0});
  }
  layout::Layout once =
      llvm::cantFail(layout::Layout::create({count}, {}, lanes, {}, {}));
  layout::Repeat replicas{layout::HwDim::Wave, waves, std::nullopt};
  return llvm::cantFail(layout::Layout::repeat(once, replicas));
}

LdsType TopKOp::bufferType(MLIRContext *context, const layout::Layout &values,
                           int64_t count) {
  // Two words each: the elements that are compared, the results, a place for
  // each wave behind them, the bound of each wave with the number of elements.
  int64_t waves = values.numWaves();
  int64_t elements = values.numRegisters() * values.numLanes() * waves;
  int64_t words = 2 * (elements + count + 2 * waves);
  return LdsType::get(context, {words}, IntegerType::get(context, 32));
}

LogicalResult TopKOp::verify() {
  auto values = cast<RankedTensorType>(getValues().getType());
  auto ids = cast<RankedTensorType>(getIds().getType());
  auto greatest = cast<RankedTensorType>(getGreatest().getType());
  auto chosen = cast<RankedTensorType>(getChosen().getType());
  bool fits = values.getRank() == 1 && values.getElementType().isF32() &&
              ids.getElementType().isInteger(32) &&
              ids.getShape() == values.getShape() &&
              ids.getEncoding() == values.getEncoding();
  if (!fits) {
    return emitOpError("takes f32 values and as many i32 ids of one layout, "
                       "found ")
           << values << " and " << ids;
  }
  fits = greatest.getRank() == 1 && greatest.getElementType().isF32() &&
         chosen == greatest.clone(ids.getElementType());
  if (!fits) {
    return emitOpError("makes f32 values and as many i32 ids, found ")
           << greatest << " and " << chosen;
  }
  int64_t count = greatest.getDimSize(0);
  if (!llvm::isPowerOf2_64(count) || count > 64 ||
      count > values.getDimSize(0)) {
    return emitOpError("makes a power of two of results, up to 64 and up to "
                       "the number of values, found ")
           << count << " of " << values.getDimSize(0);
  }
  LayoutAttr layout = getLayout(greatest);
  if (layout &&
      layout.getLayout() != topKLayout(count, layout.getLayout().numWaves())) {
    return emitOpError("leaves element i in lane i of every wave, found ")
           << greatest;
  }
  LayoutAttr spread = getLayout(values);
  if (getBuffer() &&
      (!spread || getBuffer().getType() !=
                      bufferType(getContext(), spread.getLayout(), count))) {
    InFlightDiagnostic diag = emitOpError("needs a buffer ");
    if (!spread) {
      return diag << "only when its values have a layout";
    }
    return diag << "of type "
                << bufferType(getContext(), spread.getLayout(), count)
                << ", found " << getBuffer().getType();
  }
  return success();
}
