//===- LinearMap.cpp - linear maps over F2 between named dims ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LinearMap.h"

#include "MakeError.h"
#include "tenon/Layout/Echelon.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

static constexpr unsigned wordBits = 64;

static unsigned totalBits(ArrayRef<BitDim> dims) {
  return sum_of(map_range(dims, [](const BitDim &dim) { return dim.bits; }));
}

static uint64_t mask(unsigned bits) { return maskTrailingOnes<uint64_t>(bits); }

/// The dim of that name and the position of its lowest bit in a point.
static std::optional<std::pair<BitDim, unsigned>> locate(ArrayRef<BitDim> dims,
                                                         StringRef name) {
  unsigned shift = 0;
  for (const BitDim &dim : dims) {
    if (dim.name == name) {
      return std::pair(dim, shift);
    }
    shift += dim.bits;
  }
  return std::nullopt;
}

static std::pair<BitDim, unsigned> locateExisting(ArrayRef<BitDim> dims,
                                                  StringRef name) {
  auto found = locate(dims, name);
  assert(found && "no dim of that name");
  return *found;
}

static Error checkDims(const char *side, ArrayRef<BitDim> dims) {
  for (auto [index, dim] : enumerate(dims)) {
    if (locate(dims.take_front(index), dim.name)) {
      return makeError("{0} dim '{1}' is named twice", side, dim.name);
    }
  }
  if (totalBits(dims) > wordBits) {
    return makeError("expected at most {0} {1} bits, found {2}", wordBits, side,
                     totalBits(dims));
  }
  return Error::success();
}

LinearMap::LinearMap(ArrayRef<BitDim> sources, ArrayRef<BitDim> targets)
    : sourceDims(sources), targetDims(targets), columns(totalBits(sources), 0) {
  assert(columns.size() <= wordBits && targetBits() <= wordBits &&
         "a point must fit into a word");
}

Expected<LinearMap> LinearMap::create(ArrayRef<BitDim> sources,
                                      ArrayRef<BitDim> targets,
                                      ArrayRef<uint64_t> images) {
  if (Error error = checkDims("source", sources)) {
    return std::move(error);
  }
  if (Error error = checkDims("target", targets)) {
    return std::move(error);
  }
  LinearMap map(sources, targets);
  if (images.size() != map.columns.size()) {
    return makeError("expected {0} images (one per source bit), found {1}",
                     map.columns.size(), images.size());
  }
  for (auto [bit, image] : enumerate(images)) {
    if ((image & ~mask(map.targetBits())) != 0) {
      return makeError("the image {0} of source bit {1} has more than {2} bits",
                       image, bit, map.targetBits());
    }
    map.columns[bit] = image;
  }
  return map;
}

LinearMap LinearMap::identity(StringRef source, StringRef target,
                              unsigned bits) {
  LinearMap map(BitDim{source.str(), bits}, BitDim{target.str(), bits});
  for (unsigned bit = 0; bit < bits; ++bit) {
    map.columns[bit] = uint64_t(1) << bit;
  }
  return map;
}

LinearMap LinearMap::zero(StringRef source, unsigned sourceBits,
                          StringRef target, unsigned targetBits) {
  return LinearMap(BitDim{source.str(), sourceBits},
                   BitDim{target.str(), targetBits});
}

unsigned LinearMap::targetBits() const { return totalBits(targetDims); }

void LinearMap::print(raw_ostream &os) const {
  auto printDims = [&](ArrayRef<BitDim> dims) {
    interleaveComma(dims, os, [&](const BitDim &dim) {
      os << dim.name << ':' << dim.bits;
    });
  };
  os << '(';
  printDims(sourceDims);
  os << ") -> (";
  printDims(targetDims);
  os << ") [";
  interleaveComma(columns, os);
  os << ']';
}

raw_ostream &tenon::layout::operator<<(raw_ostream &os, const LinearMap &map) {
  map.print(os);
  return os;
}

//===----------------------------------------------------------------------===//
// Application and composition
//===----------------------------------------------------------------------===//

uint64_t LinearMap::apply(uint64_t point) const {
  assert((point & ~mask(sourceBits())) == 0 && "point outside the source");
  uint64_t image = 0;
  for (; point != 0; point &= point - 1) {
    image ^= columns[countr_zero(point)];
  }
  return image;
}

