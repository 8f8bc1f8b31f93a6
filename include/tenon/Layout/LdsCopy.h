//===- LdsCopy.h - copies that fill a tile in LDS ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A direct-to-LDS copy of one wave writes consecutive bytes of LDS in the order
// of its lanes. Which element each lane has to fetch is the inverse of the LDS
// layout: a swizzle is applied to where the data come from.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LAYOUT_LDSCOPY_H
#define TENON_LAYOUT_LDSCOPY_H

#include "tenon/Layout/LdsLayout.h"

namespace tenon::layout {

/// The instructions of each wave that fill a tile together: instruction i of
/// wave w writes the chunk i * waves + w. The lane at byte b of a chunk begins
/// with the element at byte chunk * chunkBytes + b, padding not counted.
struct LdsCopy {
  unsigned runDim = 0; ///< the dim along which a lane's elements lie
  int64_t waves = 1;
  int64_t laneBytes = 0;
  int64_t chunkBytes = 0;   ///< of one instruction: 64 lanes
  int64_t instructions = 0; ///< per wave

  /// With `isLinear` the coordinates along dim d that instruction i reads are
  /// (those of instruction 0 xor flips[d]) + steps[d]. Otherwise they have to
  /// be computed from the bytes.
  bool isLinear = false;
  struct Instruction {
    llvm::SmallVector<int64_t, 3> flips, steps;
  };
  llvm::SmallVector<Instruction> parts;
};

/// The copy of \p laneBytes per lane that fills \p lds. An error says what is
/// in the way: gaps, runs of elements or padding that lanes and instructions
/// would straddle, or a size that is no whole number of instructions of every
/// wave.
llvm::Expected<LdsCopy> planLdsCopy(const LdsLayout &lds, int64_t waves,
                                    int64_t laneBytes);

} // namespace tenon::layout

#endif // TENON_LAYOUT_LDSCOPY_H
