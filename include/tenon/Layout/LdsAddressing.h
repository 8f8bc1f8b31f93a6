//===- LdsAddressing.h - addresses of lanes and constants -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An LDS instruction adds a constant to the address in a register. This splits
// the addresses of a tile so that few registers serve all its accesses.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LAYOUT_LDSADDRESSING_H
#define TENON_LAYOUT_LDSADDRESSING_H

#include "tenon/Layout/LdsLayout.h"

namespace tenon::layout {

/// The byte addresses of the accesses of a tile,
///
///     address(access, thread) = padded(thread's bits xor flips) + offset,
///     padded(a) = a + a / padding.interval * padding.bytes.
///
/// The thread's bits are the xor of the images of its set lane and wave bits;
/// with `addsCoordinates` they are that xor of the sum over d of the thread's
/// coordinate d times stride d in bytes. Accesses of equal flips share one
/// register.
struct LdsAddressing {
  struct Access {
    int64_t flips;
    int64_t offset;

    bool operator==(const Access &) const = default;
  };

  unsigned registersPerAccess = 1;
  llvm::SmallVector<Access> accesses; ///< in the order of the registers
  llvm::SmallVector<int64_t, 6> laneImages;
  llvm::SmallVector<int64_t, 4> waveImages;
  bool addsCoordinates = false;
  LdsPadding padding; ///< an interval of 0 or a power of two
};

/// Splits the addresses of a tile that is placed as \p layout in registers and
/// lies at \p origin (empty: zeros) of a tile that is placed as \p lds in LDS,
/// in accesses of at most \p maxBits. Each coordinate of the origin is a
/// multiple of the tile's extent rounded up to a power of two. An error says
/// why the addresses have no such form: a padding interval or a stride that is
/// no power of two where registers and threads move the same bits of a
/// coordinate, or a number of waves that is none.
llvm::Expected<LdsAddressing>
splitLdsAddresses(const Layout &layout, const LdsLayout &lds, unsigned maxBits,
                  llvm::ArrayRef<int64_t> origin = {});

} // namespace tenon::layout

#endif // TENON_LAYOUT_LDSADDRESSING_H
