//===- MoeRoute.h - Semantics of tenon.moe_route ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_MOEROUTE_H
#define TENON_REFERENCE_MOEROUTE_H

#include "tenon/Reference/Region.h"
#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tenon::reference {

enum class Scoring { Sigmoid, Softmax };

/// The static part of a tenon.moe_route.
struct MoeRouteParams {
  Scoring scoring = Scoring::Sigmoid;
  bool renormalize = true;
  double factor = 1;
};

/// tenon.moe_route in double precision. Where FP32 may order experts in another
/// way, because their sums differ by less than 1e-6 and are not equal, ids and
/// weights are left open; so are all weights of a token for which that decides
/// who is among the K, if they are renormalised.
class MoeRoute {
public:
  /// Operands by the names of the contract. Errors name the operand, what is
  /// expected and what was found.
  static llvm::Expected<MoeRoute>
  create(const MoeRouteParams &params,
         const llvm::StringMap<TensorView> &operands);

  int64_t tokens() const { return logits.shape[0]; }

  /// Emits the expected ids and weights of \p token. Can be called from several
  /// threads.
  void emitToken(int64_t token, llvm::function_ref<void(Region &&)> emit) const;

private:
  MoeRoute() = default;

  std::vector<double> scores(int64_t token) const;

  MoeRouteParams params;
  TensorView logits, bias, ids; ///< without bias it has no shape
};

} // namespace tenon::reference

#endif // TENON_REFERENCE_MOEROUTE_H
