//===- LdsRead.h - how a tile is read from LDS ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LAYOUT_LDSREAD_H
#define TENON_LAYOUT_LDSREAD_H

#include "tenon/Layout/BankConflicts.h"

namespace tenon::layout {

/// The instructions that read a tile.
struct LdsRead {
  /// What lanes address. Without transposition it is the layout that is wanted.
  Layout addressed;
  unsigned accessBits; ///< per lane
  bool transposes;
};

/// The layout whose elements lanes address in reads by \p form so that \p
/// wanted is what they receive. Of n = accessBits / elementBits elements per
/// lane the instruction takes those of each 16 lanes as a matrix of 16 columns,
/// row after row, and gives lane t column t: with L and R the bits of lanes and
/// registers,
///
///     addressed R[0, n) = wanted L[0, n),
///     addressed L[0, 4) = wanted L[n, 4) and then R[0, n)
///
/// (n in bits here). None where a thread holds less than n elements.
std::optional<Layout> transposedSource(const Layout &wanted,
                                       const TransposingRead &form);

/// How \p wanted, the layout of a tile or of a part of it, is read from a
/// buffer of layout \p lds: by a transposing read where what lanes want is
/// scattered, but what such a read addresses for them is not; else in the
/// widest accesses.
LdsRead chooseLdsRead(const Layout &wanted, const LdsLayout &lds,
                      const BankRules &rules);

} // namespace tenon::layout

#endif // TENON_LAYOUT_LDSREAD_H
