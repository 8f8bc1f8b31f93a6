//===- KdaPlan.h - Semantics of tenon.kda_plan ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_KDAPLAN_H
#define TENON_REFERENCE_KDAPLAN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstdint>
#include <vector>

namespace tenon::reference {

/// Tokens of a chunk.
inline constexpr int64_t kdaChunkTokens = 64;

/// Rows that a plan of \p tokens tokens in \p sequences sequences has; also
/// the row of the first chunk of a sequence that as many are before.
int64_t kdaChunkCount(int64_t tokens, int64_t sequences);

/// Fails unless \p boundaries, the contents of cu_seqlens, begin with 0 and do
/// not descend.
llvm::Error checkBoundaries(llvm::ArrayRef<int64_t> boundaries);

/// What tenon.kda_plan writes: \p chunks rows of sequence, first token, number
/// of tokens and place in the sequence. Errors: those of checkBoundaries, and
/// more chunks than there are rows.
llvm::Expected<std::vector<std::array<int32_t, 4>>>
kdaPlan(llvm::ArrayRef<int64_t> boundaries, int64_t chunks);

} // namespace tenon::reference

#endif // TENON_REFERENCE_KDAPLAN_H
