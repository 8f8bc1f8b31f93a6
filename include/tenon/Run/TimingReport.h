//===- TimingReport.h - modelled times for people and machines --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_RUN_TIMINGREPORT_H
#define TENON_RUN_TIMINGREPORT_H

#include "tenon/Sim/Device.h"

#include "llvm/Support/Error.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tenon::run {

/// The modelled time of a launch: how long, what it was bound by, why waves
/// waited. Ends with a line break.
std::string formatTiming(const sim::TimingResult &timing);

/// The keys of a launch's time in `--stats-json` (docs/reference/json.md).
nlohmann::ordered_json timingToJson(const sim::TimingResult &timing);

/// One launch of a timeline.
struct TracedLaunch {
  std::string kernel;
  const sim::TimingResult *timing = nullptr;
};

/// Writes the timeline of launches that follow each other for Perfetto (the
/// Trace Event format): a process per launch and compute unit, a thread per
/// wave, an event per instruction. Times are engine clocks, shown as
/// microseconds; what lies between launches is left out.
llvm::Error writeTrace(llvm::ArrayRef<TracedLaunch> launches,
                       const std::string &file);

} // namespace tenon::run

#endif // TENON_RUN_TIMINGREPORT_H
