//===- Dpp.cpp - lane maps within a row of 16 lanes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Dpp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <array>

using namespace llvm;
using namespace tenon::layout;

static constexpr unsigned laneBits = 6;
static constexpr unsigned quadMask = 3;
static constexpr unsigned rowMask = 15;

unsigned DppStep::sourceLane(unsigned lane) const {
  switch (kind) {
  case Kind::QuadPerm:
    return (lane & ~quadMask) |
           ((operand >> (2 * (lane & quadMask))) & quadMask);
  case Kind::RowHalfMirror:
    return lane ^ 7;
  case Kind::RowMirror:
    return lane ^ 15;
  case Kind::RowRotate:
    return (lane & ~rowMask) | ((lane - operand) & rowMask);
  case Kind::RowBroadcast:
    return (lane & ~rowMask) | operand;
  }
  llvm_unreachable("unknown DPP move");
}

LaneMap LaneMap::identity() {
  LaneMap map;
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    map.images.push_back(1u << bit);
  }
  return map;
}

unsigned LaneMap::operator()(unsigned lane) const {
  unsigned source = offset;
  for (auto [bit, image] : enumerate(images)) {
    source ^= (lane >> bit) & 1 ? image : 0;
  }
  return source;
}

/// Where each lane of row 0 reads from; the other rows do the same.
using RowMap = std::array<unsigned, 16>;

static RowMap rowMapOf(const DppStep &step) {
  RowMap map;
  for (unsigned lane = 0; lane < map.size(); ++lane) {
    map[lane] = step.sourceLane(lane);
  }
  return map;
}

/// The single move that carries out `map`.
static std::optional<DppStep> singleMove(const RowMap &map) {
  using Kind = DppStep::Kind;
  unsigned selectors = 0;
  for (unsigned i = 0; i <= quadMask; ++i) {
    selectors |= (map[i] & quadMask) << (2 * i);
  }
  for (DppStep step : {DppStep{Kind::QuadPerm, selectors},
                       DppStep{Kind::RowHalfMirror}, DppStep{Kind::RowMirror},
                       DppStep{Kind::RowRotate, (0 - map[0]) & rowMask},
                       DppStep{Kind::RowBroadcast, map[0]}}) {
    if (rowMapOf(step) == map) {
      return step;
    }
  }
  return std::nullopt;
}

std::optional<SmallVector<DppStep, 2>>
tenon::layout::dppSteps(const LaneMap &map) {
  using Kind = DppStep::Kind;
  LaneMap identity = LaneMap::identity();
  if (map == identity) {
    return SmallVector<DppStep, 2>();
  }
  // All rows alike, and none left.
  if (!std::equal(map.images.begin() + 4, map.images.end(),
                  identity.images.begin() + 4)) {
    return std::nullopt;
  }
  RowMap row;
  for (unsigned lane = 0; lane < row.size(); ++lane) {
    row[lane] = map(lane);
    if (row[lane] > rowMask) {
      return std::nullopt;
    }
  }
  if (std::optional<DppStep> step = singleMove(row)) {
    return SmallVector<DppStep, 2>{*step};
  }
  // map = first o second. Of the moves of whole quads the first is tried, the
  // second is what it leaves to do; rotations by less than a quad would leave
  // more than one move.
  for (DppStep first :
       {DppStep{Kind::RowHalfMirror}, DppStep{Kind::RowMirror},
        DppStep{Kind::RowRotate, 4}, DppStep{Kind::RowRotate, 8},
        DppStep{Kind::RowRotate, 12}}) {
    RowMap firstMap = rowMapOf(first);
    RowMap rest;
    for (unsigned lane = 0; lane < rest.size(); ++lane) {
      rest[lane] = llvm::find(firstMap, row[lane]) - firstMap.begin();
    }
    if (std::optional<DppStep> second = singleMove(rest)) {
      return SmallVector<DppStep, 2>{first, *second};
    }
  }
  return std::nullopt;
}
