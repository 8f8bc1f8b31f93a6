//===- Scatter.h - results of reductions spread over lanes ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction over lanes leaves every lane with every result. Where a lane has
// several results, the lanes can share them out instead: a lane bit that the
// reduction frees takes the place of a register bit. Each such step halves the
// work that follows.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LAYOUT_SCATTER_H
#define TENON_LAYOUT_SCATTER_H

#include "tenon/Layout/Layout.h"

namespace tenon::layout {

/// Register bit `registerBit` of the core becomes lane bit `laneBit`.
struct RegisterToLane {
  unsigned registerBit;
  unsigned laneBit;

  bool operator==(const RegisterToLane &) const = default;
};

/// \p layout with the moves applied. The lane bits must replicate, and the
/// register bits exist; errors name the move that does not fit.
llvm::Expected<Layout> scatter(const Layout &layout,
                               llvm::ArrayRef<RegisterToLane> moves);

/// The moves, by descending lane bit, that turn \p layout into \p scattered;
/// empty when they are equal, none when no moves do.
std::optional<llvm::SmallVector<RegisterToLane>>
matchScatter(const Layout &layout, const Layout &scattered);

} // namespace tenon::layout

#endif // TENON_LAYOUT_SCATTER_H
