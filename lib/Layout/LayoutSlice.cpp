//===- LayoutSlice.cpp - layouts without some dims or bits ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reductions and broadcasts ask of a layout.
//
//===----------------------------------------------------------------------===//

#include "tenon/Layout/Layout.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

bool Layout::movesOnly(const Basis &basis, ArrayRef<unsigned> dims) const {
  bool moves = false;
  for (auto [dim, entry] : enumerate(basis)) {
    if (entry == 0) {
      continue;
    }
    if (!is_contained(dims, dim)) {
      return false;
    }
    moves = true;
  }
  return moves;
}

bool Layout::isSeparable(ArrayRef<unsigned> dims) const {
  // The nonzero bases are independent, so those inside the block of `dims`
  // fill it exactly when there are as many as the block has bits.
  unsigned pure = 0;
  unsigned wanted = 0;
  for (HwDim input : allHwDims) {
    pure += count_if(bases(input), [&](const Basis &basis) {
      return movesOnly(basis, dims);
    });
  }
  for (unsigned dim = 0; dim < rank(); ++dim) {
    wanted += is_contained(dims, dim) ? coreBits(dim) : 0;
  }
  return pure == wanted;
}

/// Whether a register bit or mode is still there after slicing.
static bool survives(const Basis &basis, ArrayRef<unsigned> keptDims) {
  return any_of(keptDims, [&](unsigned dim) { return basis[dim] != 0; });
}

static bool survives(const OuterMode &mode, ArrayRef<unsigned> keptDims) {
  return mode.stride != 0 && is_contained(keptDims, mode.dim);
}

static SmallVector<unsigned> complement(unsigned rank,
                                        ArrayRef<unsigned> removedDims) {
  SmallVector<unsigned> kept;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (!is_contained(removedDims, dim)) {
      kept.push_back(dim);
    }
  }
  return kept;
}

Layout Layout::slice(ArrayRef<unsigned> removedDims) const {
  assert(isSeparable(removedDims) &&
         "some bits move removed and kept dims at once");
  SmallVector<unsigned> kept = complement(rank(), removedDims);
  SmallVector<int64_t> newShape;
  for (unsigned dim : kept) {
    newShape.push_back(extents[dim]);
  }
  std::array<SmallVector<Basis, 6>, 3> newCore;
  for (HwDim input : allHwDims) {
    for (const Basis &basis : bases(input)) {
      if (input == HwDim::Register && !survives(basis, kept)) {
        continue;
      }
      Basis projected;
      for (unsigned dim : kept) {
        projected.push_back(basis[dim]);
      }
      newCore[static_cast<unsigned>(input)].push_back(std::move(projected));
    }
  }
  SmallVector<OuterMode> newModes;
  for (OuterMode mode : modes) {
    if (survives(mode, kept)) {
      mode.dim = find(kept, mode.dim) - kept.begin();
    } else if (mode.input == HwDim::Register) {
      continue;
    } else {
      mode.dim = 0;
      mode.stride = 0;
    }
    newModes.push_back(mode);
  }
  Expected<Layout> result =
      create(newShape, newCore[0], newCore[1], newCore[2], newModes);
  if (!result) {
    report_fatal_error(result.takeError());
  }
  return *result;
}

Expected<Layout> Layout::coarsen(unsigned dim, int64_t factor) const {
  if (!isPowerOf2_64(factor) || extents[dim] % factor != 0) {
    return makeError("{0} elements along dim {1} are no blocks of {2}",
                     extents[dim], dim, factor);
  }
  SmallVector<int64_t> newShape(extents.begin(), extents.end());
  newShape[dim] /= factor;
  std::array<SmallVector<Basis, 6>, 3> newCore;
  for (HwDim input : allHwDims) {
    for (Basis basis : bases(input)) {
      bool isWithin = basis[dim] % factor != 0;
      if (isWithin && (basis[dim] >= factor || !movesOnly(basis, dim))) {
        return makeError("a bit moves within a block of {0} elements along dim "
                         "{1} and also to another block",
                         factor, dim);
      }
      if (isWithin && input == HwDim::Register) {
        continue;
      }
      basis[dim] /= factor;
      newCore[static_cast<unsigned>(input)].push_back(std::move(basis));
    }
  }
  SmallVector<OuterMode> newModes(modes.begin(), modes.end());
  for (OuterMode &mode : newModes) {
    if (mode.dim != dim) {
      continue;
    }
    if (mode.stride % factor != 0) {
      return makeError("digits of stride {0} along dim {1} move within blocks "
                       "of {2} elements",
                       mode.stride, dim, factor);
    }
    mode.stride /= factor;
  }
  return create(newShape, newCore[0], newCore[1], newCore[2], newModes);
}

