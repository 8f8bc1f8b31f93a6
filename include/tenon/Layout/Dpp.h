//===- Dpp.h - lane maps within a row of 16 lanes ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LAYOUT_DPP_H
#define TENON_LAYOUT_DPP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace tenon::layout {

/// One DPP move: lane l of the result reads lane sourceLane(l) of the operand.
struct DppStep {
  enum class Kind : uint8_t {
    QuadPerm,      ///< Lane 4q + i reads 4q + selector_i; 2 bits per selector.
    RowHalfMirror, ///< l ^ 7
    RowMirror,     ///< l ^ 15
    RowRotate,     ///< Lane i of a row reads lane (i - operand) mod 16.
    RowBroadcast,  ///< All lanes of a row read its lane `operand`.
  };

  Kind kind;
  unsigned operand = 0;

  unsigned sourceLane(unsigned lane) const;
  bool operator==(const DppStep &) const = default;
};

/// An affine lane map, source(l) = offset ^ xor of images[i] over the set bits
/// i of l.
struct LaneMap {
  llvm::SmallVector<unsigned, 6> images;
  unsigned offset = 0;

  static LaneMap identity();
  unsigned operator()(unsigned lane) const;
  bool operator==(const LaneMap &) const = default;
};

/// The fewest DPP moves that carry out `map`, the first applied to the operand
/// and the second to its result: empty for the identity, nullopt when two do
/// not suffice. Every lane xor below 16, every affine map within quads and the
/// broadcast of one lane to its row are among those that do.
std::optional<llvm::SmallVector<DppStep, 2>> dppSteps(const LaneMap &map);

} // namespace tenon::layout

#endif // TENON_LAYOUT_DPP_H
