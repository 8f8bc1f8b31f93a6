//===- MlaPlanHarness.cpp - running tenon.mla_plan --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KdaPlanHarness.h"
#include "MlaDecodeHarness.h"
#include "PlanRows.h"

#include "tenon/Reference/MlaPlan.h"
#include "tenon/Run/Run.h"

using namespace tenon;
using namespace tenon::run;

int64_t run::mlaPlanRows(int64_t requests, int64_t workgroups) {
  return 2 * requests + std::max(requests, workgroups);
}

void run::completeRank(Dims &dims) { dims.try_emplace("cp_rank", 0); }

namespace {
class MlaPlanHarness : public Harness {
public:
  explicit MlaPlanHarness(spec::MlaPlanOp op)
      : params{int64_t(op.getRows()), int64_t(op.getWorkgroups())},
        parallel{int64_t(op.getCpSize()), int64_t(op.getCpInterleave())} {}

  llvm::Error completeDims(Dims &dims) const override {
    if (!dims.count("B")) {
      return llvm::make_error<InputError>(
          "the requests are not given: --list seq_len=... or --dim B=...");
    }
    dims.try_emplace("N", mlaPlanRows(dims["B"], params.workgroups));
    completeRank(dims);
    return llvm::Error::success();
  }

  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef operand, const Views &, const Dims &dims,
                   uint64_t seed) const override {
    if (operand == "seq_len") {
      return std::optional(reference::generateIntegers(
          reference::randomKey(seed, operand), dims.at("B"), 0, 100'000));
    }
    // What a plan that is not written shows.
    return std::optional(std::vector<int32_t>(4 * dims.at("N"), -7));
  }

  reference::Distribution distribution(llvm::StringRef) const override {
    return {};
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef, const Views &, const Dims &) const override {
    return std::nullopt;
  }

  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &dims) const override {
    reference::ContextParallel ranks = parallel;
    ranks.rank = dims.at("cp_rank");
    std::vector<int64_t> keys = integerValues(operands.find("seq_len")->second);
    for (int64_t &count : keys) {
      count = ranks.localLength(count);
    }
    auto rows = reference::mlaPlan(params, keys, dims.at("N"));
    if (!rows) {
      return llvm::make_error<InputError>(llvm::toString(rows.takeError()));
    }
    if (keys.empty()) {
      rows->clear(); // nothing is launched
    }
    return std::make_unique<PlanRows>(std::move(*rows), "row");
  }

  double tolerance(llvm::StringRef) const override { return 0; }
  /// A wave writes 64 rows at a time.
  uint64_t floorPerUnit() const override { return 1; }
  std::string unitName() const override { return "row"; }

private:
  reference::MlaPlanParams params;
  reference::ContextParallel parallel;
};
} // namespace

std::unique_ptr<Harness> run::createMlaPlanHarness(spec::MlaPlanOp op) {
  return std::make_unique<MlaPlanHarness>(op);
}
