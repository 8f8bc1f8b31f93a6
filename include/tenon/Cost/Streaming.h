//===- Streaming.h - cost of a kernel that is bound by bandwidth -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_COST_STREAMING_H
#define TENON_COST_STREAMING_H

#include "tenon/Target/TargetInfo.h"

namespace tenon::cost {

/// What one workgroup of a streaming kernel needs: it reads its data once, all
/// loads in flight together, computes, and writes them back.
struct StreamingWorkgroup {
  unsigned waves = 0;
  unsigned vgprs = 0; ///< per lane, as estimated
  uint64_t ldsBytes = 0;
  uint64_t bytesInFlight = 0;    ///< read before the first wait
  uint64_t waveInstructions = 0; ///< of all its waves together
};

/// Relative time per workgroup; lower is better. Two effects are weighed: how
/// far the loads in flight on one compute unit cover the memory latency at the
/// attainable bandwidth (Little's law), and the time that its instructions
/// take, from others and one after the other. Infinity when not even one
/// workgroup fits a compute unit.
double streamingCost(const StreamingWorkgroup &workgroup,
                     const target::TargetInfo &target);

} // namespace tenon::cost

#endif // TENON_COST_STREAMING_H
