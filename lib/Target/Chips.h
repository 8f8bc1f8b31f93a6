//===- Chips.h - The chip tables, for TargetInfo ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_TARGET_CHIPS_H
#define TENON_LIB_TARGET_CHIPS_H

#include "tenon/Target/ChipFacts.h"
#include "tenon/Target/TimingFacts.h"

namespace tenon::target {

/// A chip and its dense MFMAs.
struct Chip {
  ChipFacts facts;
  std::vector<Mfma> mfmas;
};

/// Clocks of the MI355X, also the best guess for its predecessor.
const TimingFacts &gfx950Timing();

const Chip &gfx942();
const Chip &gfx950();

} // namespace tenon::target

#endif // TENON_LIB_TARGET_CHIPS_H
