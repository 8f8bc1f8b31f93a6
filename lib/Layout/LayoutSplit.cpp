//===- LayoutSplit.cpp - dims cut into blocks -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Layout.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

/// What becomes of one dim.
namespace {
struct SplitDim {
  unsigned first = 0; ///< dim of the result that counts within the first block
  SmallVector<int64_t> steps;   ///< elements that one step of each counts
  SmallVector<int64_t> extents; ///< of each
};
} // namespace

/// The digits of \p extent elements along \p dim.
static Expected<SplitDim> splitExtent(unsigned dim, int64_t extent,
                                      ArrayRef<int64_t> blocks) {
  SplitDim split;
  int64_t step = 1;
  int64_t rest = extent;
  for (int64_t block : blocks) {
    assert(isPowerOf2_64(block) && "blocks are powers of two");
    if (rest % block != 0 && !(isPowerOf2_64(rest) && rest < block)) {
      return makeError("dim {0} of {1} elements does not divide into blocks of "
                       "{2}",
                       dim, extent, step * block);
    }
    split.steps.push_back(step);
    split.extents.push_back(std::min(rest, block));
    step *= block;
    rest = std::max<int64_t>(rest / block, 1);
  }
  split.steps.push_back(step);
  split.extents.push_back(rest);
  return split;
}

Expected<Layout> Layout::split(ArrayRef<SmallVector<int64_t, 2>> blocks) const {
  assert(blocks.size() == rank() && "blocks of every dim");
  SmallVector<SplitDim> dims;
  SmallVector<int64_t> shape;
  for (unsigned dim = 0; dim < rank(); ++dim) {
    Expected<SplitDim> split = splitExtent(dim, extents[dim], blocks[dim]);
    if (!split) {
      return split.takeError();
    }
    split->first = shape.size();
    shape.append(split->extents);
    dims.push_back(std::move(*split));
  }
  auto splitBases = [&](HwDim input) {
    SmallVector<Basis> result;
    for (const Basis &basis : bases(input)) {
      Basis digits;
      for (auto [entry, dim] : zip_equal(basis, dims)) {
        for (auto [step, extent] : zip_equal(dim.steps, dim.extents)) {
          digits.push_back(entry / step % extent);
        }
      }
      result.push_back(std::move(digits));
    }
    return result;
  };
  SmallVector<OuterMode> splitModes;
  for (OuterMode mode : modes) {
    if (mode.stride == 0) {
      mode.dim = 0;
      splitModes.push_back(mode);
      continue;
    }
    // Digits of integer extent lie above all blocks, or within one of them.
    const SplitDim &dim = dims[mode.dim];
    unsigned level = 0;
    while (level + 1 < dim.steps.size() &&
           mode.stride >= dim.steps[level + 1]) {
      ++level;
    }
    bool isLast = level + 1 == dim.steps.size();
    if (mode.stride % dim.steps[level] != 0 ||
        (!isLast && mode.stride * mode.extent > dim.steps[level + 1])) {
      return makeError("{0} digits of {1} elements along dim {2} straddle the "
                       "blocks of it",
                       mode.extent, mode.stride, mode.dim);
    }
    mode.stride /= dim.steps[level];
    mode.dim = dim.first + level;
    splitModes.push_back(mode);
  }
  return create(shape, splitBases(HwDim::Register), splitBases(HwDim::Lane),
                splitBases(HwDim::Wave), splitModes);
}
