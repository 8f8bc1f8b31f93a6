//===- Conversion.cpp - what it takes to change a layout --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Conversion.h"

#include "CoreSolver.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/ErrorHandling.h"

#include <cassert>

using namespace llvm;
using namespace tenon::layout;

StringRef tenon::layout::stringifyConversionKind(ConversionKind kind) {
  switch (kind) {
  case ConversionKind::Free:
    return "free";
  case ConversionKind::WithinLane:
    return "within-lane";
  case ConversionKind::WithinRow:
    return "within-row";
  case ConversionKind::CrossLane:
    return "cross-lane";
  case ConversionKind::Lds:
    return "lds";
  }
  llvm_unreachable("unknown conversion kind");
}

/// The image of `lane` under the linear map with the given columns.
template <typename T> static T imageOf(ArrayRef<T> columns, unsigned lane) {
  T image = 0;
  for (auto [bit, column] : enumerate(columns)) {
    image ^= (lane >> bit) & 1 ? column : 0;
  }
  return image;
}

int64_t Conversion::sourceRegister(int64_t reg, unsigned lane,
                                   int64_t wave) const {
  return registers[reg] ^ waveRegisters[wave] ^
         imageOf<int64_t>(registerImages, lane);
}

unsigned Conversion::sourceLane(int64_t reg, unsigned lane) const {
  return laneOffsets[reg] ^ imageOf<unsigned>(laneImages, lane);
}

SmallVector<int64_t> Conversion::selectors() const {
  SmallVector<int64_t> values;
  for (unsigned lane = 0; lane < 64; ++lane) {
    int64_t value = imageOf<int64_t>(registerImages, lane);
    if (!is_contained(values, value)) {
      values.push_back(value);
    }
  }
  return values;
}

uint64_t Conversion::lanesOf(int64_t selector) const {
  uint64_t lanes = 0;
  for (unsigned lane = 0; lane < 64; ++lane) {
    bool isOne = imageOf<int64_t>(registerImages, lane) == selector;
    lanes |= uint64_t(isOne) << lane;
  }
  return lanes;
}

LaneMap Conversion::laneMap(int64_t reg, int64_t selector) const {
  uint64_t lanes = lanesOf(selector);
  assert(lanes != 0 && "no lane selects this register");
  unsigned first = countr_zero(lanes);
  LaneMap exchange = LaneMap::identity();
  exchange.offset = sourceLane(reg, first) ^ first;
  for (; lanes != 0; lanes &= lanes - 1) {
    unsigned lane = countr_zero(lanes);
    if (exchange(lane) != sourceLane(reg, lane)) {
      return {laneImages, laneOffsets[reg]};
    }
  }
  return exchange;
}

unsigned Conversion::movedLaneBits() const {
  unsigned moved = 0;
  for (auto [bit, image] : enumerate(laneImages)) {
    moved |= image ^ (1u << bit);
  }
  for (unsigned offset : laneOffsets) {
    moved |= offset;
  }
  return moved;
}

static bool isNonzero(int64_t image) { return image != 0; }

bool Conversion::selectsByLane() const {
  return any_of(registerImages, isNonzero);
}

bool Conversion::selectsByWave() const {
  return any_of(waveRegisters, isNonzero);
}

//===----------------------------------------------------------------------===//
// Where data come from
//===----------------------------------------------------------------------===//

namespace {
/// Finds elements in the registers and lanes of one wave of a layout.
class WaveFinder {
public:
  struct Place {
    int64_t reg;
    unsigned lane;
  };

  explicit WaveFinder(const Layout &layout)
      : layout(layout), solver(layout, {HwDim::Register, HwDim::Lane}) {}

  /// Where wave `wave` holds the element at `coords`.
  std::optional<Place> find(ArrayRef<int64_t> coords, int64_t wave) const {
    SmallVector<int64_t> origin = layout.coordinates(0, 0, wave);
    std::optional<int64_t> modesPart = registerModesOf(layout, coords, origin);
    if (!modesPart) {
      return std::nullopt;
    }
    auto bits =
        solver.solve(packCore(layout, coords) ^ packCore(layout, origin));
    if (!bits) {
      return std::nullopt;
    }
    return Place{*modesPart + bits->reg, static_cast<unsigned>(bits->lane)};
  }

  /// The change of register and lane that changes the element by `basis`,
  /// whatever register, lane and wave it is added to.
  std::optional<Place> findStep(const Basis &basis) const {
    for (auto [dim, entry] : enumerate(basis)) {
      if (entry >> layout.coreBits(dim) != 0) {
        return std::nullopt; // Steps over modes are not a xor of indices.
      }
    }
    auto bits = solver.solve(packCore(layout, basis));
    if (!bits) {
      return std::nullopt;
    }
    return Place{bits->reg, static_cast<unsigned>(bits->lane)};
  }

private:
  const Layout &layout;
  CoreSolver solver;
};
} // namespace

