//===- KdaStep.h - one token of Kimi Delta Attention ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formulas that a decode step and whole sequences share, of one head.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_REFERENCE_KDASTEP_H
#define TENON_LIB_REFERENCE_KDASTEP_H

#include "tenon/Reference/Kda.h"
#include "tenon/Reference/Tensor.h"

#include <vector>

namespace tenon::reference {

/// \p values divided by the square root of their sum of squares and \p eps.
void normalise(std::vector<double> &values, double eps);

/// e^g of a channel, with \p a = exp(a_log) and \p x = raw_g + dt_bias.
double kdaDecay(const KdaParams &params, double a, double x);

/// out of \p output, \p weight and the raw output gate \p gate, with norm.
std::vector<double> kdaOutputNorm(const KdaParams &params,
                                  std::vector<double> output,
                                  const std::vector<double> &weight,
                                  const std::vector<double> &gate);

/// What a head makes of one token; q and k are normalised, q not scaled.
struct KdaToken {
  std::vector<double> q, k, v;
  std::vector<double> decay; ///< e^g
  double beta = 0;
};

/// The state of a head.
class KdaState {
public:
  /// Zeros, for heads of \p d channels.
  explicit KdaState(int64_t d) : d(d), values(d * d, 0.0) {}

  /// Takes the state of \p head from \p slot of a pool.
  void load(const TensorView &pool, int64_t slot, int64_t head,
            StateLayout layout);

  /// Goes on by a token and returns its output, scaled.
  std::vector<double> step(const KdaToken &token);

  /// The state in the order of a pool.
  std::vector<double> inLayout(StateLayout layout) const;

private:
  int64_t d;
  /// [k][v]: sums over k then run along rows, which compilers vectorise without
  /// changing their order.
  std::vector<double> values;
};

} // namespace tenon::reference

#endif // TENON_LIB_REFERENCE_KDASTEP_H
