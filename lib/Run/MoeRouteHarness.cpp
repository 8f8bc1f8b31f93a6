//===- MoeRouteHarness.cpp - running tenon.moe_route ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MoeRouteHarness.h"

#include "tenon/Reference/MoeRoute.h"
#include "tenon/Run/Run.h"

#include "llvm/Support/MathExtras.h"

using namespace tenon;
using namespace tenon::run;
using reference::MoeRoute;
using reference::MoeRouteParams;

namespace {
/// A piece is a token.
class MoeRouteExpectation : public Expectation {
public:
  explicit MoeRouteExpectation(MoeRoute reference)
      : reference(std::move(reference)) {}

  uint64_t pieces() const override { return reference.tokens(); }
  void
  piece(uint64_t index,
        llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference.emitToken(int64_t(index), emit);
  }
  uint64_t workUnits() const override { return reference.tokens(); }

private:
  MoeRoute reference;
};

class MoeRouteHarness : public Harness {
public:
  explicit MoeRouteHarness(spec::MoeRouteOp op)
      : experts(op.getExperts()), chosen(op.getExpertsPerToken()) {
    params.scoring = op.getScoring() == spec::Scoring::Sigmoid
                         ? reference::Scoring::Sigmoid
                         : reference::Scoring::Softmax;
    params.renormalize = op.getRenormalize();
    params.factor = op.getFactor().convertToDouble();
  }

  llvm::Error completeDims(Dims &dims) const override {
    if (!dims.count("T")) {
      return llvm::make_error<InputError>(
          "the number of tokens is not given: --dim T=...");
    }
    return llvm::Error::success();
  }
  /// What ids that are not written show.
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef, const Views &, const Dims &dims,
                   uint64_t) const override {
    return std::optional(std::vector<int32_t>(dims.at("T") * chosen, -1));
  }
  reference::Distribution distribution(llvm::StringRef operand) const override {
    return operand == "bias" ? reference::Distribution::normal(0, 0.1)
                             : reference::Distribution::normal(0, 2);
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef, const Views &, const Dims &) const override {
    return std::nullopt;
  }
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &) const override {
    auto reference = MoeRoute::create(params, operands);
    if (!reference) {
      return llvm::make_error<InputError>(
          llvm::toString(reference.takeError()));
    }
    return std::make_unique<MoeRouteExpectation>(std::move(*reference));
  }
  /// Some units in the last place of FP32 each for the exponential, reciprocals
  /// and the sum.
  double tolerance(llvm::StringRef) const override { return 4e-6; }
  /// Load, exponential, reciprocal and comparison of each expert.
  uint64_t floorPerUnit() const override {
    return 4 * llvm::divideCeil(experts, 64);
  }
  std::string unitName() const override { return "token"; }

private:
  MoeRouteParams params;
  int64_t experts, chosen;
};
} // namespace

std::unique_ptr<Harness> run::createMoeRouteHarness(spec::MoeRouteOp op) {
  return std::make_unique<MoeRouteHarness>(op);
}
