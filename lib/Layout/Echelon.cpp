//===- Echelon.cpp - vectors over F2 in row echelon form --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Echelon.h"

#include "llvm/ADT/STLExtras.h"

using namespace tenon::layout;

Echelon::Row Echelon::reduce(Row row) const {
  // Rows are visited with descending leading bits, so that subtracting one
  // cannot bring back a leading bit that an earlier row removed. The xor makes
  // the word smaller exactly when it clears the row's leading bit.
  for (const Row &other : rows) {
    if ((row.vector ^ other.vector) < row.vector) {
      row.vector ^= other.vector;
      row.tag ^= other.tag;
    }
  }
  return row;
}

bool Echelon::insert(uint64_t vector, uint64_t tag) {
  Row row = reduce({vector, tag});
  if (row.vector == 0) {
    return false;
  }
  auto *position = llvm::find_if(
      rows, [&](const Row &other) { return other.vector < row.vector; });
  rows.insert(position, row);
  return true;
}

std::optional<uint64_t> Echelon::express(uint64_t vector) const {
  Row row = reduce({vector, 0});
  if (row.vector != 0) {
    return std::nullopt;
  }
  return row.tag;
}
