//===- Dpp.cpp - lane maps within a row of 16 lanes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Dpp.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

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

std::optional<SmallVector<DppStep, 2>>
tenon::layout::dppSteps(const LaneMap &map) {
  using Kind = DppStep::Kind;
  ArrayRef<unsigned> images = map.images;
  LaneMap identityMap = LaneMap::identity();
  ArrayRef<unsigned> identity = identityMap.images;
  if (images.drop_front(4) != identity.drop_front(4) || map.offset > rowMask) {
    return std::nullopt;
  }
  SmallVector<DppStep, 2> steps;
  if (all_of(images.take_front(4), [](unsigned image) { return image == 0; })) {
    steps.push_back({Kind::RowBroadcast, map.offset});
    return steps;
  }
  if (images.slice(2, 2) != identity.slice(2, 2) || images[0] > quadMask ||
      images[1] > quadMask) {
    return std::nullopt;
  }
  // The xor with lane bits 2 and 3. The mirrors also flip bits 0 and 1, which
  // the quad permutation undoes.
  unsigned flipped = 0;
  switch (map.offset & ~quadMask) {
  case 4:
    steps.push_back({Kind::RowHalfMirror});
    flipped = quadMask;
    break;
  case 8:
    steps.push_back({Kind::RowRotate, 8});
    break;
  case 12:
    steps.push_back({Kind::RowMirror});
    flipped = quadMask;
    break;
  default:
    break;
  }
  unsigned selectors = 0;
  unsigned identitySelectors = 0;
  for (unsigned i = 0; i <= quadMask; ++i) {
    selectors |= ((map(i) ^ flipped) & quadMask) << (2 * i);
    identitySelectors |= i << (2 * i);
  }
  if (selectors != identitySelectors) {
    steps.push_back({Kind::QuadPerm, selectors});
  }
  return steps;
}
