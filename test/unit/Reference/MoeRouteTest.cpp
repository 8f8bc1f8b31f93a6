//===- MoeRouteTest.cpp - semantics of tenon.moe_route ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MoeRoute.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using namespace tenon::reference;

namespace {
/// One token whose logits and bias are given, and its experts.
struct Token {
  std::vector<float> logits, bias;
  int64_t chosen = 1;
  MoeRouteParams params;

  std::vector<Region> regions() const {
    auto bytes = [](const std::vector<float> &values) {
      std::vector<uint8_t> result(values.size() * 4);
      std::memcpy(result.data(), values.data(), result.size());
      return result;
    };
    std::vector<uint8_t> logitBytes = bytes(logits), biasBytes = bytes(bias);
    MemorySource logitSource(logitBytes), biasSource(biasBytes);
    auto experts = static_cast<int64_t>(logits.size());
    llvm::StringMap<TensorView> operands;
    operands["logits"] =
        TensorView::dense(ElementType::F32, {1, experts}, &logitSource);
    if (!bias.empty()) {
      operands["bias"] =
          TensorView::dense(ElementType::F32, {experts}, &biasSource);
    }
    operands["ids"] = TensorView::dense(ElementType::I32, {1, chosen}, nullptr);
    operands["weights"] =
        TensorView::dense(ElementType::F32, {1, chosen}, nullptr);
    MoeRoute route = llvm::cantFail(MoeRoute::create(params, operands));
    std::vector<Region> regions;
    route.emitToken(0, [&](Region &&region) { regions.push_back(region); });
    return regions;
  }
  std::vector<int64_t> ids() const {
    std::vector<int64_t> ids;
    for (const Region &region : regions()) {
      if (region.operand == "ids") {
        ids.push_back(static_cast<int64_t>(region.expectedCodes[0]));
      }
    }
    return ids;
  }
  std::vector<double> weights() const {
    std::vector<double> weights;
    for (const Region &region : regions()) {
      if (region.operand == "weights") {
        weights.push_back(region.expected[0]);
      }
    }
    return weights;
  }
};

constexpr float notANumber = std::numeric_limits<float>::quiet_NaN();
} // namespace

// The bias decides who is chosen, and is no part of the weights; sigmoid(ln 3)
// is 3/4.
TEST(MoeRoute, BiasSelectsOnly) {
  float ln3 = std::log(3.0F);
  Token token{{0, ln3, -ln3, 0}, {0, 0, 1, 0.4F}, 3, {}};
  EXPECT_EQ(token.ids(), (std::vector<int64_t>{2, 3, 1}));
  std::vector<double> weights = token.weights();
  EXPECT_NEAR(weights[0], 0.25 / 1.5, 1e-7);
  EXPECT_NEAR(weights[1], 0.5 / 1.5, 1e-7);
  EXPECT_NEAR(weights[2], 0.75 / 1.5, 1e-7);
}

// Of equal scores the lower index comes first, NaN behind all numbers with
// weight 0.
TEST(MoeRoute, TiesAndNaN) {
  Token token{
      {notANumber, 1, 2, 1, notANumber}, {}, 5, {Scoring::Sigmoid, false, 1}};
  EXPECT_EQ(token.ids(), (std::vector<int64_t>{2, 1, 3, 0, 4}));
  EXPECT_EQ(token.weights()[3], 0);
  EXPECT_EQ(token.weights()[4], 0);
}

// Softmax over the numbers: 1 : 2 : 5, times the factor.
TEST(MoeRoute, Softmax) {
  Token token{{0, std::log(2.0F), notANumber, std::log(5.0F)},
              {},
              2,
              {Scoring::Softmax, false, 8}};
  EXPECT_EQ(token.ids(), (std::vector<int64_t>{3, 1}));
  EXPECT_NEAR(token.weights()[0], 5, 1e-6);
  EXPECT_NEAR(token.weights()[1], 2, 1e-6);
}

// Nothing to normalise by: weights are 0.
TEST(MoeRoute, NoNumbers) {
  Token token{{notANumber, notANumber}, {}, 2, {}};
  EXPECT_EQ(token.ids(), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(token.weights(), (std::vector<double>{0, 0}));
}

// Sigmoid is 1 in FP32 from 18 on: those are equal.
TEST(MoeRoute, Saturation) {
  Token token{{20, 0, 40, 18}, {}, 3, {}};
  EXPECT_EQ(token.ids(), (std::vector<int64_t>{0, 2, 3}));
  EXPECT_FALSE(llvm::any_of(
      token.regions(), [](const Region &region) { return region.skipped; }));
}

// Scores that FP32 may order in another way leave both places open, and all
// weights where they decide who is chosen.
TEST(MoeRoute, OpenPlaces) {
  Token token{{10.001F, 10, 0, -1}, {}, 3, {}};
  std::vector<bool> skipped;
  for (const Region &region : token.regions()) {
    skipped.push_back(region.skipped);
  }
  EXPECT_EQ(skipped, (std::vector<bool>{true, true, true, true, false, false}));
  Token cut{{10.001F, 10, 0, -1}, {}, 1, {}};
  EXPECT_TRUE(llvm::all_of(
      cut.regions(), [](const Region &region) { return region.skipped; }));
}
