//===- KdaPlan.cpp - Semantics of tenon.kda_plan ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/KdaPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

namespace tenon::reference {

int64_t kdaChunkCount(int64_t tokens, int64_t sequences) {
  return tokens / kdaChunkTokens + sequences;
}

llvm::Error checkBoundaries(llvm::ArrayRef<int64_t> boundaries) {
  for (auto [i, value] : llvm::enumerate(boundaries)) {
    int64_t least = i == 0 ? 0 : boundaries[i - 1];
    if (value < least || (i == 0 && value != 0)) {
      return llvm::createStringError(
          "operand 'cu_seqlens': cu_seqlens[" + llvm::Twine(i) + "]: " +
          (i == 0 ? llvm::Twine("0") : "at least " + llvm::Twine(least)) +
          " expected, " + llvm::Twine(value) + " found");
    }
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<std::array<int32_t, 4>>>
kdaPlan(llvm::ArrayRef<int64_t> boundaries, int64_t chunks) {
  if (llvm::Error error = checkBoundaries(boundaries)) {
    return std::move(error);
  }
  std::vector<std::array<int32_t, 4>> rows(chunks, {0, 0, 0, 0});
  for (size_t i = 0; i + 1 < boundaries.size(); ++i) {
    int64_t first = kdaChunkCount(boundaries[i], int64_t(i));
    int64_t end = boundaries[i + 1];
    for (int64_t begin = boundaries[i], place = 0; begin < end;
         begin += kdaChunkTokens, ++place) {
      if (first + place >= chunks) {
        return llvm::createStringError(
            "operand 'plan': " +
            llvm::Twine(kdaChunkCount(boundaries.back(),
                                      int64_t(boundaries.size()) - 1)) +
            " rows expected, " + llvm::Twine(chunks) + " found");
      }
      rows[first + place] = {int32_t(i), int32_t(begin),
                             int32_t(std::min(kdaChunkTokens, end - begin)),
                             int32_t(place)};
    }
  }
  return rows;
}

} // namespace tenon::reference
