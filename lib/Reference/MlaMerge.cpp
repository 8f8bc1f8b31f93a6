//===- MlaMerge.cpp - Semantics of mla_merge and mla_scale ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/MlaMerge.h"

#include "TakeOperand.h"

#include <cmath>
#include <limits>

namespace tenon::reference {

static constexpr int64_t latentColumns = 512;

MergedRow mergeWeights(llvm::ArrayRef<double> lse) {
  constexpr double none = -std::numeric_limits<double>::infinity();
  double greatest = none;
  for (double part : lse) {
    greatest = std::isfinite(part) ? std::max(greatest, part) : greatest;
  }
  MergedRow row{std::vector<double>(lse.size(), 0.0), none};
  double sum = 0;
  for (auto [weight, part] : llvm::zip_equal(row.weights, lse)) {
    weight = std::isfinite(part) ? std::exp(part - greatest) : 0.0;
    sum += weight;
  }
  if (sum > 0) {
    row.lse = greatest + std::log(sum);
    for (double &weight : row.weights) {
      weight /= sum;
    }
  }
  return row;
}

llvm::Expected<MlaMerge> MlaMerge::create(const Operands &operands,
                                          std::optional<int64_t> rank) {
  MlaMerge op;
  op.rank = rank;
  constexpr ElementType f32 = ElementType::F32, bf16 = ElementType::BF16;
  if (llvm::Error error =
          takeOperand(operands, "lse", f32, {anySize, anySize}, op.lse)) {
    return std::move(error);
  }
  int64_t parts = op.lse.shape[0], rows = op.lse.shape[1];
  llvm::SmallVector<int64_t, 4> shape = {rows, latentColumns};
  if (llvm::Error error =
          takeOperand(operands, "out", {f32, bf16}, shape, op.out)) {
    return std::move(error);
  }
  if (!rank) {
    shape.insert(shape.begin(), parts);
  }
  if (llvm::Error error = takeOperand(operands, rank ? "part" : "parts",
                                      {f32, bf16}, shape, op.values)) {
    return std::move(error);
  }
  if (operands.contains("merged_lse")) {
    if (llvm::Error error =
            takeOperand(operands, "merged_lse", f32, {rows}, op.mergedLse)) {
      return std::move(error);
    }
  }
  return op;
}

void MlaMerge::emitRow(int64_t row,
                       llvm::function_ref<void(Region &&)> emit) const {
  std::vector<double> logs;
  for (int64_t part = 0; part < parts(); ++part) {
    logs.push_back(lse.at({part, row}));
  }
  MergedRow merged = mergeWeights(logs);
  std::vector<double> sum(latentColumns, 0.0);
  for (int64_t part = 0; part < parts(); ++part) {
    double weight = merged.weights[part];
    if (!std::isfinite(logs[part]) || (rank && *rank != part)) {
      continue;
    }
    std::vector<double> row512 =
        rank ? values.block({row, 0}, {1, latentColumns})
             : values.block({part, row, 0}, {1, 1, latentColumns});
    for (auto [total, value] : llvm::zip_equal(sum, row512)) {
      total += weight * value;
    }
  }
  std::string group = "row " + std::to_string(row);
  Region region;
  region.operand = "out";
  region.offset = {row, 0};
  region.extents = {1, latentColumns};
  region.group = group;
  // FP32 weights below 2^-126 are 0.
  region.leastMagnitude = 0x1p-100;
  if (out.type == ElementType::BF16) {
    region.roundedTo = out.type;
  }
  region.expected = std::move(sum);
  emit(std::move(region));
  if (!mergedLse.shape.empty()) {
    emit(lseRegion("merged_lse", {row}, merged.lse, group));
  }
}

Region lseRegion(llvm::StringRef operand, llvm::ArrayRef<int64_t> index,
                 double lse, llvm::StringRef group) {
  Region region;
  region.operand = operand.str();
  region.offset.assign(index.begin(), index.end());
  region.extents.assign(index.size(), 1);
  region.group = group.str();
  if (std::isinf(lse)) {
    region.exact = true;
    region.expectedCodes = {encode(ElementType::F32, lse)};
  } else {
    region.leastMagnitude = 1;
    region.expected = {lse};
  }
  return region;
}

Distribution mlaMergeDistribution(llvm::StringRef operand) {
  // Logarithms of sums over histories of different lengths.
  return operand == "lse" ? Distribution::normal(6, 2)
                          : Distribution::normal(0, 1);
}

} // namespace tenon::reference
