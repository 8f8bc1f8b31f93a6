//===- MoeExperts.h - Semantics of tenon.moe_experts ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_REFERENCE_MOEEXPERTS_H
#define TENON_REFERENCE_MOEEXPERTS_H

#include "tenon/Reference/BlockScale.h"
#include "tenon/Reference/Gemm.h"
#include "tenon/Reference/Region.h"
#include "tenon/Reference/Tensor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

namespace tenon::reference {

/// The static part of a tenon.moe_experts.
struct MoeExpertsParams {
  bool isSitu = true; ///< else SiLU
  double beta = 4, linearBeta = 25;
  /// What x, the activation's result and rows of routes are rounded to: F32
  /// (not at all), BF16, FP8E4M3 or FP4E2M1. Rows of routes in FP8E4M3 are
  /// themselves the result.
  ElementType input = ElementType::BF16;
  ElementType intermediate = ElementType::BF16;
  ElementType routes = ElementType::BF16;
  ScaleMode scaleMode = ScaleMode::Up;

  bool hasRouteRows() const { return routes == ElementType::FP8E4M3; }
};

/// tenon.moe_experts in double precision, rounded where the op rounds. Weights
/// are row-major.
class MoeExperts {
public:
  using Operands = llvm::StringMap<TensorView>;

  /// Errors name the operand, what is expected and what was found.
  static llvm::Expected<MoeExperts> create(const MoeExpertsParams &params,
                                           const Operands &operands);

  /// Tokens that may have routes: what num_tokens says, or T.
  int64_t tokens() const { return tokenCount; }
  int64_t experts() const { return w13.shape[0]; }
  int64_t expertsPerToken() const { return ids.shape[1]; }

  /// The expert of a route, -1 where there is none.
  int64_t expertOf(int64_t token, int64_t place) const;
  /// What the id \p id stands for among \p experts experts, through \p map
  /// where it is not null.
  static int64_t expertOf(int64_t id, const TensorView *map, int64_t experts);

  /// Emits the expected contents of the rows of tokens \p block. Can be called
  /// from several threads. An error is one of all rows of the block, since a
  /// sum in FP32 may round a value between two codes to the other one, which
  /// shows in all of the row. Rows that must be 0 are groups of their own.
  void emitTokens(IndexRange block,
                  llvm::function_ref<void(Region &&)> emit) const;

  /// Emits the same regions as skipped ones, without computing anything.
  void skipTokens(IndexRange block,
                  llvm::function_ref<void(Region &&)> emit) const;

  /// The rows of routes of \p block as they are summed or are the result,
  /// [tokens, K, D]; zeros where there is no route.
  std::vector<double> routeRows(IndexRange block) const;

  /// The distance of the rows of out of tokens \p block from those of an op
  /// that rounds nothing but x and the weights, which are given: relative, as
  /// 2-norms over all rows.
  double quantisationError(IndexRange block) const;

private:
  MoeExperts() = default;

  std::vector<double> sums(IndexRange block) const;

  std::vector<std::vector<double>>
  expertRows(int64_t expert, llvm::ArrayRef<std::vector<double>> inputs) const;
  std::vector<double> round(llvm::ArrayRef<double> values,
                            ElementType type) const;
  Region regionOf(std::vector<int64_t> tokens) const;
  std::vector<Region> regions(IndexRange block) const;

  MoeExpertsParams params;
  int64_t tokenCount = 0;
  /// An absent operand has no shape.
  TensorView x, ids, weights, w13, w13Scale, w2, w2Scale, expertMap, out;
};

} // namespace tenon::reference

#endif // TENON_REFERENCE_MOEEXPERTS_H
