//===- MlaPlan.h - Semantics of tenon.mla_plan ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_MLAPLAN_H
#define TENON_REFERENCE_MLAPLAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tenon::reference {

/// How the ranks of a context-parallel group share the keys of a request.
struct ContextParallel {
  int64_t size = 1;       ///< ranks
  int64_t interleave = 1; ///< keys of a rank that follow each other
  int64_t rank = 0;

  /// Keys of the rank among the first \p global of a request; 0 of a length
  /// below 0. Worked out by what is left over after whole turns of the ranks.
  int64_t localLength(int64_t global) const;
  /// The global position of the rank's key \p local.
  int64_t globalPosition(int64_t local) const;
};

/// Slots of a plan begin at multiples of as many keys.
inline constexpr int64_t mlaPlanKeys = 64;

/// Attributes of tenon.mla_plan.
struct MlaPlanParams {
  int64_t rows = 1;       ///< heads times queries of a request
  int64_t workgroups = 1; ///< slots that are worked on at a time
};

/// What tenon.mla_plan writes for requests of \p keys keys on this rank:
/// \p rows rows, slots of parts and then a row per request. Error: fewer than
/// two rows per request.
llvm::Expected<std::vector<std::array<int32_t, 4>>>
mlaPlan(const MlaPlanParams &params, llvm::ArrayRef<int64_t> keys,
        int64_t rows);

} // namespace tenon::reference

#endif // TENON_REFERENCE_MLAPLAN_H
