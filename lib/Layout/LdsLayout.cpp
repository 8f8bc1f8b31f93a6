//===- LdsLayout.cpp - where the elements of a tile lie in LDS --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LdsLayout.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

/// The dims of extent above 1 by ascending stride.
static SmallVector<unsigned> dimsByStride(ArrayRef<int64_t> shape,
                                          ArrayRef<int64_t> strides) {
  SmallVector<unsigned> dims;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] > 1) {
      dims.push_back(dim);
    }
  }
  llvm::sort(dims,
             [&](unsigned a, unsigned b) { return strides[a] < strides[b]; });
  return dims;
}

Expected<LdsLayout> LdsLayout::create(ArrayRef<int64_t> shape,
                                      ArrayRef<int64_t> strides,
                                      unsigned elementBits,
                                      ArrayRef<SwizzleTerm> swizzle,
                                      LdsPadding padding) {
  if (shape.size() != strides.size()) {
    return makeError("expected {0} strides (the rank), found {1}", shape.size(),
                     strides.size());
  }
  if (elementBits < 1) {
    return makeError("expected elements of at least one bit");
  }
  for (auto [dim, extent] : enumerate(shape)) {
    if (extent < 1 || strides[dim] < 1) {
      return makeError("dim {0}: extent {1} and stride {2} must be positive",
                       dim, extent, strides[dim]);
    }
  }
  LdsLayout layout;
  layout.extents.assign(shape.begin(), shape.end());
  layout.elementStrides.assign(strides.begin(), strides.end());
  layout.bitsPerElement = elementBits;
  layout.terms.assign(swizzle.begin(), swizzle.end());
  layout.pad = padding;

  int64_t below = 1;
  SmallVector<unsigned> order = dimsByStride(shape, strides);
  for (unsigned dim : order) {
    if (strides[dim] < below) {
      return makeError("dim {0}: expected a stride of at least {1} elements "
                       "(what lies below it), found {2}",
                       dim, below, strides[dim]);
    }
    below = strides[dim] * shape[dim];
  }
  int64_t shortest = std::numeric_limits<int64_t>::max();
  for (const SwizzleTerm &term : swizzle) {
    if (term.dim >= shape.size() || term.mask < 1) {
      return makeError("swizzle term of dim {0} with mask {1}: expected a dim "
                       "below {2} and a positive mask",
                       term.dim, term.mask, shape.size());
    }
    if (term.bit >= Log2_64_Ceil(shape[term.dim])) {
      return makeError("swizzle term of bit {0} of dim {1}, which has only {2} "
                       "bits",
                       term.bit, term.dim, Log2_64_Ceil(shape[term.dim]));
    }
    if (!isPowerOf2_32(elementBits) || term.mask * 8 % elementBits != 0) {
      return makeError("swizzle mask {0} tears elements of {1} bits apart",
                       term.mask, elementBits);
    }
    shortest = std::min(shortest, strides[term.dim]);
  }
  int64_t blockBits = layout.swizzleBlock() * 8;
  for (unsigned dim : order) {
    int64_t strideBits = strides[dim] * elementBits;
    if (strides[dim] >= shortest && strideBits % blockBits != 0) {
      return makeError("the swizzle permutes blocks of {0} bytes, but a step "
                       "along dim {1} is {2} bits",
                       layout.swizzleBlock(), dim, strideBits);
    }
  }
  if (padding.interval < 0 || padding.bytes < 0 ||
      padding.interval * 8 % elementBits != 0) {
    return makeError("padding of {0} bytes after every {1}: expected "
                     "nonnegative numbers and whole elements of {2} bits",
                     padding.bytes, padding.interval, elementBits);
  }
  return layout;
}

LdsLayout LdsLayout::rowMajor(ArrayRef<int64_t> shape, unsigned elementBits) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (unsigned dim = shape.size(); dim-- > 1;) {
    strides[dim - 1] = strides[dim] * shape[dim];
  }
  return cantFail(create(shape, strides, elementBits));
}

Expected<LdsLayout>
LdsLayout::withSwizzle(ArrayRef<SwizzleTerm> swizzle) const {
  return create(extents, elementStrides, bitsPerElement, swizzle, pad);
}

void LdsLayout::print(raw_ostream &os) const {
  interleave(extents, os, "x");
  os << " of " << bitsPerElement << " bits, strides [";
  interleaveComma(elementStrides, os);
  os << ']';
  for (const SwizzleTerm &term : terms) {
    os << ", bit " << term.bit << " of dim " << term.dim << " flips "
       << term.mask;
  }
  if (pad.interval != 0) {
    os << ", " << pad.bytes << " bytes after every " << pad.interval;
  }
}

raw_ostream &tenon::layout::operator<<(raw_ostream &os,
                                       const LdsLayout &layout) {
  layout.print(os);
  return os;
}

