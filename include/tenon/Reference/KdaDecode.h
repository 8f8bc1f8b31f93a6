//===- KdaDecode.h - Semantics of tenon.kda_decode --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_KDADECODE_H
#define TENON_REFERENCE_KDADECODE_H

#include "tenon/Reference/Generate.h"
#include "tenon/Reference/Kda.h"
#include "tenon/Reference/Region.h"
#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace tenon::reference {

/// The static part of a tenon.kda_decode.
struct KdaDecodeParams : KdaParams {
  bool hasConvStart = false; ///< operand conv_start is present
};

/// One decode step of Kimi Delta Attention in double precision. Per row n and
/// head h, with the D channels of the head in each of q, k and v:
///
///   y[c] = sum_w conv_weight[c, w] * window[c, w], the window being columns
///          start, start+1, start+2 of conv_state and the new input;
///   q, k, v = silu(y);  q and k divided by sqrt(sum of squares + qkEps);
///   S[:, c] *= e^g[c] over the columns c (keys) of the state S[v, k];
///   u = sigmoid(raw_beta) * (v - S k);  S += u k^T;  o = D^-1/2 * S q;
///   out = o, or with output norm
///   out = o / sqrt(mean(o^2) + normEps) * norm_weight * sigmoid(out_gate).
///
/// The last three inputs of each channel go to columns 0, 1, 2 of conv_state.
/// Nothing is rounded: what a kernel stores as bf16 is compared unrounded.
/// Formulas: naive_recurrent_kda of fla-org/flash-linear-attention and the
/// fused decode kernel of vllm-project/vllm.
class KdaDecode {
public:
  /// Operands by the names of the contract: qkv, raw_g, raw_beta, out_gate,
  /// conv_weight, a_log, dt_bias, norm_weight, conv_state, conv_start, state,
  /// slot. conv_state and state hold the contents before the op.
  using Operands = llvm::StringMap<TensorView>;

  /// Checks presence, types and shapes of the operands, that slots are in
  /// range, and distinct unless null, and that start + 3 <= L. Errors name the
  /// operand, what is expected and what was found.
  static llvm::Expected<KdaDecode> create(const KdaDecodeParams &params,
                                          const Operands &operands);

  /// N.
  int64_t rows() const { return qkv.shape[0]; }
  int64_t heads() const { return params.heads; }

  bool isNull(int64_t row) const;

  /// Emits the expected contents of all that row \p row and head \p head write:
  /// out, state, and the head's channels of conv_state. A null row emits only
  /// its zeros of out. Pairs (row, head) are independent and can be asked for
  /// from several threads.
  void rowHead(int64_t row, int64_t head,
               llvm::function_ref<void(Region &&)> emit) const;

private:
  KdaDecode() = default;

  llvm::Error checkSlots() const;
  llvm::Error checkConvStarts() const;
  int64_t convColumns() const;
  int64_t convStart(int64_t row) const;
  std::vector<uint64_t> convWindow(int64_t row, int64_t channel) const;
  std::vector<double> convolve(int64_t row, int64_t channel) const;
  void emitConvState(int64_t row, int64_t head,
                     llvm::function_ref<void(Region &&)> emit) const;

  KdaDecodeParams params;
  TensorView qkv, rawG, rawBeta, outGate, convWeight, aLog, dtBias, normWeight,
      convState, convStarts, state, slot;
};

/// The distribution of generated data of a floating-point operand, after what
/// is known of the model in service (vllm-project/vllm,
/// tests/models/kimi_k3/test_amd_kda_chunk.py): nothing for other names.
std::optional<Distribution> kdaDecodeDistribution(llvm::StringRef operand);

} // namespace tenon::reference

#endif // TENON_REFERENCE_KDADECODE_H
