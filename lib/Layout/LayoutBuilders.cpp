//===- LayoutBuilders.cpp - the usual distributions -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Layout.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace llvm;
using namespace tenon::layout;

static constexpr int64_t waveSize = 64;

Expected<Layout> Layout::blocked(ArrayRef<int64_t> shape,
                                 ArrayRef<unsigned> order,
                                 ArrayRef<int64_t> perThread,
                                 ArrayRef<int64_t> lanes,
                                 ArrayRef<int64_t> waves) {
  unsigned rank = shape.size();
  if (order.size() != rank || perThread.size() != rank ||
      lanes.size() != rank || waves.size() != rank) {
    return makeError("order, perThread, lanes and waves need {0} entries each "
                     "(the rank), found {1}, {2}, {3} and {4}",
                     rank, order.size(), perThread.size(), lanes.size(),
                     waves.size());
  }
  SmallVector<unsigned> sortedOrder(order);
  llvm::sort(sortedOrder);
  for (auto [dim, found] : enumerate(sortedOrder)) {
    if (dim != found) {
      return makeError("order is not a permutation of the {0} dims", rank);
    }
  }
  int64_t laneProduct = 1;
  for (unsigned dim = 0; dim < rank; ++dim) {
    if (perThread[dim] < 1 || !isPowerOf2_64(perThread[dim]) ||
        lanes[dim] < 1 || !isPowerOf2_64(lanes[dim]) || waves[dim] < 1) {
      return makeError("dim {0}: perThread {1} and lanes {2} must be powers of "
                       "two, waves {3} positive",
                       dim, perThread[dim], lanes[dim], waves[dim]);
    }
    int64_t block = perThread[dim] * lanes[dim] * waves[dim];
    if (shape[dim] % block != 0) {
      return makeError("dim {0}: extent {1} is no multiple of perThread * "
                       "lanes * waves = {2} * {3} * {4}",
                       dim, shape[dim], perThread[dim], lanes[dim], waves[dim]);
    }
    laneProduct *= lanes[dim];
  }
  if (laneProduct > waveSize) {
    return makeError("lanes multiply to {0}, expected at most {1}", laneProduct,
                     waveSize);
  }

  std::array<SmallVector<Basis>, 2> core; // Register and lane bases.
  SmallVector<int64_t> reached(rank, 1);
  ArrayRef<int64_t> countsOf[] = {perThread, lanes};
  for (auto [part, counts] : enumerate(countsOf)) {
    for (unsigned dim : order) {
      for (int64_t n = 1; n < counts[dim]; n *= 2) {
        Basis basis(rank, 0);
        basis[dim] = reached[dim];
        reached[dim] *= 2;
        core[part].push_back(std::move(basis));
      }
    }
  }
  core[1].resize(Log2_64(waveSize), Basis(rank, 0));
  SmallVector<OuterMode> modes;
  for (unsigned dim : order) {
    modes.push_back({HwDim::Wave, waves[dim], dim, reached[dim]});
    reached[dim] *= waves[dim];
  }
  for (unsigned dim : order) {
    modes.push_back(
        {HwDim::Register, shape[dim] / reached[dim], dim, reached[dim]});
  }
  return create(shape, core[0], core[1], {}, modes);
}

Expected<Layout> Layout::distribute1D(int64_t n, int64_t lanes, int64_t waves,
                                      int64_t elementsPerLane) {
  if (n < 1 || waves < 1 || lanes < 1 || lanes > waveSize ||
      !isPowerOf2_64(lanes) || elementsPerLane < 1 ||
      !isPowerOf2_64(elementsPerLane)) {
    return makeError("expected n {0} and waves {1} positive, lanes {2} a power "
                     "of two up to {3}, elementsPerLane {4} a power of two",
                     n, waves, lanes, waveSize, elementsPerLane);
  }
  int64_t rest = n;
  auto take = [&](int64_t limit) {
    int64_t share = std::gcd(rest, limit);
    rest /= share;
    return share;
  };
  int64_t run = take(elementsPerLane);
  int64_t usedLanes = take(lanes);
  int64_t usedWaves = std::gcd(rest, waves);

  SmallVector<Basis> registerBases;
  SmallVector<Basis> laneBases;
  int64_t reached = 1;
  for (; reached < run; reached *= 2) {
    registerBases.push_back({reached});
  }
  for (; reached < run * usedLanes; reached *= 2) {
    laneBases.push_back({reached});
  }
  laneBases.resize(Log2_64(waveSize), Basis(1, 0));
  OuterMode modes[] = {
      {HwDim::Wave, usedWaves, 0, reached},
      {HwDim::Wave, waves / usedWaves, 0, 0},
      {HwDim::Register, rest / usedWaves, 0, reached * usedWaves}};
  return create(n, registerBases, laneBases, {}, modes);
}

Expected<Layout> Layout::repeat(const Layout &atom, ArrayRef<Repeat> repeats) {
  SmallVector<int64_t> shape(atom.shape());
  SmallVector<OuterMode> modes(atom.outerModes());
  for (const Repeat &repeat : repeats) {
    if (repeat.extent < 1) {
      return makeError("expected a positive number of copies, found {0}",
                       repeat.extent);
    }
    if (!repeat.dim) {
      modes.push_back({repeat.input, repeat.extent, 0, 0});
      continue;
    }
    if (*repeat.dim >= shape.size()) {
      return makeError("copies along dim {0} of a tile of rank {1}",
                       *repeat.dim, shape.size());
    }
    int64_t &extent = shape[*repeat.dim];
    modes.push_back({repeat.input, repeat.extent, *repeat.dim, extent});
    extent *= repeat.extent;
  }
  return create(shape, atom.bases(HwDim::Register), atom.bases(HwDim::Lane),
                atom.bases(HwDim::Wave), modes);
}
