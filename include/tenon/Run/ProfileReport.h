//===- ProfileReport.h - what each instruction took -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUN_PROFILEREPORT_H
#define TENON_RUN_PROFILEREPORT_H

#include "tenon/Sim/Device.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tenon::run {

/// A line per instruction that was executed: how often, and for a launch that
/// was timed the cycles of one execution and what a wave waited for most. Ends
/// with a line break.
std::string formatProfile(llvm::ArrayRef<sim::ProfileEntry> profile,
                          bool isTimed);

/// The value of "profile" in `--stats-json` (docs/reference/json.md).
nlohmann::ordered_json profileToJson(llvm::ArrayRef<sim::ProfileEntry> profile,
                                     bool isTimed);

} // namespace tenon::run

#endif // TENON_RUN_PROFILEREPORT_H
