//===- KdaPlanHarness.cpp - running tenon.kda_plan --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KdaPlanHarness.h"
#include "PlanRows.h"

#include "tenon/Reference/KdaPlan.h"
#include "tenon/Run/Run.h"

#include <limits>

using namespace tenon;
using namespace tenon::run;

llvm::Error run::expandLengths(Lists &lists, Dims &dims) {
  auto found = lists.find("lengths");
  if (found == lists.end()) {
    return llvm::Error::success();
  }
  if (lists.count("cu_seqlens")) {
    return llvm::make_error<InputError>(
        "give the list lengths or cu_seqlens, not both");
  }
  std::vector<int64_t> boundaries = {0};
  for (int64_t length : found->second) {
    int64_t room = std::numeric_limits<int32_t>::max() - boundaries.back();
    if (length < 0 || length > room) {
      return llvm::make_error<InputError>(
          "--list lengths: expected lengths of 0 or more, below 2^31 in all, "
          "found " +
          std::to_string(length));
    }
    boundaries.push_back(boundaries.back() + length);
  }
  lists.erase(found);
  dims.try_emplace("N+1", int64_t(boundaries.size()));
  dims.try_emplace("T", boundaries.back());
  lists["cu_seqlens"] = std::move(boundaries);
  return llvm::Error::success();
}

std::vector<int64_t> run::integerValues(const reference::TensorView &view) {
  std::vector<int64_t> values;
  for (int64_t index = 0; index < view.shape[0]; ++index) {
    values.push_back(view.intAt(index));
  }
  return values;
}

namespace {
class KdaPlanHarness : public Harness {
public:
  llvm::Error expandLists(Lists &lists, Dims &dims) const override {
    return expandLengths(lists, dims);
  }

  llvm::Error completeDims(Dims &dims) const override {
    if (!dims.count("N+1")) {
      return llvm::make_error<InputError>(
          "the sequences are not given: --list lengths=...");
    }
    if (dims["N+1"] < 1) {
      return llvm::make_error<InputError>(
          "cu_seqlens: expected a first and an end, found no value");
    }
    if (!dims.count("C")) {
      if (!dims.count("T")) {
        return llvm::make_error<InputError>(
            "the number of chunks is not given: --dim C=...");
      }
      dims["C"] = reference::kdaChunkCount(dims["T"], dims["N+1"] - 1);
    }
    return llvm::Error::success();
  }

  llvm::Expected<std::optional<std::vector<int32_t>>>
  generateIntegers(llvm::StringRef operand, const Views &, const Dims &dims,
                   uint64_t) const override {
    if (operand == "plan") {
      // What a plan that is not written shows.
      return std::optional(std::vector<int32_t>(4 * dims.at("C"), -1));
    }
    return std::optional<std::vector<int32_t>>();
  }

  reference::Distribution distribution(llvm::StringRef) const override {
    return {};
  }
  std::optional<llvm::DenseSet<uint64_t>>
  liveRows(llvm::StringRef, const Views &, const Dims &) const override {
    return std::nullopt;
  }

  llvm::Expected<std::unique_ptr<Expectation>>
  expect(const Views &operands, const Dims &) const override {
    auto rows =
        reference::kdaPlan(integerValues(operands.find("cu_seqlens")->second),
                           operands.find("plan")->second.shape[0]);
    if (!rows) {
      return llvm::make_error<InputError>(llvm::toString(rows.takeError()));
    }
    return std::make_unique<PlanRows>(std::move(*rows), "chunk");
  }

  double tolerance(llvm::StringRef) const override { return 0; }
  /// A wave writes the rows of 64 chunks.
  uint64_t floorPerUnit() const override { return 1; }
  std::string unitName() const override { return "chunk"; }
};
} // namespace

std::unique_ptr<Harness> run::createKdaPlanHarness(spec::KdaPlanOp) {
  return std::make_unique<KdaPlanHarness>();
}
