//===- LdsAddressing.cpp - addresses of lanes and constants -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LdsAddressing.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

namespace {
/// Addresses by parts: without swizzle, and what the swizzle flips.
struct Addresses {
  const LdsLayout &lds;
  SmallVector<int64_t> strideBytes;

  explicit Addresses(const LdsLayout &lds) : lds(lds) {
    for (int64_t stride : lds.strides()) {
      strideBytes.push_back(stride * lds.elementBits() / 8);
    }
  }

  int64_t linear(ArrayRef<int64_t> coords) const {
    int64_t bytes = 0;
    for (auto [coord, stride] : zip_equal(coords, strideBytes)) {
      bytes += coord * stride;
    }
    return bytes;
  }
  int64_t mask(ArrayRef<int64_t> coords) const {
    int64_t mask = 0;
    for (const SwizzleTerm &term : lds.swizzle()) {
      mask ^= (coords[term.dim] >> term.bit) & 1 ? term.mask : 0;
    }
    return mask;
  }
  /// The aligned block within which the swizzle permutes bytes.
  int64_t block() const {
    int64_t block = 1;
    for (const SwizzleTerm &term : lds.swizzle()) {
      block = std::max<int64_t>(block, NextPowerOf2(term.mask));
    }
    return block;
  }
};
} // namespace

/// Whether registers and threads move different bits of every coordinate, so
/// that their parts add up.
static bool coordinatesAdd(const Layout &layout) {
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    int64_t registers = 0;
    int64_t threads = 0;
    for (const Basis &basis : layout.bases(HwDim::Register)) {
      registers |= basis[dim];
    }
    for (HwDim input : {HwDim::Lane, HwDim::Wave}) {
      for (const Basis &basis : layout.bases(input)) {
        threads |= basis[dim];
      }
    }
    if (registers & threads) {
      return false;
    }
  }
  return true;
}

/// Whether all addresses are linear in the bits of the coordinates.
static bool isLinear(const Addresses &addresses) {
  const LdsLayout &lds = addresses.lds;
  for (unsigned dim = 0; dim < lds.rank(); ++dim) {
    if (lds.shape()[dim] > 1 && !isPowerOf2_64(addresses.strideBytes[dim])) {
      return false;
    }
  }
  return true;
}

/// Whether the bytes of a step along each dim either leave the swizzled block
/// alone or are one bit of it.
static bool stepsFitBlock(const Addresses &addresses) {
  return all_of(addresses.strideBytes, [&](int64_t stride) {
    return stride % addresses.block() == 0 || isPowerOf2_64(stride);
  });
}

Expected<LdsAddressing>
tenon::layout::splitLdsAddresses(const Layout &layout, const LdsLayout &lds,
                                 unsigned maxBits, ArrayRef<int64_t> origin) {
  Addresses addresses(lds);
  LdsAddressing result;
  result.registersPerAccess = lds.vectorWidth(layout, maxBits);
  for (auto [dim, begin] : enumerate(origin)) {
    assert(begin % static_cast<int64_t>(PowerOf2Ceil(layout.shape()[dim])) ==
               0 &&
           "the origin does not carry into the coordinates of the tile");
    while (begin * lds.strides()[dim] % result.registersPerAccess != 0) {
      result.registersPerAccess /= 2;
    }
  }
  result.padding = lds.padding();
  bool padded = lds.padding().interval != 0;
  if (any_of(layout.outerModes(),
             [](const OuterMode &mode) { return mode.input == HwDim::Wave; })) {
    return makeError("a number of waves that is no power of two");
  }
  // Bits that are dealt with by xor; what lies above them adds up.
  int64_t xorBits = 0;
  if (!padded && coordinatesAdd(layout) && stepsFitBlock(addresses)) {
    result.addsCoordinates = true;
    xorBits = addresses.block() - 1;
  } else if (isLinear(addresses) &&
             (!padded || isPowerOf2_64(lds.padding().interval))) {
    xorBits = std::numeric_limits<int64_t>::max();
  } else {
    return makeError("addresses that are no xor and no sum of a part of the "
                     "thread and a part of the register: {0}",
                     padded ? "padding that does not go with powers of two"
                            : "strides that are no powers of two");
  }
  int64_t threadBits = 0;
  auto image = [&](const Basis &basis) {
    int64_t linear = addresses.linear(basis);
    int64_t mask = addresses.mask(basis);
    threadBits |= (linear & xorBits) | mask;
    return result.addsCoordinates ? mask : linear ^ mask;
  };
  for (const Basis &basis : layout.bases(HwDim::Lane)) {
    result.laneImages.push_back(image(basis));
  }
  for (const Basis &basis : layout.bases(HwDim::Wave)) {
    result.waveImages.push_back(image(basis));
  }
  for (int64_t reg = 0; reg < layout.numRegisters();
       reg += result.registersPerAccess) {
    SmallVector<int64_t> coords = layout.coordinates(reg, 0, 0);
    for (auto [dim, begin] : enumerate(origin)) {
      coords[dim] += begin;
    }
    int64_t linear = addresses.linear(coords);
    int64_t low = (linear & xorBits) ^ addresses.mask(coords);
    int64_t offset = (linear & ~xorBits) + (low & ~threadBits);
    if (padded) {
      offset += offset / lds.padding().interval * lds.padding().bytes;
    }
    result.accesses.push_back({low & threadBits, offset});
  }
  return result;
}
