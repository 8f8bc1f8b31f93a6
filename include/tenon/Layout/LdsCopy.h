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

#include "tenon/Layout/Layout.h"
#include "tenon/Layout/LdsLayout.h"

namespace tenon::layout {

/// The instructions of each wave that fill a part of a tile together:
/// instruction i of wave w writes the bytes from
///
///     firstByte + (i * waves + w) * chunkBytes
///
/// on, padding not counted. The lane at byte b of them begins with the element
/// that lies there.
struct LdsCopy {
  unsigned runDim = 0; ///< the dim along which a lane's elements lie
  int64_t waves = 1;
  int64_t laneBytes = 0;
  int64_t firstByte = 0;
  int64_t instructions = 0; ///< per wave

  /// With `isLinear` the coordinates along dim d that instruction i reads are
  /// (those of the bytes from 0 on xor flips[d]) + steps[d]. Otherwise they
  /// have to be computed from the bytes.
  bool isLinear = false;
  struct Instruction {
    llvm::SmallVector<int64_t, 3> flips, steps;
  };
  llvm::SmallVector<Instruction> parts;

  /// Bytes of one instruction: 64 lanes.
  int64_t chunkBytes() const { return 64 * laneBytes; }
};

/// The copies that fill \p lds, in the order of its bytes, with as many bytes
/// per lane as there may be: \p widths lists what the chip has, descending. An
/// error says what is in the way: gaps, runs of elements or padding that lanes
/// and instructions would straddle, or a size that is no whole number of
/// instructions of every wave.
llvm::Expected<llvm::SmallVector<LdsCopy, 2>>
planLdsCopies(const LdsLayout &lds, int64_t waves,
              llvm::ArrayRef<int64_t> widths);

/// The layout [rows] in which register i of a lane is the row, the coordinate
/// along dim 0, that its instruction i of a copy of \p rows rows of \p rowBytes
/// bytes reads. Rows lie one behind the other in LDS. An error where lanes and
/// instructions do not cut them at powers of two.
llvm::Expected<Layout> copiedRows(int64_t rows, int64_t rowBytes, int64_t waves,
                                  llvm::ArrayRef<int64_t> widths);

} // namespace tenon::layout

#endif // TENON_LAYOUT_LDSCOPY_H
