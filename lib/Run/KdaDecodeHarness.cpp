//===- KdaDecodeHarness.cpp - running tenon.kda_decode ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KdaDecodeHarness.h"
#include "KdaParams.h"

#include "tenon/Reference/KdaDecode.h"
#include "tenon/Run/Run.h"

using namespace tenon;
using namespace tenon::run;
using reference::KdaDecode;
using reference::KdaDecodeParams;

namespace {
/// The reference, a piece being one row and head.
class KdaExpectation : public Expectation {
public:
  explicit KdaExpectation(KdaDecode reference)
      : reference(std::move(reference)) {}

  uint64_t pieces() const override {
    return reference.rows() * reference.heads();
  }

  void
  piece(uint64_t index,
        llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference.rowHead(index / reference.heads(), index % reference.heads(),
                      emit);
  }

  uint64_t workUnits() const override {
    uint64_t rows = 0;
    for (int64_t row = 0; row < reference.rows(); ++row) {
      rows += !reference.isNull(row);
    }
    return rows * reference.heads();
  }

private:
  KdaDecode reference;
};

class KdaDecodeHarness : public Harness {
public:
  explicit KdaDecodeHarness(KdaDecodeParams params) : params(params) {}

  llvm::Error completeDims(Dims &dims) const override;
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef operand, const Views &integers,
                   const Dims &dims, uint64_t seed) const override;
  reference::Distribution distribution(llvm::StringRef operand) const override {
    return reference::kdaDecodeDistribution(operand).value_or(
        reference::Distribution());
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef operand, const Views &integers,
           const Dims &dims) const override;
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &dims) const override;
  double tolerance(llvm::StringRef operand) const override {
    // bf16 rounding of the output; FP32 arithmetic on the state; conv_state is
    // moved, not computed.
    return operand == "out" ? 4e-3 : operand == "state" ? 2e-5 : 0.0;
  }
  uint64_t floorPerUnit() const override {
    // Four operations per state element, packed in pairs, and one wide load and
    // store per four, 64 lanes each.
    uint64_t elements = params.headDim * params.headDim;
    return 4 * elements / (2 * 64) + 2 * elements / (4 * 64);
  }
  std::string unitName() const override { return "(row, head)"; }

private:
  int64_t firstSlot() const {
    return params.nullSlot == reference::NullSlot::Le0 ? 1 : 0;
  }

  KdaDecodeParams params;
};
} // namespace

llvm::Error KdaDecodeHarness::completeDims(Dims &dims) const {
  if (!dims.count("N")) {
    return llvm::make_error<InputError>(
        "the number of requests is not given: --dim N=...");
  }
  dims.try_emplace("S", dims["N"] + 1);
  dims.try_emplace("L", 3);
  if (dims["L"] < 3) {
    return llvm::make_error<InputError>(
        "conv_state: L must be at least 3, found " + std::to_string(dims["L"]));
  }
  return llvm::Error::success();
}

llvm::Expected<std::optional<std::vector<int32_t>>>
KdaDecodeHarness::generateIntegers(llvm::StringRef operand, const Views &,
                                   const Dims &dims, uint64_t seed) const {
  uint64_t key = reference::randomKey(seed, operand);
  int64_t requests = dims.at("N");
  if (operand == "slot") {
    auto slots =
        reference::generateDistinct(key, requests, firstSlot(), dims.at("S"));
    if (!slots) {
      llvm::consumeError(slots.takeError());
      return llvm::make_error<InputError>(
          "slot: " + std::to_string(requests) +
          " distinct slots that are not null need S of at least " +
          std::to_string(requests + firstSlot()) + ", found " +
          std::to_string(dims.at("S")));
    }
    return std::optional(std::move(*slots));
  }
  if (operand == "conv_start") {
    return std::optional(
        reference::generateIntegers(key, requests, 0, dims.at("L") - 3 + 1));
  }
  return std::optional<std::vector<int32_t>>();
}

std::optional<llvm::DenseSet<uint64_t>>
KdaDecodeHarness::liveRows(llvm::StringRef operand, const Views &integers,
                           const Dims &) const {
  if (operand != "state" && operand != "conv_state") {
    return std::nullopt;
  }
  const reference::TensorView &slots = integers.find("slot")->second;
  llvm::DenseSet<uint64_t> live;
  for (int64_t row = 0; row < slots.shape[0]; ++row) {
    int64_t slot = slots.intAt({row});
    if (slot >= firstSlot()) {
      live.insert(slot);
    }
  }
  return live;
}

llvm::Expected<std::unique_ptr<Expectation>>
KdaDecodeHarness::expect(const Views &operands, const Dims &) const {
  auto reference = KdaDecode::create(params, operands);
  if (!reference) {
    return llvm::make_error<InputError>(llvm::toString(reference.takeError()));
  }
  return std::make_unique<KdaExpectation>(std::move(*reference));
}

std::unique_ptr<Harness> run::createKdaDecodeHarness(spec::KdaDecodeOp op) {
  KdaDecodeParams params;
  static_cast<reference::KdaParams &>(params) = kdaParams(op);
  params.hasConvStart = static_cast<bool>(op.getConvStart());
  return std::make_unique<KdaDecodeHarness>(params);
}
