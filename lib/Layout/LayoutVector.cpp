//===- LayoutVector.cpp - runs of registers that memory can move -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

unsigned Layout::contiguous(unsigned dim) const {
  SmallVector<int64_t> strides(rank(), -1);
  strides[dim] = 1;
  // A run is aligned when no bit other than its own moves `dim` by less than
  // the run; vectorWidth guarantees as much for the bits it takes, since they
  // are 1, 2, 4, ... along `dim`.
  return vectorWidth(strides, 1, ~0u);
}

unsigned Layout::vectorWidth(ArrayRef<int64_t> strides, unsigned elementBits,
                             unsigned maxBits) const {
  assert(strides.size() == rank() && "one stride per dim");
  ArrayRef<Basis> registers = bases(HwDim::Register);
  unsigned width = 1;
  // Register bit `bit` may join the run when it moves the offset by 2^bit and
  // its coordinates add to all others instead of being xored into them: no
  // other basis sets a bit that it sets.
  for (unsigned bit = 0; bit < registers.size(); ++bit) {
    const Basis &basis = registers[bit];
    int64_t offset = 0;
    bool isKnown = true;
    for (auto [entry, stride] : zip_equal(basis, strides)) {
      isKnown &= entry == 0 || stride >= 0;
      offset += entry == 0 ? 0 : entry * stride;
    }
    auto overlaps = [&](const Basis &other) {
      return &other != &basis &&
             any_of(zip_equal(basis, other, strides), [](auto entries) {
               auto [own, others, stride] = entries;
               return (own & others) != 0 && stride != 0;
             });
    };
    if (!isKnown || offset != int64_t(1) << bit ||
        any_of(core,
               [&](ArrayRef<Basis> part) { return any_of(part, overlaps); }) ||
        uint64_t(width) * 2 * elementBits > maxBits) {
      break;
    }
    width *= 2;
  }
  return width;
}

int64_t Layout::runAlignment(ArrayRef<int64_t> strideDivisors,
                             unsigned run) const {
  assert(strideDivisors.size() == rank() && "one divisor per dim");
  assert(isPowerOf2_32(run) && "runs are powers of two");
  unsigned zeros = 30;
  auto addOffset = [&](unsigned dim, int64_t step) {
    int64_t offset = step * strideDivisors[dim];
    if (offset != 0) {
      zeros = std::min<unsigned>(zeros, countr_zero(uint64_t(offset)));
    }
  };
  for (const auto &[input, part] : enumerate(core)) {
    for (const auto &[bit, basis] : enumerate(part)) {
      if (input == static_cast<unsigned>(HwDim::Register) &&
          bit < Log2_32(run)) {
        continue; // Zero for the first register of a group.
      }
      // A sum of xored coordinates has at least the trailing zeros that every
      // set bit of every basis has.
      for (auto [dim, entry] : enumerate(basis)) {
        addOffset(dim, entry);
      }
    }
  }
  for (const OuterMode &mode : modes) {
    if (mode.stride != 0) {
      addOffset(mode.dim, mode.stride);
    }
  }
  return int64_t(1) << zeros;
}
