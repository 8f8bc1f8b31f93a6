//===- MoeRoute.cpp - Semantics of tenon.moe_route --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MoeRoute.h"

#include "Activation.h"
#include "TakeOperand.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace tenon;
using namespace tenon::reference;

// Below it FP32 may order sums in another way.
static constexpr double ambiguous = 1e-6;

llvm::Expected<MoeRoute>
MoeRoute::create(const MoeRouteParams &params,
                 const llvm::StringMap<TensorView> &operands) {
  MoeRoute route;
  route.params = params;
  if (llvm::Error error =
          takeOperand(operands, "logits", {ElementType::F32, ElementType::BF16},
                      {anySize, anySize}, route.logits)) {
    return std::move(error);
  }
  int64_t tokens = route.logits.shape[0];
  int64_t experts = route.logits.shape[1];
  if (operands.count("bias")) {
    if (llvm::Error error = takeOperand(operands, "bias", {ElementType::F32},
                                        {experts}, route.bias)) {
      return std::move(error);
    }
  }
  if (llvm::Error error = takeOperand(operands, "ids", {ElementType::I32},
                                      {tokens, anySize}, route.ids)) {
    return std::move(error);
  }
  TensorView weights;
  if (llvm::Error error = takeOperand(operands, "weights", {ElementType::F32},
                                      {tokens, route.ids.shape[1]}, weights)) {
    return std::move(error);
  }
  if (route.ids.shape[1] > experts) {
    return llvm::createStringError(
        "ids: expected at most " + std::to_string(experts) +
        " experts per token, found " + std::to_string(route.ids.shape[1]));
  }
  return route;
}

std::vector<double> MoeRoute::scores(int64_t token) const {
  std::vector<double> scores = logits.block({token, 0}, {1, logits.shape[1]});
  if (params.scoring == Scoring::Sigmoid) {
    llvm::for_each(scores, [](double &score) {
      // Where 1 + e^-x is 1 in FP32, all scores are equal.
      bool isOne = static_cast<float>(1 + std::exp(-score)) == 1.0F;
      score = isOne ? 1 : sigmoid(score);
    });
    return scores;
  }
  double highest = -std::numeric_limits<double>::infinity();
  for (double logit : scores) {
    highest = std::fmax(highest, logit);
  }
  double sum = 0;
  for (double &score : scores) {
    score = std::exp(score - highest);
    sum += std::isnan(score) ? 0 : score;
  }
  llvm::for_each(scores, [&](double &score) { score /= sum; });
  return scores;
}

void MoeRoute::emitToken(int64_t token,
                         llvm::function_ref<void(Region &&)> emit) const {
  int64_t experts = logits.shape[1];
  int64_t chosen = ids.shape[1];
  std::vector<double> own = scores(token);
  std::vector<double> ranked = own;
  if (!bias.shape.empty()) {
    std::vector<double> added = bias.block({0}, {experts});
    for (int64_t expert = 0; expert < experts; ++expert) {
      ranked[expert] += added[expert];
    }
  }
  std::vector<int64_t> order(experts);
  std::iota(order.begin(), order.end(), 0);
  // Stable: of equal ones the lower index stays ahead.
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return ranked[a] > ranked[b] ||
           (std::isnan(ranked[b]) && !std::isnan(ranked[a]));
  });
  // Whether another expert may stand at \p place: a sum nearby is not equal.
  auto isOpen = [&](int64_t place) {
    double value = ranked[order[place]];
    auto hasNear = [&](int64_t step) {
      for (int64_t other = place + step; other >= 0 && other < experts;
           other += step) {
        double gap = std::abs(ranked[order[other]] - value);
        if (!(gap < ambiguous)) {
          return false;
        }
        if (gap > 0) {
          return true;
        }
      }
      return false;
    };
    return hasNear(-1) || hasNear(1);
  };
  std::vector<double> weights;
  double sum = 0;
  for (int64_t place = 0; place < chosen; ++place) {
    double weight = own[order[place]];
    weights.push_back(std::isnan(weight) ? 0 : weight);
    sum += weights.back();
  }
  bool openSum =
      params.renormalize && chosen < experts &&
      ranked[order[chosen - 1]] - ranked[order[chosen]] < ambiguous &&
      isOpen(chosen - 1);
  std::string row = "row " + std::to_string(token);
  for (int64_t place = 0; place < chosen; ++place) {
    bool open = isOpen(place);
    double weight = weights[place] * params.factor;
    if (params.renormalize) {
      weight = sum == 0 ? 0 : weight / sum;
    }
    Region id;
    id.operand = "ids";
    id.offset = {token, place};
    id.extents = {1, 1};
    id.group = row + " place " + std::to_string(place);
    id.exact = true;
    id.skipped = open;
    Region value = id;
    id.expectedCodes = {static_cast<uint32_t>(order[place])};
    value.operand = "weights";
    value.exact = false;
    value.skipped = open || openSum;
    value.expected = {weight};
    emit(std::move(id));
    emit(std::move(value));
  }
}
