//===- GroupedWalk.h - cost of a recurrence walked in groups ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recurrence over chunks with a state of 128 x 128 per head, which groups of
// chunks are walked at the same time: what each group does to a state first,
// then a scan over groups, then the walk from the states that it finds.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_COST_GROUPEDWALK_H
#define TENON_COST_GROUPEDWALK_H

#include "tenon/Target/TargetInfo.h"

namespace tenon::cost {

struct GroupedWalk {
  int64_t sequences = 1; ///< of equal length
  int64_t heads = 0;     ///< per sequence
  int64_t chunks = 0;    ///< per sequence, of 64 tokens
  int64_t groups = 1;    ///< per sequence; 1: nothing but the last walk
  /// Of the kernel that finds what groups do: state rows of a workgroup, waves.
  int64_t rows = 128;
  int64_t waves = 4;
  int64_t operandBytes = 2; ///< per element of what is multiplied
};

/// Seconds of the launches together, relative: what they have in common with
/// every other choice is left out. Workgroups are dealt to compute units in
/// turn. Of a launch the longest counts of: the chain of a workgroup's own
/// products and reads of LDS, the reads of LDS of all workgroups of a compute
/// unit, and the bytes of all workgroups in HBM.
double groupedWalkCost(const GroupedWalk &walk,
                       const target::TargetInfo &target);

} // namespace tenon::cost

#endif // TENON_COST_GROUPEDWALK_H
