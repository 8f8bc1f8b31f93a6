//===- Activation.h - activation functions of models ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_REFERENCE_ACTIVATION_H
#define TENON_LIB_REFERENCE_ACTIVATION_H

#include <cmath>

namespace tenon::reference {

inline double sigmoid(double x) {
  // Either form alone overflows on one side.
  if (x >= 0) {
    return 1 / (1 + std::exp(-x));
  }
  double e = std::exp(x);
  return e / (1 + e);
}

inline double silu(double x) { return x * sigmoid(x); }

} // namespace tenon::reference

#endif // TENON_LIB_REFERENCE_ACTIVATION_H
