//===- CoreSolver.cpp - from coordinates to hardware indices ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CoreSolver.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tenon::layout;

uint64_t tenon::layout::packCore(const Layout &layout,
                                 ArrayRef<int64_t> coords) {
  uint64_t word = 0;
  unsigned shift = 0;
  for (auto [dim, coord] : enumerate(coords)) {
    unsigned bits = layout.coreBits(dim);
    word |= (static_cast<uint64_t>(coord) & maskTrailingOnes<uint64_t>(bits))
            << shift;
    shift += bits;
  }
  return word;
}

std::optional<int64_t>
tenon::layout::registerModesOf(const Layout &layout, ArrayRef<int64_t> coords,
                               ArrayRef<int64_t> origin) {
  int64_t reg = 0;
  int64_t weight = int64_t(1) << layout.bases(HwDim::Register).size();
  for (const OuterMode &mode : layout.outerModes()) {
    auto digitOf = [&](ArrayRef<int64_t> tuple) {
      return mode.stride == 0 ? 0 : tuple[mode.dim] / mode.stride % mode.extent;
    };
    if (mode.input == HwDim::Register) {
      reg += digitOf(coords) * weight;
      weight *= mode.extent;
    } else if (digitOf(coords) != digitOf(origin)) {
      return std::nullopt;
    }
  }
  return reg;
}

CoreSolver::CoreSolver(const Layout &layout, ArrayRef<HwDim> unknowns)
    : laneShift(layout.bases(HwDim::Register).size()),
      waveShift(laneShift + layout.bases(HwDim::Lane).size()) {
  for (HwDim dim : unknowns) {
    unsigned shift = dim == HwDim::Register ? 0
                     : dim == HwDim::Lane   ? laneShift
                                            : waveShift;
    for (auto [bit, basis] : enumerate(layout.bases(dim))) {
      // Zero bases are refused by the echelon, as they should be; the others
      // are independent.
      echelon.insert(packCore(layout, basis), uint64_t(1) << (shift + bit));
    }
  }
}

std::optional<CoreSolver::Bits> CoreSolver::solve(uint64_t target) const {
  std::optional<uint64_t> tag = echelon.express(target);
  if (!tag) {
    return std::nullopt;
  }
  Bits bits;
  bits.reg = *tag & maskTrailingOnes<uint64_t>(laneShift);
  bits.lane =
      (*tag >> laneShift) & maskTrailingOnes<uint64_t>(waveShift - laneShift);
  bits.wave = *tag >> waveShift;
  return bits;
}