hash_code tenon::layout::hash_value(const LdsLayout &layout) {
  hash_code code =
      hash_combine(hash_combine_range(layout.shape()),
                   hash_combine_range(layout.strides()), layout.elementBits());
  for (const SwizzleTerm &term : layout.swizzle()) {
    code = hash_combine(code, term.dim, term.bit, term.mask);
  }
  return hash_combine(code, layout.padding().interval, layout.padding().bytes);
}

//===----------------------------------------------------------------------===//
// The map and its inverse
//===----------------------------------------------------------------------===//

int64_t LdsLayout::swizzleMask(ArrayRef<int64_t> coords) const {
  int64_t mask = 0;
  for (const SwizzleTerm &term : terms) {
    mask ^= (coords[term.dim] >> term.bit) & 1 ? term.mask : 0;
  }
  return mask;
}

int64_t LdsLayout::swizzleBlock() const {
  int64_t block = 1;
  for (const SwizzleTerm &term : terms) {
    block = std::max<int64_t>(block, NextPowerOf2(term.mask));
  }
  return block;
}

int64_t LdsLayout::bitAddress(ArrayRef<int64_t> coords) const {
  assert(coords.size() == rank() && "one coordinate per dim");
  int64_t bits = 0;
  for (auto [coord, stride] : zip_equal(coords, elementStrides)) {
    bits += coord * stride * bitsPerElement;
  }
  bits ^= swizzleMask(coords) * 8;
  if (pad.interval != 0) {
    bits += bits / (pad.interval * 8) * pad.bytes * 8;
  }
  return bits;
}

int64_t LdsLayout::sizeInBytes() const {
  int64_t last = 0;
  for (auto [extent, stride] : zip_equal(extents, elementStrides)) {
    last += (extent - 1) * stride;
  }
  int64_t bytes = divideCeil((last + 1) * bitsPerElement, 8);
  bytes = alignTo(bytes, swizzleBlock());
  if (pad.interval != 0) {
    bytes += (bytes - 1) / pad.interval * pad.bytes;
  }
  return bytes;
}

std::optional<SmallVector<int64_t>>
LdsLayout::coordinatesAt(int64_t address) const {
  if (address < 0 || address >= sizeInBytes()) {
    return std::nullopt;
  }
  if (pad.interval != 0) {
    int64_t period = pad.interval + pad.bytes;
    if (address % period >= pad.interval) {
      return std::nullopt;
    }
    address -= address / period * pad.bytes;
  }
  // Splits an unswizzled address from the longest stride down.
  SmallVector<unsigned> order = dimsByStride(extents, elementStrides);
  auto split = [&](int64_t bytes) -> std::optional<SmallVector<int64_t>> {
    if (bytes * 8 % bitsPerElement != 0) {
      return std::nullopt;
    }
    int64_t rest = bytes * 8 / bitsPerElement;
    SmallVector<int64_t> coords(rank(), 0);
    for (unsigned dim : reverse(order)) {
      coords[dim] = rest / elementStrides[dim];
      rest -= coords[dim] * elementStrides[dim];
      if (coords[dim] >= extents[dim]) {
        return std::nullopt;
      }
    }
    if (rest != 0) {
      return std::nullopt;
    }
    return coords;
  };
  // The dims that swizzle are functions of the block number, which the swizzle
  // keeps: read them off the first byte of the block.
  int64_t block = swizzleBlock();
  SmallVector<int64_t> blockCoords(rank(), 0);
  int64_t blockBits = address / block * block * 8;
  for (unsigned dim : reverse(order)) {
    int64_t strideBits = elementStrides[dim] * bitsPerElement;
    blockCoords[dim] = blockBits / strideBits;
    blockBits -= blockCoords[dim] * strideBits;
  }
  return split(address ^ swizzleMask(blockCoords));
}

//===----------------------------------------------------------------------===//
// Vector access
//===----------------------------------------------------------------------===//

unsigned LdsLayout::vectorWidth(const Layout &layout, unsigned maxBits) const {
  assert(layout.rank() == rank() && "layouts of one tile or a part of it");
  // Runs may neither cross a padded interval nor a bit that the swizzle flips.
  int64_t keptBits = maxBits;
  for (const SwizzleTerm &term : terms) {
    keptBits = std::min(keptBits, (term.mask & -term.mask) * 8);
  }
  if (pad.interval != 0) {
    for (int64_t bytes : {pad.interval, pad.bytes}) {
      keptBits = std::min(keptBits, (bytes & -bytes) * 8);
    }
  }
  unsigned width = layout.vectorWidth(elementStrides, bitsPerElement, keptBits);
  while (width > 1 && layout.runAlignment(elementStrides, width) < width) {
    width /= 2;
  }
  return width;
}