/// Fills in the affine map of `conversion`; false when there is none.
static bool findSources(const Layout &src, const Layout &dst,
                        Conversion &conversion) {
  WaveFinder finder(src);
  unsigned freeLanes = src.freeLaneMask();
  for (auto [bit, basis] : enumerate(dst.bases(HwDim::Lane))) {
    auto step = finder.findStep(basis);
    if (!step) {
      return false;
    }
    // Among the replicas of a datum a lane prefers its own.
    conversion.laneImages.push_back(step->lane | (freeLanes & (1u << bit)));
    conversion.registerImages.push_back(step->reg);
  }
  int64_t coreSize = int64_t(1) << src.bases(HwDim::Register).size();
  for (int64_t wave : seq<int64_t>(0, dst.numWaves())) {
    for (int64_t reg : seq<int64_t>(0, dst.numRegisters())) {
      auto place = finder.find(dst.coordinates(reg, 0, wave), wave);
      if (!place) {
        return false;
      }
      if (wave == 0) {
        conversion.registers.push_back(place->reg);
        conversion.laneOffsets.push_back(place->lane);
      }
      int64_t difference = place->reg ^ conversion.registers[reg];
      if (reg == 0) {
        conversion.waveRegisters.push_back(difference);
      }
      if (place->lane != conversion.laneOffsets[reg] ||
          difference != conversion.waveRegisters[wave] ||
          difference >= coreSize) {
        return false;
      }
    }
  }
  return true;
}

/// The exchanges of register bits with lane bits 4 and 5 that make up the lane
/// moves of `conversion`, if they do.
static SmallVector<RegisterLaneSwap, 2>
findSwaps(const Conversion &conversion) {
  SmallVector<RegisterLaneSwap, 2> swaps;
  if (conversion.selectsByWave()) {
    return {};
  }
  unsigned explained = 0; // Lane offsets that the swaps account for.
  for (auto [bit, image] : enumerate(conversion.laneImages)) {
    int64_t registerImage = conversion.registerImages[bit];
    if (image == 1u << bit && registerImage == 0) {
      continue;
    }
    if (bit < 4 || image != 0 || !isPowerOf2_64(registerImage)) {
      return {};
    }
    // Which target register bit says "upper half"?
    unsigned targetBit = 0;
    uint64_t count = conversion.registers.size();
    auto isUpper = [&](uint64_t reg) {
      return ((conversion.laneOffsets[reg] >> bit) & 1) ==
             ((reg >> targetBit) & 1);
    };
    while ((uint64_t(1) << targetBit) < count &&
           !all_of(seq<uint64_t>(0, count), isUpper)) {
      ++targetBit;
    }
    bool lowFirst = none_of(conversion.registers, [&](int64_t reg) {
      return (reg & registerImage) != 0;
    });
    if ((uint64_t(1) << targetBit) >= count || !lowFirst) {
      return {};
    }
    explained |= 1u << bit;
    swaps.push_back({static_cast<unsigned>(bit),
                     static_cast<unsigned>(
                         countr_zero(static_cast<uint64_t>(registerImage))),
                     targetBit});
  }
  if (any_of(conversion.laneOffsets,
             [&](unsigned offset) { return (offset & ~explained) != 0; })) {
    return {};
  }
  return swaps;
}

Conversion tenon::layout::classifyConversion(const Layout &src,
                                             const Layout &dst) {
  assert(src.shape() == dst.shape() && "a conversion keeps the tile");
  assert(src.numWaves() == dst.numWaves() && "a conversion keeps the waves");
  Conversion conversion;
  if (!findSources(src, dst, conversion)) {
    return Conversion();
  }
  if (conversion.movedLaneBits() == 0) {
    // Registers are the same ones when they have the same number among those
    // that are not replicas.
    SmallVector<int64_t> srcNumber = src.sliceRegisterMap({});
    SmallVector<int64_t> dstNumber = dst.sliceRegisterMap({});
    bool isFree = !conversion.selectsByLane() && !conversion.selectsByWave() &&
                  all_of_zip(conversion.registers, dstNumber,
                             [&](int64_t source, int64_t number) {
                               return srcNumber[source] == number;
                             });
    conversion.kind =
        isFree ? ConversionKind::Free : ConversionKind::WithinLane;
    return conversion;
  }
  SmallVector<int64_t> selectors = conversion.selectors();
  bool isWithinRow =
      all_of(seq<int64_t>(0, dst.numRegisters()), [&](int64_t r) {
        return all_of(selectors, [&](int64_t selector) {
          return dppSteps(conversion.laneMap(r, selector)).has_value();
        });
      });
  conversion.kind =
      isWithinRow ? ConversionKind::WithinRow : ConversionKind::CrossLane;
  if (!isWithinRow) {
    conversion.swaps = findSwaps(conversion);
  }
  return conversion;
}
