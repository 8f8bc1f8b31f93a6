//===- MatrixKernel.h - the inner loops of matrix products ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block is computed from A and B with one row per index of K, so that a row
// of B is a vector of columns. docs/reference/simulator-numerics.md says what
// is computed.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_MATRIXKERNEL_H
#define TENON_LIB_SIM_MATRIXKERNEL_H

#include "MatrixOperands.h"

#include <algorithm>

namespace tenon::sim {

/// A vector of the host.
template <typename T, unsigned lanes>
using HostVector = T __attribute__((ext_vector_type(lanes)));

template <typename V, typename T>
[[gnu::always_inline]] inline V loadVector(const T *from) {
  V value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

/// Row of C and D that register v of lane group g holds.
template <unsigned size>
constexpr unsigned accumulatorRow(unsigned v, unsigned g) {
  return size == 32 ? 8 * (v / 4) + 4 * g + v % 4
                    : (size == 16 ? 4 * g + v : v);
}

/// One step of the sum: fused, or modulo 2^32.
template <typename T> inline T multiplyAdd(T a, T b, T sum) {
  if constexpr (std::is_same_v<T, float>) {
    return __builtin_fmaf(a, b, sum);
  } else {
    return T(uint32_t(sum) + uint32_t(a) * uint32_t(b));
  }
}

/// sums += A * B, K upwards; NaNs become the matrix core's.
///
/// Each sum is a chain of dependent steps; four rows of sixteen columns at a
/// time keep enough chains in flight for the host and fit its registers.
template <typename T, unsigned size, unsigned k>
[[gnu::always_inline]] inline void multiplyBlock(const T (&a)[k][size],
                                                 const T (&b)[k][size],
                                                 T (&sums)[size][size]) {
  // Integers wrap around, which signed ones must not.
  using Step = std::conditional_t<std::is_same_v<T, float>, float, uint32_t>;
  constexpr unsigned width = std::min(size, 8u), tile = std::min(size, 16u);
  constexpr unsigned rows = 4, vectors = tile / width;
  using V = HostVector<Step, width>;
  for (unsigned row = 0; row < size; row += rows) {
    for (unsigned column = 0; column < size; column += tile) {
      V accumulators[rows][vectors];
      for (unsigned r = 0; r < rows; ++r) {
        for (unsigned v = 0; v < vectors; ++v) {
          accumulators[r][v] =
              loadVector<V>(&sums[row + r][column + width * v]);
        }
      }
      for (unsigned step = 0; step < k; ++step) {
        V right[vectors];
        for (unsigned v = 0; v < vectors; ++v) {
          right[v] = loadVector<V>(&b[step][column + width * v]);
        }
        for (unsigned r = 0; r < rows; ++r) {
          V left = Step(a[step][row + r]);
          for (unsigned v = 0; v < vectors; ++v) {
            if constexpr (std::is_same_v<T, float>) {
              accumulators[r][v] =
                  __builtin_elementwise_fma(left, right[v], accumulators[r][v]);
            } else {
              accumulators[r][v] += left * right[v];
            }
          }
        }
      }
      for (unsigned r = 0; r < rows; ++r) {
        for (unsigned v = 0; v < vectors; ++v) {
          if constexpr (std::is_same_v<T, float>) {
            V nan = std::bit_cast<float>(FloatBits<float>::invalid);
            V sum = accumulators[r][v];
            accumulators[r][v] = sum == sum ? sum : nan;
          }
          std::memcpy(&sums[row + r][column + width * v], &accumulators[r][v],
                      sizeof(V));
        }
      }
    }
  }
}

/// Puts the indices of K into the order of a perturbed launch.
template <typename T, unsigned size, unsigned k>
void permuteRows(const Wave &wave, const Instr &instr, T (&a)[k][size],
                 T (&b)[k][size]) {
  const SumOrder<k> order(wave, instr);
  T oldA[k][size], oldB[k][size];
  std::memcpy(oldA, a, sizeof(a));
  std::memcpy(oldB, b, sizeof(b));
  for (unsigned step = 0; step < k; ++step) {
    std::memcpy(a[order[step]], oldA[step], sizeof(a[0]));
    std::memcpy(b[order[step]], oldB[step], sizeof(b[0]));
  }
}

} // namespace tenon::sim

#endif // TENON_LIB_SIM_MATRIXKERNEL_H
