//===- NeededValues.h - what the time of a launch depends on ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_TIMING_NEEDEDVALUES_H
#define TENON_LIB_SIM_TIMING_NEEDEDVALUES_H

#include "../CheckProgram.h"
#include "../Program.h"

#include <vector>

namespace tenon::sim {

/// The backward slice of a program from all that time depends on: addresses,
/// branches, lane masks and scalar registers. True, by record, for instructions
/// whose values are in it. A memory instruction that is not has addresses that
/// count, but what it loads or stores does not. Matrix products are never in
/// it, whatever depends on them.
///
/// `entry`: record at which waves begin; `entersFull`: with all lanes.
std::vector<bool> valuesForTime(const Program &program,
                                const CheckProgram &checks, uint32_t entry,
                                bool entersFull);

} // namespace tenon::sim

#endif // TENON_LIB_SIM_TIMING_NEEDEDVALUES_H
