//===- PlanRows.cpp - what a plan op writes ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PlanRows.h"

#include "tenon/Run/Run.h"

#include "llvm/ADT/STLExtras.h"

using namespace tenon;
using namespace tenon::run;
using reference::Region;

void PlanRows::piece(uint64_t, llvm::function_ref<void(Region &&)> emit) const {
  for (const auto &[index, row] : llvm::enumerate(rows)) {
    Region region;
    region.operand = "plan";
    region.offset = {int64_t(index), 0};
    region.extents = {1, 4};
    region.group = what + " " + std::to_string(index);
    region.exact = true;
    for (int32_t value : row) {
      region.expectedCodes.push_back(uint32_t(value));
    }
    emit(std::move(region));
  }
}

llvm::Expected<std::optional<std::vector<int32_t>>>
run::planIntegers(llvm::Expected<std::vector<std::array<int32_t, 4>>> rows) {
  if (!rows) {
    return llvm::make_error<InputError>(llvm::toString(rows.takeError()));
  }
  std::vector<int32_t> values;
  for (const auto &row : *rows) {
    values.insert(values.end(), row.begin(), row.end());
  }
  return std::optional(std::move(values));
}
