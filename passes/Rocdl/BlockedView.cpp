//===- BlockedView.cpp - offsets along blocked dimensions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout split into the blocks of a view turns a blocked dimension into
// several plain ones (tenon::layout::Layout::split). What is left is here: an
// offset that moves by whole blocks adds the same bytes everywhere; any other
// one is added to coordinates before these are taken apart.
//
//===----------------------------------------------------------------------===//

#include "passes/Rocdl/Emitter.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::rocdl;

unsigned BufferView::firstStride(unsigned dim) const {
  unsigned first = dim;
  for (ArrayRef<int64_t> extents : ArrayRef(blocks).take_front(dim)) {
    first += extents.size();
  }
  return first;
}

int64_t BufferView::blockExtent(unsigned dim) const {
  int64_t elements = 1;
  for (int64_t extent : blocks[dim]) {
    elements *= extent;
  }
  return elements;
}

bool tenon::rocdl::movesByBlocks(const BufferView &view, unsigned dim,
                                 Value offset) {
  return knownDivisor(OpFoldResult(offset)) % view.blockExtent(dim) == 0;
}

Value Emitter::scaledBytes(Value index, OpFoldResult strideBytes) {
  if (auto bytes = getConstantIntValue(strideBytes)) {
    return LLVM::MulOp::create(b, loc, index, i32(*bytes));
  }
  return LLVM::MulOp::create(b, loc, index, cast<Value>(strideBytes));
}

Value Emitter::viewBytes(const BufferView &view, unsigned dim,
                         Value coordinate) {
  unsigned stride = view.firstStride(dim);
  Value bytes;
  Value rest = coordinate;
  for (int64_t extent : view.blocks[dim]) {
    Value within = LLVM::AndOp::create(b, loc, rest, i32(extent - 1));
    bytes = addI32(bytes, scaledBytes(within, view.strideBytes[stride++]));
    rest = LLVM::LShrOp::create(b, loc, rest, i32(llvm::Log2_64(extent)));
  }
  return addI32(bytes, scaledBytes(rest, view.strideBytes[stride]));
}

Value Emitter::blockOffset(const BufferView &view, unsigned dim, Value index) {
  if (getConstantIntValue(OpFoldResult(index)) == 0) {
    return Value();
  }
  Value blocks = scalars.lookup(index);
  if (unsigned bits = llvm::Log2_64(view.blockExtent(dim))) {
    blocks = LLVM::AShrOp::create(b, loc, blocks, i32(bits));
  }
  return scaledBytes(blocks, view.strideBytes[view.lastStride(dim)]);
}
