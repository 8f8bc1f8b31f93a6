//===- KdaStep.cpp - one token of Kimi Delta Attention ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KdaStep.h"

#include "Activation.h"

#include <cmath>

namespace tenon::reference {

/// log(1 + e^x)
static double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
}

static double sumOfSquares(const std::vector<double> &values) {
  double sum = 0;
  for (double value : values) {
    sum += value * value;
  }
  return sum;
}

void normalise(std::vector<double> &values, double eps) {
  double scale = 1 / std::sqrt(sumOfSquares(values) + eps);
  for (double &value : values) {
    value *= scale;
  }
}

double kdaDecay(const KdaParams &params, double a, double x) {
  double g = params.gate == GateKind::Bounded
                 ? params.lowerBound * sigmoid(a * x)
                 : -a * softplus(x);
  return std::exp(g);
}

std::vector<double> kdaOutputNorm(const KdaParams &params,
                                  std::vector<double> output,
                                  const std::vector<double> &weight,
                                  const std::vector<double> &gate) {
  double mean = sumOfSquares(output) / double(params.headDim);
  double scale = 1 / std::sqrt(mean + params.normEps);
  for (size_t v = 0; v < output.size(); ++v) {
    output[v] *= scale * weight[v] * sigmoid(gate[v]);
  }
  return output;
}

/// \p matrix of d rows, transposed.
static std::vector<double> transposed(const std::vector<double> &matrix,
                                      int64_t d) {
  std::vector<double> result(matrix.size());
  for (int64_t i = 0; i < d; ++i) {
    for (int64_t j = 0; j < d; ++j) {
      result[j * d + i] = matrix[i * d + j];
    }
  }
  return result;
}

void KdaState::load(const TensorView &pool, int64_t slot, int64_t head,
                    StateLayout layout) {
  values = pool.block({slot, head, 0, 0}, {1, 1, d, d});
  if (layout == StateLayout::VK) {
    values = transposed(values, d);
  }
}

std::vector<double> KdaState::inLayout(StateLayout layout) const {
  return layout == StateLayout::VK ? transposed(values, d) : values;
}

std::vector<double> KdaState::step(const KdaToken &token) {
  std::vector<double> recalled(d, 0.0);
  for (int64_t i = 0; i < d; ++i) {
    double *row = &values[i * d];
    for (int64_t j = 0; j < d; ++j) {
      row[j] *= token.decay[i];
      recalled[j] += row[j] * token.k[i];
    }
  }
  std::vector<double> &u = recalled;
  for (int64_t j = 0; j < d; ++j) {
    u[j] = token.beta * (token.v[j] - recalled[j]);
  }
  std::vector<double> output(d, 0.0);
  for (int64_t i = 0; i < d; ++i) {
    double *row = &values[i * d];
    for (int64_t j = 0; j < d; ++j) {
      row[j] += u[j] * token.k[i];
      output[j] += row[j] * token.q[i];
    }
  }
  double scale = 1 / std::sqrt(double(d));
  for (double &value : output) {
    value *= scale;
  }
  return output;
}

} // namespace tenon::reference
