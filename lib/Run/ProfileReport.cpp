//===- ProfileReport.cpp - what each instruction took -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/ProfileReport.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace tenon;
using namespace tenon::run;

static std::string stallText(const sim::ProfileEntry &entry) {
  auto most = std::max_element(entry.stalls.begin(), entry.stalls.end());
  if (*most == 0) {
    return "";
  }
  sim::Stall reason = sim::Stall(most - entry.stalls.begin());
  return fmt::format("{} {:.1f}", sim::stallName(reason).str(),
                     double(*most) / double(entry.count));
}

std::string run::formatProfile(llvm::ArrayRef<sim::ProfileEntry> profile,
                               bool isTimed) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{:>12}{}  {:>8}  instruction\n", "executed",
                 isTimed ? fmt::format("  {:>11}  {:<20}", "cycles each",
                                       "of these waiting")
                         : "",
                 "address");
  for (const sim::ProfileEntry &entry : profile) {
    fmt::format_to(out, "{:>12}{}  {:>8x}  {}{}\n", entry.count,
                   isTimed
                       ? fmt::format("  {:>11.1f}  {:<20}",
                                     double(entry.cycles) / double(entry.count),
                                     stallText(entry))
                       : "",
                   entry.address, entry.text,
                   entry.location.empty() ? "" : "  ; " + entry.location);
  }
  return text;
}

nlohmann::ordered_json
run::profileToJson(llvm::ArrayRef<sim::ProfileEntry> profile, bool isTimed) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const sim::ProfileEntry &entry : profile) {
    nlohmann::ordered_json line = {{"pc", entry.address},
                                   {"instruction", entry.text},
                                   {"location", entry.location},
                                   {"count", entry.count}};
    if (isTimed) {
      line["cycles"] = entry.cycles;
      nlohmann::ordered_json stalls = nlohmann::ordered_json::object();
      for (unsigned i = 0; i < sim::stallCount; ++i) {
        if (entry.stalls[i]) {
          stalls[sim::stallName(sim::Stall(i)).str()] = entry.stalls[i];
        }
      }
      line["stalls"] = stalls;
    }
    list.push_back(std::move(line));
  }
  return list;
}
