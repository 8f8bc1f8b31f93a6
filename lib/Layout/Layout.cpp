//===- Layout.cpp - how a tile lies in the registers of a workgroup -*- C++ -*//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Layout.h"

#include "CoreSolver.h"
#include "MakeError.h"
#include "tenon/Layout/Echelon.h"
#include "tenon/Layout/LinearMap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

static constexpr unsigned laneBits = 6;
// Registers times lanes times waves: far more than there are, and no product of
// sizes overflows.
static constexpr unsigned maxPlaceBits = 40;
static constexpr int64_t maxPlaces = int64_t(1) << maxPlaceBits;

StringRef tenon::layout::stringifyHwDim(HwDim dim) {
  switch (dim) {
  case HwDim::Register:
    return "register";
  case HwDim::Lane:
    return "lane";
  case HwDim::Wave:
    return "wave";
  }
  llvm_unreachable("unknown hardware dimension");
}

static std::string formatTuple(ArrayRef<int64_t> tuple) {
  std::string text;
  raw_string_ostream os(text);
  os << '[';
  interleaveComma(tuple, os);
  os << ']';
  return text;
}

static bool isZero(const Basis &basis) {
  return all_of(basis, [](int64_t entry) { return entry == 0; });
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

Layout::Layout() { core[static_cast<unsigned>(HwDim::Lane)].resize(laneBits); }

/// Entries in range, one basis entry per dim.
static Error checkParts(ArrayRef<int64_t> shape, HwDim input,
                        ArrayRef<Basis> bases) {
  for (auto [bit, basis] : enumerate(bases)) {
    if (basis.size() != shape.size()) {
      return makeError("{0} basis {1} has {2} coordinates, expected {3} (the "
                       "rank of the tile)",
                       stringifyHwDim(input), bit, basis.size(), shape.size());
    }
    for (auto [dim, entry] : enumerate(basis)) {
      if (entry < 0 || entry >= shape[dim]) {
        return makeError("{0} basis {1} moves dim {2} by {3}, expected a value "
                         "in [0, {4})",
                         stringifyHwDim(input), bit, dim, entry, shape[dim]);
      }
    }
  }
  return Error::success();
}

static Error checkMode(ArrayRef<int64_t> shape, const OuterMode &mode) {
  if (mode.input == HwDim::Lane) {
    return makeError("an outer mode is a digit of the register or the wave "
                     "index, found one of the lane");
  }
  if (mode.extent < 1) {
    return makeError("expected a positive extent of a {0} mode, found {1}",
                     stringifyHwDim(mode.input), mode.extent);
  }
  if (mode.stride < 0) {
    return makeError("expected a stride of at least 0 of a {0} mode, found {1}",
                     stringifyHwDim(mode.input), mode.stride);
  }
  if (mode.stride > 0 && mode.dim >= shape.size()) {
    return makeError("{0} mode along dim {1} of a tile of rank {2}",
                     stringifyHwDim(mode.input), mode.dim, shape.size());
  }
  return Error::success();
}

Expected<Layout> Layout::create(ArrayRef<int64_t> shape,
                                ArrayRef<Basis> registerBases,
                                ArrayRef<Basis> laneBases,
                                ArrayRef<Basis> waveBases,
                                ArrayRef<OuterMode> outerModes) {
  for (auto [dim, extent] : enumerate(shape)) {
    if (extent < 1) {
      return makeError("expected a positive extent of dim {0}, found {1}", dim,
                       extent);
    }
  }
  if (laneBases.size() != laneBits) {
    return makeError("expected {0} lane bases (a wave has 64 lanes), found {1}",
                     laneBits, laneBases.size());
  }
  Layout layout;
  layout.extents.assign(shape.begin(), shape.end());
  layout.blockBits.assign(shape.size(), 0);
  ArrayRef<Basis> parts[] = {registerBases, laneBases, waveBases};
  unsigned totalBits = 0;
  for (HwDim input : allHwDims) {
    ArrayRef<Basis> bases = parts[static_cast<unsigned>(input)];
    if (Error error = checkParts(shape, input, bases)) {
      return std::move(error);
    }
    layout.core[static_cast<unsigned>(input)].assign(bases.begin(),
                                                     bases.end());
    totalBits += bases.size();
    for (const Basis &basis : bases) {
      for (auto [dim, entry] : enumerate(basis)) {
        layout.blockBits[dim] = std::max<unsigned>(
            layout.blockBits[dim], Log2_64_Ceil(uint64_t(entry) + 1));
      }
    }
  }
  if (totalBits > maxPlaceBits) {
    return makeError("expected at most {0} hardware bits, found {1}",
                     maxPlaceBits, totalBits);
  }

  // Invariant 2: independent, and spanning the block.
  Echelon span;
  for (HwDim input : allHwDims) {
    for (auto [bit, basis] : enumerate(layout.bases(input))) {
      if (!isZero(basis) && !span.insert(packCore(layout, basis), 0)) {
        return makeError(
            "{0} basis {1} = {2} is a sum of the bases before it: elements may "
            "be held twice only through zero bases",
            stringifyHwDim(input), bit, formatTuple(basis));
      }
    }
  }
  unsigned blockSize = 0;
  for (unsigned bits : layout.blockBits) {
    blockSize += bits;
  }
  if (span.rank() != blockSize) {
    SmallVector<int64_t> block;
    for (unsigned bits : layout.blockBits) {
      block.push_back(int64_t(1) << bits);
    }
    return makeError("the bases reach block {0} but cover only {1} of its {2} "
                     "elements",
                     formatTuple(block), int64_t(1) << span.rank(),
                     int64_t(1) << blockSize);
  }

  // Invariant 1: a mixed radix above the block.
  int64_t places = int64_t(1) << totalBits;
  for (const OuterMode &mode : outerModes) {
    if (Error error = checkMode(shape, mode)) {
      return std::move(error);
    }
    if (mode.extent > maxPlaces / places) {
      return makeError(
          "a {0} mode of extent {1} makes more than 2^40 registers, "
          "lanes and waves together",
          stringifyHwDim(mode.input), mode.extent);
    }
    places *= mode.extent;
  }
  SmallVector<OuterMode> sorted(outerModes);
  llvm::sort(sorted, [](const OuterMode &a, const OuterMode &b) {
    return a.stride < b.stride;
  });
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    int64_t reached = int64_t(1) << layout.blockBits[dim];
    for (const OuterMode &mode : sorted) {
      if (mode.stride == 0 || mode.dim != dim || mode.extent == 1) {
        continue;
      }
      if (mode.stride != reached) {
        return makeError("{0} mode of extent {1} along dim {2}: expected "
                         "stride {3} (what lies below it), found {4}",
                         stringifyHwDim(mode.input), mode.extent, dim, reached,
                         mode.stride);
      }
      if (mode.extent > shape[dim] / reached) {
        return makeError("{0} mode of extent {1} and stride {2} leaves dim {3} "
                         "of extent {4}",
                         stringifyHwDim(mode.input), mode.extent, mode.stride,
                         dim, shape[dim]);
      }
      reached *= mode.extent;
    }
    if (reached != shape[dim]) {
      return makeError("the layout covers {0} of the {1} elements of dim {2}",
                       reached, shape[dim], dim);
    }
  }

  for (HwDim input : {HwDim::Register, HwDim::Wave}) {
    for (OuterMode mode : outerModes) {
      if (mode.input == input) {
        mode.dim = mode.stride == 0 ? 0 : mode.dim;
        layout.modes.push_back(mode);
      }
    }
  }
  layout.canonicalize();
  return layout;
}

