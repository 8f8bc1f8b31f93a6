//===- MlaMergeHarness.cpp - running mla_merge and mla_scale ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MlaMergeHarness.h"

#include "tenon/Reference/MlaMerge.h"
#include "tenon/Run/Run.h"

using namespace tenon;
using namespace tenon::run;
using reference::MlaMerge;

namespace {
/// The reference, a piece being one row.
class MergeExpectation : public Expectation {
public:
  explicit MergeExpectation(MlaMerge reference)
      : reference(std::move(reference)) {}

  uint64_t pieces() const override { return reference.rows(); }
  void
  piece(uint64_t index,
        llvm::function_ref<void(reference::Region &&)> emit) const override {
    reference.emitRow(static_cast<int64_t>(index), emit);
  }
  uint64_t workUnits() const override {
    return reference.rows() * reference.parts();
  }

private:
  MlaMerge reference;
};

class MergeHarness : public Harness {
public:
  explicit MergeHarness(bool scales) : scales(scales) {}

  llvm::Error completeDims(Dims &dims) const override;
  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef, const Views &, const Dims &,
                   uint64_t) const override {
    return std::optional<std::vector<int32_t>>();
  }
  reference::Distribution distribution(llvm::StringRef operand) const override {
    return reference::mlaMergeDistribution(operand);
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef, const Views &, const Dims &) const override {
    return std::nullopt;
  }
  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &dims) const override;
  /// Of FP32 weights with exponents of up to about 20.
  double tolerance(llvm::StringRef) const override { return 1e-5; }
  /// A load of 16 bytes per lane and four packed operations on 512 values.
  uint64_t floorPerUnit() const override { return scales ? 1 : 5; }
  std::string unitName() const override { return "(part, row)"; }

private:
  bool scales;
};
} // namespace

llvm::Error MergeHarness::completeDims(Dims &dims) const {
  for (const char *symbol : {"W", "R"}) {
    if (!dims.count(symbol)) {
      return llvm::make_error<InputError>(
          std::string(symbol[0] == 'W' ? "the number of parts"
                                       : "the number of rows") +
          " is not given: --dim " + symbol + "=...");
    }
  }
  if (scales) {
    dims.try_emplace("rank", 0);
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Expectation>>
MergeHarness::expect(const Views &operands, const Dims &dims) const {
  auto reference = MlaMerge::create(
      operands, scales ? std::optional(dims.at("rank")) : std::nullopt);
  if (!reference) {
    return llvm::make_error<InputError>(llvm::toString(reference.takeError()));
  }
  return std::make_unique<MergeExpectation>(std::move(*reference));
}

std::unique_ptr<Harness> run::createMlaMergeHarness(spec::MlaMergeOp) {
  return std::make_unique<MergeHarness>(/*scales=*/false);
}

std::unique_ptr<Harness> run::createMlaScaleHarness(spec::MlaScaleOp) {
  return std::make_unique<MergeHarness>(/*scales=*/true);
}
