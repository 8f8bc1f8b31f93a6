//===- Scatter.cpp - results of reductions spread over lanes ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Scatter.h"

#include "MakeError.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tenon::layout;

static bool isZero(const Basis &basis) {
  return all_of(basis, [](int64_t value) { return value == 0; });
}

Expected<Layout> tenon::layout::scatter(const Layout &layout,
                                        ArrayRef<RegisterToLane> moves) {
  SmallVector<Basis> registers(layout.bases(HwDim::Register));
  SmallVector<Basis> lanes(layout.bases(HwDim::Lane));
  SmallVector<bool> moved(registers.size(), false);
  for (const RegisterToLane &move : moves) {
    if (move.registerBit >= registers.size() || moved[move.registerBit]) {
      return makeError("there is no register bit {0} to move to lane bit {1}",
                       move.registerBit, move.laneBit);
    }
    if (move.laneBit >= lanes.size() || !isZero(lanes[move.laneBit])) {
      return makeError("lane bit {0} does not replicate, register bit {1} "
                       "cannot move there",
                       move.laneBit, move.registerBit);
    }
    lanes[move.laneBit] = registers[move.registerBit];
    moved[move.registerBit] = true;
  }
  SmallVector<Basis> left;
  for (auto [bit, basis] : enumerate(registers)) {
    if (!moved[bit]) {
      left.push_back(basis);
    }
  }
  return Layout::create(layout.shape(), left, lanes, layout.bases(HwDim::Wave),
                        layout.outerModes());
}

std::optional<SmallVector<RegisterToLane>>
tenon::layout::matchScatter(const Layout &layout, const Layout &scattered) {
  if (layout.shape() != scattered.shape()) {
    return std::nullopt;
  }
  SmallVector<RegisterToLane> moves;
  ArrayRef<Basis> registers = layout.bases(HwDim::Register);
  for (int bit = int(layout.bases(HwDim::Lane).size()) - 1; bit >= 0; --bit) {
    const Basis &before = layout.bases(HwDim::Lane)[bit];
    const Basis &after = scattered.bases(HwDim::Lane)[bit];
    if (before == after) {
      continue;
    }
    const Basis *source = find(registers, after);
    if (!isZero(before) || source == registers.end()) {
      return std::nullopt;
    }
    moves.push_back(
        {unsigned(source - registers.begin()), static_cast<unsigned>(bit)});
  }
  // Registers that are left, waves and modes must be the same.
  Expected<Layout> expected = scatter(layout, moves);
  if (!expected) {
    consumeError(expected.takeError());
    return std::nullopt;
  }
  if (!(*expected == scattered)) {
    return std::nullopt;
  }
  return moves;
}
