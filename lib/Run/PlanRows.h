//===- PlanRows.h - what a plan op writes -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_PLANROWS_H
#define TENON_LIB_RUN_PLANROWS_H

#include "tenon/Run/Harness.h"

#include <array>

namespace tenon::run {

/// The rows of the operand `plan`, four integers each, which are one piece.
class PlanRows : public Expectation {
public:
  /// \p what is a row: "chunk".
  PlanRows(std::vector<std::array<int32_t, 4>> rows, std::string what)
      : rows(std::move(rows)), what(std::move(what)) {}

  uint64_t pieces() const override { return 1; }
  void
  piece(uint64_t,
        llvm::function_ref<void(reference::Region &&)> emit) const override;
  uint64_t workUnits() const override { return rows.size(); }

private:
  std::vector<std::array<int32_t, 4>> rows;
  std::string what;
};

/// The values of an operand `plan` that is not given: \p rows, one behind the
/// other. Errors of theirs are those of the input.
llvm::Expected<std::optional<std::vector<int32_t>>>
planIntegers(llvm::Expected<std::vector<std::array<int32_t, 4>>> rows);

} // namespace tenon::run

#endif // TENON_LIB_RUN_PLANROWS_H
