//===- MlaPlan.cpp - Semantics of tenon.mla_plan ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MlaPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

namespace tenon::reference {

int64_t ContextParallel::localLength(int64_t global) const {
  if (global <= 0) {
    return 0;
  }
  int64_t turn = size * interleave;
  int64_t whole = global / turn;
  int64_t rest = global - whole * turn - rank * interleave;
  return whole * interleave + std::clamp<int64_t>(rest, 0, interleave);
}

int64_t ContextParallel::globalPosition(int64_t local) const {
  return local / interleave * size * interleave + rank * interleave +
         local % interleave;
}

/// Numbers of slots of the longest request that are worth a try.
static std::vector<int64_t> slotCounts() {
  std::vector<int64_t> counts;
  for (int64_t count = 1; count <= 1024;
       count += std::max<int64_t>(1, llvm::PowerOf2Ceil(count + 1) / 16)) {
    counts.push_back(count);
  }
  return counts;
}

/// The estimated time of \p slots slots of \p blocks blocks of keys each, of
/// \p work blocks in all, in the arithmetic that the contract states.
static float estimate(const MlaPlanParams &params, int64_t blocks,
                      int64_t slots, int64_t work) {
  auto share = float(1 / double(params.workgroups));
  float each = float(blocks) + 2;
  float moved = float(slots) * float(llvm::divideCeil(params.rows, 16));
  moved += float(work);
  float least = moved * share;
  float even = float(llvm::divideCeil(slots, params.workgroups)) * each;
  return std::max(least, std::min(even, least + each));
}

llvm::Expected<std::vector<std::array<int32_t, 4>>>
mlaPlan(const MlaPlanParams &params, llvm::ArrayRef<int64_t> keys,
        int64_t rows) {
  auto requests = int64_t(keys.size());
  int64_t room = rows - requests;
  if (room < requests) {
    return llvm::createStringError(
        "operand 'plan': at least " + llvm::Twine(2 * requests) +
        " rows expected for " + llvm::Twine(requests) + " requests, " +
        llvm::Twine(rows) + " found");
  }
  int64_t longest = 0, work = 0;
  std::vector<int64_t> blocks;
  for (int64_t count : keys) {
    blocks.push_back(llvm::divideCeil(count, mlaPlanKeys));
    longest = std::max(longest, blocks.back());
    work += 16 * llvm::divideCeil(blocks.back(), 16);
  }
  auto slotsOf = [&](int64_t request, int64_t perSlot) -> int64_t {
    return std::max<int64_t>(1, llvm::divideCeil(blocks[request], perSlot));
  };
  int64_t chosen = 0;
  std::optional<float> least;
  for (int64_t count : slotCounts()) {
    int64_t perSlot = std::max<int64_t>(1, llvm::divideCeil(longest, count));
    int64_t slots = 0;
    for (int64_t request = 0; request < requests; ++request) {
      slots += slotsOf(request, perSlot);
    }
    if (slots > room) {
      continue;
    }
    float time = estimate(params, perSlot, slots, work);
    // Counts ascend: of equal times the first has the most keys per slot.
    if (!least || time < *least) {
      least = time;
      chosen = perSlot;
    }
  }
  std::vector<std::array<int32_t, 4>> plan(rows, {-1, 0, 0, 0});
  int64_t slot = 0;
  for (int64_t request = 0; request < requests; ++request) {
    int64_t count = slotsOf(request, chosen);
    plan[room + request] = {int32_t(slot), int32_t(count),
                            int32_t(keys[request]), 0};
    int64_t size = chosen * mlaPlanKeys;
    for (int64_t part = 0; part < count; ++part) {
      plan[slot++] = {int32_t(request), int32_t(part * size),
                      int32_t(std::min((part + 1) * size, keys[request])),
                      int32_t(count)};
    }
  }
  return plan;
}

} // namespace tenon::reference