Layout
Layout::reorderRegisters(function_ref<int64_t(const Basis &)> key) const {
  SmallVector<Basis> registers(bases(HwDim::Register));
  stable_sort(registers, [&](const Basis &left, const Basis &right) {
    return key(left) < key(right);
  });
  return cantFail(create(extents, registers, bases(HwDim::Lane),
                         bases(HwDim::Wave), modes));
}

bool Layout::holdsSameAs(const Layout &other) const {
  auto sorted = [](const Layout &layout) {
    SmallVector<Basis> registers(layout.bases(HwDim::Register));
    sort(registers, [](const Basis &left, const Basis &right) {
      return std::lexicographical_compare(left.begin(), left.end(),
                                          right.begin(), right.end());
    });
    return cantFail(create(layout.extents, registers, layout.bases(HwDim::Lane),
                           layout.bases(HwDim::Wave), layout.modes));
  };
  return rank() == other.rank() && sorted(*this) == sorted(other);
}

SmallVector<int64_t>
Layout::sliceRegisterMap(ArrayRef<unsigned> removedDims) const {
  SmallVector<unsigned> kept = complement(rank(), removedDims);
  SmallVector<int64_t> map;
  int64_t count = numRegisters();
  map.reserve(count);
  for (int64_t reg = 0; reg < count; ++reg) {
    int64_t index = reg;
    int64_t sliced = 0;
    int64_t weight = 1;
    for (const Basis &basis : bases(HwDim::Register)) {
      if (survives(basis, kept)) {
        sliced += (index & 1) * weight;
        weight *= 2;
      }
      index >>= 1;
    }
    for (const OuterMode &mode : modes) {
      if (mode.input != HwDim::Register) {
        continue;
      }
      if (survives(mode, kept)) {
        sliced += index % mode.extent * weight;
        weight *= mode.extent;
      }
      index /= mode.extent;
    }
    map.push_back(sliced);
  }
  return map;
}

SmallVector<unsigned> Layout::bitsAlong(HwDim input, unsigned dim) const {
  assert(isSeparable(dim) && "some bits move this dim and another at once");
  SmallVector<unsigned> bits;
  for (auto [bit, basis] : enumerate(bases(input))) {
    if (movesOnly(basis, dim)) {
      bits.push_back(bit);
    }
  }
  return bits;
}

SmallVector<unsigned> Layout::laneBitsAlong(unsigned dim) const {
  return bitsAlong(HwDim::Lane, dim);
}

SmallVector<unsigned> Layout::waveBitsAlong(unsigned dim) const {
  return bitsAlong(HwDim::Wave, dim);
}

bool Layout::hasWaveModesAlong(unsigned dim) const {
  return any_of(modes, [&](const OuterMode &mode) {
    return mode.input == HwDim::Wave && mode.stride != 0 && mode.dim == dim;
  });
}

SmallVector<int64_t> Layout::offsetsAlong(HwDim input, unsigned dim) const {
  SmallVector<int64_t> offsets{0};
  auto addDigit = [&](int64_t extent, int64_t weight) {
    size_t below = offsets.size();
    for (int64_t digit = 1; digit < extent; ++digit) {
      for (size_t i = 0; i < below; ++i) {
        offsets.push_back(offsets[i] + digit * weight);
      }
    }
  };
  for (unsigned bit : bitsAlong(input, dim)) {
    addDigit(2, int64_t(1) << bit);
  }
  int64_t weight = int64_t(1) << bases(input).size();
  for (const OuterMode &mode : modes) {
    if (mode.input != input) {
      continue;
    }
    if (mode.stride != 0 && mode.dim == dim) {
      addDigit(mode.extent, weight);
    }
    weight *= mode.extent;
  }
  return offsets;
}

SmallVector<int64_t> Layout::registerOffsetsAlong(unsigned dim) const {
  return offsetsAlong(HwDim::Register, dim);
}

SmallVector<int64_t> Layout::waveOffsetsAlong(unsigned dim) const {
  return offsetsAlong(HwDim::Wave, dim);
}

Layout Layout::transposed(ArrayRef<unsigned> permutation) const {
  assert(permutation.size() == rank() && "one source dim per dim");
  SmallVector<int64_t> newShape;
  for (unsigned dim : permutation) {
    newShape.push_back(extents[dim]);
  }
  std::array<SmallVector<Basis, 6>, 3> newCore = core;
  for (SmallVector<Basis, 6> &bases : newCore) {
    for (Basis &basis : bases) {
      Basis old = basis;
      for (auto [dim, source] : enumerate(permutation)) {
        basis[dim] = old[source];
      }
    }
  }
  SmallVector<OuterMode> newModes(outerModes());
  for (OuterMode &mode : newModes) {
    if (mode.stride != 0) {
      mode.dim = find(permutation, mode.dim) - permutation.begin();
    }
  }
  Expected<Layout> result =
      create(newShape, newCore[0], newCore[1], newCore[2], newModes);
  if (!result) {
    report_fatal_error(result.takeError());
  }
  return *result;
}
