//===- CoreSolver.h - from coordinates to hardware indices ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_LAYOUT_CORESOLVER_H
#define TENON_LIB_LAYOUT_CORESOLVER_H

#include "tenon/Layout/Echelon.h"
#include "tenon/Layout/Layout.h"

namespace tenon::layout {

/// Packs the core part of a coordinate tuple into one word, dim 0 lowest: the
/// vector space over F2 in which the core bases live.
uint64_t packCore(const Layout &layout, llvm::ArrayRef<int64_t> coords);

/// The digits of the register modes that `coords` asks for, as the part of a
/// register index above the core bits. `origin` is the element at register 0 of
/// some thread; nullopt when its wave lacks a digit that `coords` asks for.
std::optional<int64_t> registerModesOf(const Layout &layout,
                                       llvm::ArrayRef<int64_t> coords,
                                       llvm::ArrayRef<int64_t> origin);

/// Solves for the core bits of some hardware dimensions, the others being
/// zero. Zero bases take part in no solution.
class CoreSolver {
public:
  /// Core bits of a register, a lane and a wave.
  struct Bits {
    int64_t reg = 0;
    int64_t lane = 0;
    int64_t wave = 0;
  };

  CoreSolver(const Layout &layout, llvm::ArrayRef<HwDim> unknowns);

  /// The bits whose bases sum to the packed core part `target`.
  std::optional<Bits> solve(uint64_t target) const;

private:
  Echelon echelon;
  unsigned laneShift; ///< Where lane bits begin in a tag; registers are at 0.
  unsigned waveShift;
};

} // namespace tenon::layout

#endif // TENON_LIB_LAYOUT_CORESOLVER_H
