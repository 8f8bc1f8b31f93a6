//===- WeightOrder.h - Weights in the orders of kernels ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_WEIGHTORDER_H
#define TENON_REFERENCE_WEIGHTORDER_H

#include "tenon/Reference/Tensor.h"

#include "llvm/Support/Error.h"

namespace tenon::reference {

/// Orders of FP4 weights [N, K] and of their scales [N, K/32] in memory, other
/// than row-major.
///
/// Weights: 16 bytes (32 elements along K) stay together; the chunks of 16 rows
/// follow each other, then those of the next 32 elements, then the next 16
/// rows. 1024 bytes are the operand of one 16x16x128 MFMA in the order of
/// lanes.
///
/// Scales: a dword holds four, of rows r and r + 16 and of blocks b and b + 4;
/// the dwords of 16 rows follow each other, then those of block b + 1 and so on
/// to b + 3, then the next 8 blocks, then the next 32 rows. Rows are filled up
/// to 256 and blocks to 8.
///
/// (ROCm/aiter, aiter/ops/shuffle.py: shuffle_weight and shuffle_scale, which
/// fills nothing up where gate and up alternate.)
enum class WeightOrder {
  Aiter,
  /// The same after rows of gate and up, the halves of N, have been made to
  /// alternate by 16.
  AiterInterleaved,
};

/// The bytes of \p weights, a view of FP4, in the given order. Errors: N is not
/// a multiple of 16 (interleaved: 32), K not one of 64.
llvm::Expected<std::vector<uint8_t>> orderWeights(const TensorView &weights,
                                                  WeightOrder order);

/// The bytes of \p scales, a view of E8M0, in the given order. What fills up
/// has the code 255, which is NaN. Errors as of orderWeights, for N.
llvm::Expected<std::vector<uint8_t>> orderScales(const TensorView &scales,
                                                 WeightOrder order);

} // namespace tenon::reference

#endif // TENON_REFERENCE_WEIGHTORDER_H
