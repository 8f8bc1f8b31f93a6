//===- Streaming.cpp - cost of a kernel that is bound by bandwidth -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Cost/Streaming.h"

#include <algorithm>
#include <limits>

using namespace tenon;

// Round trip of a load that misses every cache, seconds. Assumed: about 2 us is
// what streaming kernels behave like on this class of chips; only the order of
// schedules depends on it.
static constexpr double memoryLatency = 2.0e-6;

double cost::streamingCost(const StreamingWorkgroup &workgroup,
                           const target::TargetInfo &target) {
  const target::ChipFacts &facts = target.facts();
  unsigned resident =
      target.workgroupsPerCu(workgroup.vgprs, 0, workgroup.ldsBytes,
                             workgroup.waves * target.waveSize());
  if (resident == 0) {
    return std::numeric_limits<double>::infinity();
  }
  double bandwidthPerCu = facts.hbmAttainableBandwidth / facts.computeUnits;
  double inFlight = static_cast<double>(resident) * workgroup.bytesInFlight;
  // Bytes per second that one compute unit can draw with this many in flight.
  double drawn = std::min(bandwidthPerCu, inFlight / memoryLatency);
  double memoryTime = workgroup.bytesInFlight / drawn;
  // One SIMD issues about one instruction per clock, four SIMDs share the work;
  // it overlaps with the memory time of the other resident workgroups.
  double issueTime = workgroup.waveInstructions /
                     (facts.simdsPerCu * facts.clockHz);
  return memoryTime + issueTime / resident;
}
