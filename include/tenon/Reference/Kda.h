//===- Kda.h - what the KDA ops have in common ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_KDA_H
#define TENON_REFERENCE_KDA_H

#include <cstdint>

namespace tenon::reference {

/// Decay gate g of a channel, with x = raw_g + dt_bias and a = exp(a_log) of
/// the head; the state decays by e^g.
enum class GateKind {
  Bounded,  ///< g = lower_bound * sigmoid(a * x)
  Softplus, ///< g = -a * log(1 + e^x)
};

/// Which slots are null: their rows of out are zeros, no state is touched.
enum class NullSlot {
  Le0, ///< slot <= 0
  Lt0, ///< slot < 0
};

enum class ConvLayout {
  SD, ///< conv_state is [S, L, 3*H*D]
  DS, ///< conv_state is [S, 3*H*D, L]
};

enum class StateLayout {
  VK, ///< state is [S, H, D(v), D(k)]
  KV, ///< state is [S, H, D(k), D(v)]
};

/// Inputs of the convolution that conv_state holds: its width less one.
inline constexpr int64_t kdaWindowColumns = 3;

/// The static part that tenon.kda_decode and tenon.kda_prefill share.
struct KdaParams {
  int64_t heads = 0;     ///< H
  int64_t headDim = 128; ///< D, of keys and of values
  GateKind gate = GateKind::Bounded;
  double lowerBound = -5; ///< of the bounded gate; negative
  bool outputNorm = true; ///< operands norm_weight and out_gate are present
  double qkEps = 1e-6;    ///< added to the sum of squares of q and of k
  double normEps = 1e-5;  ///< added to the mean of squares of the output
  NullSlot nullSlot = NullSlot::Le0;
  ConvLayout convLayout = ConvLayout::SD;
  StateLayout stateLayout = StateLayout::VK;

  bool isNull(int64_t slot) const {
    return slot < (nullSlot == NullSlot::Le0 ? 1 : 0);
  }
};

} // namespace tenon::reference

#endif // TENON_REFERENCE_KDA_H
