//===- Products.cpp - sums of products --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Products.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

using namespace tenon;

std::vector<double> reference::products(
    llvm::ArrayRef<std::vector<double>> rows, int64_t count,
    llvm::function_ref<std::vector<double>(int64_t)> weightRow) {
  // The rows of weights that share a pass over a row: independent sums keep the
  // multipliers busy.
  constexpr int64_t groupSize = 16;
  const int64_t k = rows.empty() ? 0 : int64_t(rows.front().size());
  std::vector<double> result(rows.size() * count);
  std::vector<double> group(k * groupSize);
  for (int64_t begin = 0; k != 0 && begin < count; begin += groupSize) {
    int64_t used = std::min(groupSize, count - begin);
    for (int64_t column = 0; column < used; ++column) {
      std::vector<double> values = weightRow(begin + column);
      for (int64_t i = 0; i < k; ++i) {
        group[i * groupSize + column] = values[i];
      }
    }
    for (auto [index, row] : llvm::enumerate(rows)) {
      std::array<double, groupSize> sums = {};
      for (int64_t i = 0; i < k; ++i) {
        for (int64_t column = 0; column < groupSize; ++column) {
          sums[column] += row[i] * group[i * groupSize + column];
        }
      }
      std::copy_n(sums.begin(), used, &result[index * count + begin]);
    }
  }
  return result;
}