void Layout::canonicalize() {
  bool changed = true;
  while (changed) {
    changed = false;
    llvm::erase_if(modes, [](const OuterMode &mode) {
      return mode.extent == 1; // A digit that is always 0.
    });
    for (unsigned i = 0; i + 1 < modes.size(); ++i) {
      const OuterMode &low = modes[i];
      const OuterMode &high = modes[i + 1];
      if (low.input == high.input && low.dim == high.dim &&
          low.stride * low.extent == high.stride) {
        modes[i].extent *= high.extent;
        modes.erase(modes.begin() + i + 1);
        changed = true;
        break;
      }
    }
    // Digit j of extent 2^k * e is j % 2^k + 2^k * (j / 2^k): its low part can
    // become k bits of the core when it is the fastest digit of its input and
    // the first one above the core of its dim.
    for (HwDim input : {HwDim::Register, HwDim::Wave}) {
      auto *mode = llvm::find_if(
          modes, [&](const OuterMode &m) { return m.input == input; });
      if (mode == modes.end() || mode->extent % 2 != 0) {
        continue;
      }
      bool replicates = mode->stride == 0;
      if (!replicates && mode->stride != int64_t(1) << blockBits[mode->dim]) {
        continue;
      }
      while (mode->extent % 2 == 0) {
        Basis basis(rank(), 0);
        if (!replicates) {
          basis[mode->dim] = mode->stride;
          ++blockBits[mode->dim];
        }
        core[static_cast<unsigned>(input)].push_back(std::move(basis));
        mode->extent /= 2;
        mode->stride *= 2;
      }
      changed = true;
    }
  }
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

int64_t Layout::size(HwDim dim) const {
  int64_t size = int64_t(1) << bases(dim).size();
  for (const OuterMode &mode : modes) {
    if (mode.input == dim) {
      size *= mode.extent;
    }
  }
  return size;
}

LinearMap Layout::coreMap() const {
  SmallVector<BitDim> sources;
  SmallVector<BitDim> targets;
  SmallVector<uint64_t> images;
  for (HwDim input : allHwDims) {
    sources.push_back({stringifyHwDim(input).str(),
                       static_cast<unsigned>(bases(input).size())});
    for (const Basis &basis : bases(input)) {
      images.push_back(packCore(*this, basis));
    }
  }
  for (unsigned dim = 0; dim < rank(); ++dim) {
    targets.push_back({formatv("dim{0}", dim).str(), coreBits(dim)});
  }
  return cantFail(LinearMap::create(sources, targets, images));
}

bool Layout::operator==(const Layout &other) const {
  return extents == other.extents && core == other.core && modes == other.modes;
}

hash_code tenon::layout::hash_value(const Layout &layout) {
  hash_code code = hash_combine_range(layout.shape());
  for (HwDim input : allHwDims) {
    code = hash_combine(code, layout.bases(input).size());
    for (const Basis &basis : layout.bases(input)) {
      code = hash_combine(code, hash_combine_range(basis));
    }
  }
  for (const OuterMode &mode : layout.outerModes()) {
    code = hash_combine(code, static_cast<unsigned>(mode.input), mode.extent,
                        mode.dim, mode.stride);
  }
  return code;
}

void Layout::print(raw_ostream &os) const {
  interleave(extents, os, "x");
  for (HwDim input : allHwDims) {
    os << (input == HwDim::Register && extents.empty() ? "" : " ")
       << stringifyHwDim(input) << " = [";
    interleaveComma(bases(input), os,
                    [&](const Basis &basis) { os << formatTuple(basis); });
    os << ']';
  }
  for (const OuterMode &mode : modes) {
    os << ' ' << stringifyHwDim(mode.input) << ' ' << mode.extent << " at "
       << mode.stride << " along " << mode.dim;
  }
}

raw_ostream &tenon::layout::operator<<(raw_ostream &os, const Layout &layout) {
  layout.print(os);
  return os;
}

//===----------------------------------------------------------------------===//
// The map and its inverse
//===----------------------------------------------------------------------===//

SmallVector<int64_t> Layout::coordinates(int64_t reg, int64_t lane,
                                         int64_t wave) const {
  assert(reg >= 0 && reg < numRegisters() && lane >= 0 && lane < numLanes() &&
         wave >= 0 && wave < numWaves() && "hardware index out of range");
  SmallVector<int64_t> coords(rank(), 0);
  int64_t indices[] = {reg, lane, wave};
  for (HwDim input : allHwDims) {
    int64_t &index = indices[static_cast<unsigned>(input)];
    for (const Basis &basis : bases(input)) {
      if (index & 1) {
        for (unsigned dim = 0; dim < rank(); ++dim) {
          coords[dim] ^= basis[dim];
        }
      }
      index >>= 1;
    }
  }
  for (const OuterMode &mode : modes) {
    int64_t &index = indices[static_cast<unsigned>(mode.input)];
    if (mode.stride != 0) {
      coords[mode.dim] += index % mode.extent * mode.stride;
    }
    index /= mode.extent;
  }
  return coords;
}

static bool isInside(const Layout &layout, ArrayRef<int64_t> coords) {
  assert(coords.size() == layout.rank() && "one coordinate per dim");
  return all_of_zip(coords, layout.shape(), [](int64_t coord, int64_t extent) {
    return coord >= 0 && coord < extent;
  });
}

std::optional<Owner> Layout::ownerOf(ArrayRef<int64_t> coords) const {
  if (!isInside(*this, coords)) {
    return std::nullopt;
  }
  std::optional<CoreSolver::Bits> bits =
      CoreSolver(*this, allHwDims).solve(packCore(*this, coords));
  assert(bits && "the bases of a layout span its core block");
  Owner owner{bits->reg, bits->lane, bits->wave};
  int64_t weights[] = {int64_t(1) << bases(HwDim::Register).size(), 0,
                       int64_t(1) << bases(HwDim::Wave).size()};
  for (const OuterMode &mode : modes) {
    int64_t &weight = weights[static_cast<unsigned>(mode.input)];
    if (mode.stride != 0) {
      int64_t digit = coords[mode.dim] / mode.stride % mode.extent;
      (mode.input == HwDim::Register ? owner.reg : owner.wave) +=
          digit * weight;
    }
    weight *= mode.extent;
  }
  return owner;
}

std::optional<int64_t> Layout::registerOf(ArrayRef<int64_t> coords,
                                          int64_t lane, int64_t wave) const {
  if (!isInside(*this, coords)) {
    return std::nullopt;
  }
  SmallVector<int64_t> origin = coordinates(0, lane, wave);
  std::optional<int64_t> modesPart = registerModesOf(*this, coords, origin);
  if (!modesPart) {
    return std::nullopt;
  }
  std::optional<CoreSolver::Bits> bits =
      CoreSolver(*this, HwDim::Register)
          .solve(packCore(*this, coords) ^ packCore(*this, origin));
  if (!bits) {
    return std::nullopt;
  }
  return *modesPart + bits->reg;
}

//===----------------------------------------------------------------------===//
// Replication
//===----------------------------------------------------------------------===//

uint64_t Layout::freeMask(HwDim dim) const {
  uint64_t mask = 0;
  for (auto [bit, basis] : enumerate(bases(dim))) {
    mask |= uint64_t(isZero(basis)) << bit;
  }
  return mask;
}

bool Layout::isReplicated() const {
  return freeRegisterMask() != 0 || freeLaneMask() != 0 ||
         freeWaveMask() != 0 ||
         any_of(modes, [](const OuterMode &mode) { return mode.stride == 0; });
}

bool Layout::isFirstReplica(int64_t lane, int64_t wave) const {
  if ((lane & freeLaneMask()) != 0 || (wave & freeWaveMask()) != 0) {
    return false;
  }
  int64_t index = wave >> bases(HwDim::Wave).size();
  for (const OuterMode &mode : modes) {
    if (mode.input != HwDim::Wave) {
      continue;
    }
    if (mode.stride == 0 && index % mode.extent != 0) {
      return false;
    }
    index /= mode.extent;
  }
  return true;
}
