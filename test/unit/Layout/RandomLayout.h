//===- RandomLayout.h - layouts to test properties on -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H
#define TENON_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H

#include "tenon/Layout/Layout.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <ostream>
#include <random>
#include <string>
#include <vector>

namespace tenon::layout {

/// For the messages of GoogleTest.
inline std::ostream &operator<<(std::ostream &os, const Layout &layout) {
  std::string text;
  llvm::raw_string_ostream(text) << layout;
  return os << text;
}

/// The arguments of Layout::create, with the map evaluated straight from its
/// definition: an independent implementation to hold Layout against.
struct RawLayout {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<Basis> bases[3];
  llvm::SmallVector<OuterMode> modes;

  unsigned rank() const { return shape.size(); }

  llvm::Expected<Layout> create() const {
    return Layout::create(shape, bases[0], bases[1], bases[2], modes);
  }

  int64_t size(HwDim input) const {
    int64_t size = int64_t(1) << bases[static_cast<unsigned>(input)].size();
    for (const OuterMode &mode : modes) {
      size *= mode.input == input ? mode.extent : 1;
    }
    return size;
  }

  llvm::SmallVector<int64_t> coordinates(int64_t reg, int64_t lane,
                                         int64_t wave) const {
    llvm::SmallVector<int64_t> coords(rank(), 0);
    int64_t index[] = {reg, lane, wave};
    for (unsigned input = 0; input < 3; ++input) {
      for (const Basis &basis : bases[input]) {
        for (unsigned dim = 0; index[input] % 2 == 1 && dim < rank(); ++dim) {
          coords[dim] ^= basis[dim];
        }
        index[input] /= 2;
      }
      for (const OuterMode &mode : modes) {
        if (static_cast<unsigned>(mode.input) == input) {
          if (mode.stride != 0) {
            coords[mode.dim] += index[input] % mode.extent * mode.stride;
          }
          index[input] /= mode.extent;
        }
      }
    }
    return coords;
  }
};

class LayoutGenerator {
public:
  explicit LayoutGenerator(unsigned seed) : random(seed) {}

  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }

  /// A shape and a number of waves that several layouts can share.
  struct Tile {
    llvm::SmallVector<unsigned> bits; ///< Power-of-two part of each extent.
    llvm::SmallVector<int64_t> odd;   ///< The rest of each extent.
    unsigned waveBits;
  };

  Tile tile(bool withModes) {
    Tile tile;
    int64_t rank = pick(1, 3);
    for (int64_t dim = 0; dim < rank; ++dim) {
      tile.bits.push_back(pick(0, rank == 1 ? 9 : 4));
      tile.odd.push_back(withModes && pick(0, 2) == 0 ? 3 : 1);
    }
    tile.waveBits = pick(0, 2);
    return tile;
  }

  /// A valid layout of `tile`. `mixing` is how many random row operations the
  /// core sees: 0 leaves every hardware bit moving one coordinate bit.
  RawLayout layout(const Tile &tile, unsigned mixing, bool withReplicas) {
    RawLayout raw;
    unsigned rank = tile.bits.size();
    // Unit vectors of the core block, mixed by invertible steps.
    std::vector<Basis> vectors;
    for (unsigned dim = 0; dim < rank; ++dim) {
      for (unsigned bit = 0; bit < tile.bits[dim]; ++bit) {
        Basis basis(rank, 0);
        basis[dim] = int64_t(1) << bit;
        vectors.push_back(basis);
      }
      raw.shape.push_back((int64_t(1) << tile.bits[dim]) * tile.odd[dim]);
    }
    std::shuffle(vectors.begin(), vectors.end(), random);
    for (unsigned step = 0; step < mixing && vectors.size() > 1; ++step) {
      size_t a = pick(0, vectors.size() - 1);
      size_t b = pick(0, vectors.size() - 1);
      for (unsigned dim = 0; a != b && dim < rank; ++dim) {
        vectors[a][dim] ^= vectors[b][dim];
      }
    }
    // Lanes and waves take some, and zero bases for the rest of their bits.
    auto fill = [&](HwDim input, unsigned bits) {
      for (unsigned bit = 0; bit < bits; ++bit) {
        bool isZero = vectors.empty() || (withReplicas && pick(0, 3) == 0);
        Basis basis(rank, 0);
        if (!isZero) {
          basis = vectors.back();
          vectors.pop_back();
        }
        raw.bases[static_cast<unsigned>(input)].push_back(basis);
      }
    };
    fill(HwDim::Lane, 6);
    fill(HwDim::Wave, tile.waveBits);
    for (const Basis &basis : vectors) {
      raw.bases[0].push_back(basis);
    }
    if (withReplicas && pick(0, 3) == 0) {
      raw.bases[0].insert(raw.bases[0].begin() + pick(0, raw.bases[0].size()),
                          Basis(rank, 0));
    }
    for (unsigned dim = 0; dim < rank; ++dim) {
      if (tile.odd[dim] != 1) {
        raw.modes.push_back({HwDim::Register, tile.odd[dim], dim,
                             int64_t(1) << tile.bits[dim]});
      }
    }
    std::shuffle(raw.modes.begin(), raw.modes.end(), random);
    return raw;
  }

  /// A valid layout with modes of any kind, also such as `create` rewrites.
  RawLayout anyLayout() {
    RawLayout raw = layout(tile(false), pick(0, 1) * 12, pick(0, 1));
    int64_t count = pick(0, 4);
    int64_t room = 12;
    for (int64_t i = 0; i < count; ++i) {
      HwDim input = pick(0, 1) == 0 ? HwDim::Register : HwDim::Wave;
      int64_t extent = pick(1, 6);
      if (extent > room) {
        continue;
      }
      room /= extent;
      if (input == HwDim::Wave && pick(0, 3) == 0) {
        raw.modes.push_back({input, extent, 0, 0});
        continue;
      }
      unsigned dim = pick(0, raw.rank() - 1);
      raw.modes.push_back({input, extent, dim, raw.shape[dim]});
      raw.shape[dim] *= extent;
    }
    std::shuffle(raw.modes.begin(), raw.modes.end(), random);
    return raw;
  }

private:
  std::mt19937 random;
};

/// Calls `visit` with every (register, lane, wave).
template <typename T, typename Visit>
void forEachPlace(const T &layout, Visit visit) {
  for (int64_t wave = 0; wave < layout.size(HwDim::Wave); ++wave) {
    for (int64_t lane = 0; lane < layout.size(HwDim::Lane); ++lane) {
      for (int64_t reg = 0; reg < layout.size(HwDim::Register); ++reg) {
        visit(reg, lane, wave);
      }
    }
  }
}

/// Row-major number of an element.
inline int64_t elementNumber(llvm::ArrayRef<int64_t> shape,
                             llvm::ArrayRef<int64_t> coords) {
  int64_t number = 0;
  for (auto [extent, coord] : llvm::zip_equal(shape, coords)) {
    number = number * extent + coord;
  }
  return number;
}

inline int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    count *= extent;
  }
  return count;
}

inline std::string messageOf(llvm::Error error) {
  return llvm::toString(std::move(error));
}

} // namespace tenon::layout

#endif // TENON_TEST_UNIT_LAYOUT_RANDOMLAYOUT_H
