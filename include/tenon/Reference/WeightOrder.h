//===- WeightOrder.h - Weights in the orders of kernels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_WEIGHTORDER_H
#define TENON_REFERENCE_WEIGHTORDER_H

#include "tenon/Reference/Tensor.h"

#include "llvm/Support/Error.h"

namespace tenon::reference {

/// Orders of weights [N, K] and of their scales per block [N, K/32] in memory,
/// other than row-major.
///
/// Weights: 16 bytes along K stay together; the chunks of 16 rows follow each
/// other, then those of the next 16 bytes, then the next 16 rows. 1024 bytes
/// are the operand of one 16x16 MFMA over 64 bytes of K, in the order of lanes.
///
/// Scales: a dword holds four, of rows r and r + 16 and of blocks b and b + 4;
/// the dwords of 16 rows follow each other, then those of block b + 1 and so on
/// to b + 3, then the next 8 blocks, then the next 32 rows.
enum class WeightOrder {
  /// Weights of bf16, FP8 or FP4, any N: rows are filled up to 16 with bytes of
  /// 0. K is a whole number of 16 bytes. Scales are filled up to 32 rows and 8
  /// blocks with the code 0.
  Packed,
  /// Weights of FP4, N a multiple of 16 and K of 64, then in the same order.
  /// Scales are filled up to 256 rows and 8 blocks with the code 255, which is
  /// NaN. (ROCm/aiter, aiter/ops/shuffle.py: shuffle_weight and shuffle_scale,
  /// which leaves undefined what fills up.)
  Aiter,
  /// The same after rows of gate and up, the halves of N, have been made to
  /// alternate by 16; N is a multiple of 32. Scales are filled up to 8 blocks.
  AiterInterleaved,
};

/// The bytes of \p weights in the given order. Errors: sizes that are no
/// multiples of what the order says, and a type that is none of its types.
llvm::Expected<std::vector<uint8_t>> orderWeights(const TensorView &weights,
                                                  WeightOrder order);

/// The bytes of \p scales, a view of E8M0, in the given order. Errors as of
/// orderWeights, for N.
llvm::Expected<std::vector<uint8_t>> orderScales(const TensorView &scales,
                                                 WeightOrder order);

} // namespace tenon::reference

#endif // TENON_REFERENCE_WEIGHTORDER_H
