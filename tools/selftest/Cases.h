//===- Cases.h - what the self-test launches --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TOOLS_SELFTEST_CASES_H
#define TENON_TOOLS_SELFTEST_CASES_H

#include "Data.h"

#include <nlohmann/json.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::selftest {

/// One case of cases.json.
struct Case {
  std::string name, op, statics;
  std::map<std::string, int64_t> sizes; ///< by the symbols of the contract
  std::map<std::string, std::vector<int64_t>> integers; ///< by operand
  std::vector<int64_t> scalars;
  /// Of operands that are written: the greatest relative L2 error, or 0 where
  /// all bytes have to be the expected ones.
  std::map<std::string, double> tolerances;
  uint64_t seed = 0;
  /// What a simulated launch gave, by operand.
  std::map<std::string, Digest> expected;
  std::optional<double> modelledMicroseconds;
};

/// Reads cases.json. Throws std::runtime_error with a message that names the
/// case and the key.
std::vector<Case> readCases(const nlohmann::json &file);

/// The file with what was recorded for its cases.
nlohmann::json withExpectations(nlohmann::json file,
                                const std::vector<Case> &cases);

} // namespace tenon::selftest

#endif // TENON_TOOLS_SELFTEST_CASES_H
