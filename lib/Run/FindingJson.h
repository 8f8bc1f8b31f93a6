//===- FindingJson.h - findings of the simulator as JSON --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_FINDINGJSON_H
#define TENON_LIB_RUN_FINDINGJSON_H

#include "tenon/Sim/Check.h"

#include "llvm/ADT/ArrayRef.h"

#include <nlohmann/json.hpp>

namespace tenon::run {

/// The array `findings` of `--stats-json`.
nlohmann::ordered_json findingsToJson(llvm::ArrayRef<sim::Finding> findings);

} // namespace tenon::run

#endif // TENON_LIB_RUN_FINDINGJSON_H
