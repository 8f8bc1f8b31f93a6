//===- Streaming.cpp - cost of a kernel that is bound by bandwidth -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Cost/Streaming.h"

#include <algorithm>
#include <limits>

using namespace tenon;

// Round trip of a load that misses every cache, seconds. Assumed: about 2 us is
// what streaming kernels behave like on this class of chips; only the order of
// schedules depends on it.
static constexpr double memoryLatency = 2.0e-6;
// A SIMD of 16 lanes takes four clocks for a vector instruction of a wave of 64
// (AMD CDNA3 ISA).
static constexpr double clocksPerInstruction = 4.0;

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
  // The slots that its instructions take from the other resident workgroups,
  // and the chain of its own, which nothing hides when there are few
  // workgroups.
  double slots = clocksPerInstruction * workgroup.waveInstructions /
                 (facts.simdsPerCu * facts.clockHz);
  double chain = clocksPerInstruction * workgroup.waveInstructions /
                 (workgroup.waves * facts.clockHz);
  return memoryTime + slots + chain;
}
