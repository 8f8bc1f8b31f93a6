//===- AlikeInstructions.h - LDS instructions of equal conflicts -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_LAYOUT_ALIKEINSTRUCTIONS_H
#define TENON_LIB_LAYOUT_ALIKEINSTRUCTIONS_H

#include "tenon/Layout/BankConflicts.h"

#include <optional>

namespace tenon::layout {

/// The first of the instructions of ldsInstructions, where all have its
/// conflicts: where addresses split into a lane's bits, flipped, and a constant
/// of the instruction. Flips and constants keep apart what is apart modulo the
/// banks, and together what is together. Shapes must agree.
std::optional<LdsInstruction> alikeInstruction(const Layout &layout,
                                               const LdsLayout &lds,
                                               unsigned accessBits);

} // namespace tenon::layout

#endif // TENON_LIB_LAYOUT_ALIKEINSTRUCTIONS_H
