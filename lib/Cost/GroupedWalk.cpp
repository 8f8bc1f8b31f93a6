//===- GroupedWalk.cpp - cost of a recurrence walked in groups --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Cost/GroupedWalk.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace tenon;

static constexpr int64_t D = 128;     // of the state, both ways
static constexpr int64_t tokens = 64; // of a chunk

// Of a launch of one workgroup that does nothing.
static constexpr double launchTime = 3.4e-6;
// Of 128 rows of a state: from the first instruction to the first chunk, and
// from the last to the end. What short launches of the timing model take.
static constexpr double endsTime = 7.6e-6;
// A round trip of memory at either end, where bytes bound what is between.
static constexpr double roundTrips = 4.0e-6;
// From group to group of a scan: a load, a product and a store that wait for
// each other. What the timing model gives for 8 to 16 groups.
static constexpr double scanStep = 0.7e-6;
// Clocks of a matrix instruction of 16x16x32 that the next one waits for.
static constexpr double productClocks = 16.0;

namespace {
/// One of the two kernels that walk.
struct Launch {
  int64_t workgroups;
  int64_t waves;
  int64_t rows;   ///< of the state, of a workgroup
  int64_t chunks; ///< that a workgroup walks
  /// Products with a chunk's operands, each of 128 x 64 or as much.
  double products;
  double fixedBytes; ///< of a workgroup, read and written at the ends
  double chunkBytes; ///< and per chunk: its share of what several read
};
} // namespace

static double timeOf(const Launch &launch, int64_t operandBytes,
                     const target::TargetInfo &target) {
  const target::ChipFacts &facts = target.facts();
  double perUnit = static_cast<double>(
      llvm::divideCeil(launch.workgroups, facts.computeUnits));
  // Each wave reads all right operands of the chunk; the copies into LDS are
  // once more that much for the workgroup.
  double ldsBytes = launch.products * D * tokens * operandBytes;
  double lds = (launch.waves + 1) * ldsBytes / facts.ldsReadBytesPerClock /
               facts.clockHz;
  double instructions = launch.products * (launch.rows / launch.waves) / 16.0 *
                        (D / 32.0) * (tokens / 16.0);
  double chain = lds + instructions * productClocks / facts.clockHz;
  double bytes = launch.workgroups *
                 (launch.fixedBytes + launch.chunks * launch.chunkBytes);
  double ends = endsTime * launch.rows / D;
  return launchTime +
         std::max({ends + launch.chunks * chain,
                   perUnit * (ends + launch.chunks * lds),
                   roundTrips + bytes / facts.hbmAttainableBandwidth});
}

double cost::groupedWalkCost(const GroupedWalk &walk,
                             const target::TargetInfo &target) {
  int64_t each = llvm::divideCeil(walk.chunks, walk.groups);
  int64_t block = D * tokens * walk.operandBytes;
  int64_t state = D * D * 4;
  int64_t perGroup = walk.sequences * walk.heads;
  // w, q, k, half a block of scores; u, the gate and out besides.
  double last = timeOf({perGroup * walk.groups, 4, D, each, 3.5,
                        static_cast<double>(2 * state), 6.5 * block},
                       walk.operandBytes, target);
  if (walk.groups == 1) {
    return last;
  }
  int64_t parts = D / walk.rows;
  double share = 1.0 / parts;
  // All workgroups of a group read w and k together, half of them u.
  double first =
      timeOf({2 * parts * perGroup * (walk.groups - 1), walk.waves, walk.rows,
              each, 2.0, 1.5 * state * share, (1.0 + 0.5 * share) * block},
             walk.operandBytes, target);
  return first + launchTime + walk.groups * scanStep + last;
}