SmallVector<uint64_t> LinearMap::apply(ArrayRef<uint64_t> values) const {
  uint64_t point = 0;
  unsigned shift = 0;
  for (auto [dim, value] : zip_equal(sourceDims, values)) {
    assert((value & ~mask(dim.bits)) == 0 && "value outside its dim");
    point |= dim.bits == 0 ? 0 : value << shift;
    shift += dim.bits;
  }
  uint64_t image = apply(point);
  SmallVector<uint64_t> results;
  shift = 0;
  for (const BitDim &dim : targetDims) {
    results.push_back(dim.bits == 0 ? 0 : (image >> shift) & mask(dim.bits));
    shift += dim.bits;
  }
  return results;
}

LinearMap LinearMap::then(const LinearMap &next) const {
  assert(targetDims == next.sourceDims && "maps do not meet");
  LinearMap result(sourceDims, next.targetDims);
  for (auto [column, image] : zip_equal(result.columns, columns)) {
    column = next.apply(image);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// The dims of a product, and where each bit of each factor goes.
namespace {
struct JoinedDims {
  SmallVector<BitDim> dims;
  SmallVector<unsigned> lowPositions;
  SmallVector<unsigned> highPositions;

  JoinedDims(ArrayRef<BitDim> low, ArrayRef<BitDim> high) : dims(low) {
    for (const BitDim &dim : high) {
      auto *same = find_if(
          dims, [&](const BitDim &other) { return other.name == dim.name; });
      if (same == dims.end()) {
        dims.push_back(dim);
      } else {
        same->bits += dim.bits;
      }
    }
    for (const BitDim &dim : low) {
      unsigned shift = locateExisting(dims, dim.name).second;
      append_range(lowPositions, seq(shift, shift + dim.bits));
    }
    for (const BitDim &dim : high) {
      unsigned shift = locateExisting(dims, dim.name).second;
      if (auto below = locate(low, dim.name)) {
        shift += below->first.bits;
      }
      append_range(highPositions, seq(shift, shift + dim.bits));
    }
  }
};
} // namespace

static uint64_t scatter(uint64_t word, ArrayRef<unsigned> positions) {
  uint64_t result = 0;
  for (auto [bit, position] : enumerate(positions)) {
    result |= ((word >> bit) & 1) << position;
  }
  return result;
}

LinearMap LinearMap::operator*(const LinearMap &high) const {
  JoinedDims source(sourceDims, high.sourceDims);
  JoinedDims target(targetDims, high.targetDims);
  LinearMap result(source.dims, target.dims);
  for (auto [position, image] : zip_equal(source.lowPositions, columns)) {
    result.columns[position] = scatter(image, target.lowPositions);
  }
  for (auto [position, image] : zip_equal(source.highPositions, high.columns)) {
    result.columns[position] = scatter(image, target.highPositions);
  }
  return result;
}

std::optional<LinearMap> LinearMap::quotient(const LinearMap &low) const {
  auto subtract =
      [](ArrayRef<BitDim> dims,
         ArrayRef<BitDim> lowDims) -> std::optional<SmallVector<BitDim>> {
    SmallVector<BitDim> rest(dims);
    for (const BitDim &dim : lowDims) {
      auto *same = find_if(
          rest, [&](const BitDim &other) { return other.name == dim.name; });
      if (same == rest.end() || same->bits < dim.bits) {
        return std::nullopt;
      }
      same->bits -= dim.bits;
    }
    return rest;
  };
  auto restSources = subtract(sourceDims, low.sourceDims);
  auto restTargets = subtract(targetDims, low.targetDims);
  if (!restSources || !restTargets) {
    return std::nullopt;
  }
  LinearMap rest(*restSources, *restTargets);
  JoinedDims source(low.sourceDims, rest.sourceDims);
  JoinedDims target(low.targetDims, rest.targetDims);
  // The joined dims list those of `low` first; read the columns of this in the
  // order of its own dims.
  auto position = [](ArrayRef<BitDim> own, ArrayRef<BitDim> joined,
                     unsigned joinedBit) {
    for (const BitDim &dim : joined) {
      if (joinedBit < dim.bits) {
        return locateExisting(own, dim.name).second + joinedBit;
      }
      joinedBit -= dim.bits;
    }
    llvm_unreachable("bit outside the dims");
  };
  for (auto [bit, joinedBit] : enumerate(source.highPositions)) {
    uint64_t image = columns[position(sourceDims, source.dims, joinedBit)];
    for (auto [targetBit, joinedTarget] : enumerate(target.highPositions)) {
      unsigned from = position(targetDims, target.dims, joinedTarget);
      rest.columns[bit] |= ((image >> from) & 1) << targetBit;
    }
  }
  // What was read is the only candidate; it is the quotient if its product
  // with `low` is this, up to the order of the dims.
  LinearMap product = low * rest;
  for (unsigned joinedBit = 0; joinedBit < product.sourceBits(); ++joinedBit) {
    uint64_t expected = 0;
    for (unsigned bit = 0; bit < product.targetBits(); ++bit) {
      expected |= ((product.columns[joinedBit] >> bit) & 1)
                  << position(targetDims, target.dims, bit);
    }
    if (expected != columns[position(sourceDims, source.dims, joinedBit)]) {
      return std::nullopt;
    }
  }
  return rest;
}

//===----------------------------------------------------------------------===//
// Rank and inverses
//===----------------------------------------------------------------------===//

/// The image of the map, each vector tagged with a preimage.
static Echelon imageOf(const LinearMap &map) {
  Echelon image;
  for (auto [bit, column] : enumerate(map.images())) {
    image.insert(column, uint64_t(1) << bit);
  }
  return image;
}

unsigned LinearMap::rank() const { return imageOf(*this).rank(); }

std::optional<LinearMap> LinearMap::inverse() const {
  if (!isBijective()) {
    return std::nullopt;
  }
  return pseudoInverse();
}

LinearMap LinearMap::pseudoInverse() const {
  // Extend a basis of the image by unit vectors to one of the target; map the
  // former to their preimages and the latter to zero.
  Echelon basis = imageOf(*this);
  for (unsigned bit = 0; bit < targetBits(); ++bit) {
    basis.insert(uint64_t(1) << bit, 0);
  }
  LinearMap result(targetDims, sourceDims);
  for (auto [bit, column] : enumerate(result.columns)) {
    column = *basis.express(uint64_t(1) << bit);
  }
  return result;
}

std::optional<LinearMap> LinearMap::leftDivide(const LinearMap &target) const {
  assert(targetDims == target.targetDims && "maps into different spaces");
  Echelon image = imageOf(*this);
  LinearMap result(target.sourceDims, sourceDims);
  for (auto [column, wanted] : zip_equal(result.columns, target.columns)) {
    std::optional<uint64_t> preimage = image.express(wanted);
    if (!preimage) {
      return std::nullopt;
    }
    column = *preimage;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Parts of a map
//===----------------------------------------------------------------------===//

LinearMap LinearMap::restrictTo(ArrayRef<StringRef> sourceNames) const {
  SmallVector<BitDim> dims;
  SmallVector<uint64_t> kept;
  for (StringRef name : sourceNames) {
    auto [dim, shift] = locateExisting(sourceDims, name);
    dims.push_back(dim);
    append_range(kept, ArrayRef(columns).slice(shift, dim.bits));
  }
  LinearMap result(dims, targetDims);
  result.columns.assign(kept.begin(), kept.end());
  return result;
}

LinearMap LinearMap::projectTo(ArrayRef<StringRef> targetNames) const {
  SmallVector<BitDim> dims;
  SmallVector<unsigned> from;
  for (StringRef name : targetNames) {
    auto [dim, shift] = locateExisting(targetDims, name);
    dims.push_back(dim);
    append_range(from, seq(shift, shift + dim.bits));
  }
  LinearMap result(sourceDims, dims);
  for (auto [column, image] : zip_equal(result.columns, columns)) {
    for (auto [bit, position] : enumerate(from)) {
      column |= ((image >> position) & 1) << bit;
    }
  }
  return result;
}

bool LinearMap::isIdentityOn(StringRef source, StringRef target) const {
  auto [sourceDim, sourceShift] = locateExisting(sourceDims, source);
  auto [targetDim, targetShift] = locateExisting(targetDims, target);
  if (sourceDim.bits != targetDim.bits) {
    return false;
  }
  uint64_t targetMask =
      targetDim.bits == 0 ? 0 : mask(targetDim.bits) << targetShift;
  for (auto [bit, image] : enumerate(columns)) {
    bool isOwn = bit >= sourceShift && bit < sourceShift + sourceDim.bits;
    uint64_t expected =
        isOwn ? uint64_t(1) << (targetShift + bit - sourceShift) : 0;
    if (isOwn ? image != expected : (image & targetMask) != 0) {
      return false;
    }
  }
  return true;
}

uint64_t LinearMap::freeVariableMask(StringRef source) const {
  auto [dim, shift] = locateExisting(sourceDims, source);
  uint64_t free = 0;
  for (unsigned bit = 0; bit < dim.bits; ++bit) {
    free |= uint64_t(columns[shift + bit] == 0) << bit;
  }
  return free;
}
