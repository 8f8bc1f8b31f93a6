//===- Format.cpp - results for people and machines -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FindingJson.h"

#include "tenon/Run/ProfileReport.h"
#include "tenon/Run/Run.h"
#include "tenon/Run/TimingReport.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::run;

static std::string className(unsigned index) {
  return sim::instructionClassName(static_cast<sim::InstructionClass>(index))
      .str();
}

/// Wave instructions of all launches per unit of work.
static double perUnit(const RunResult &result) {
  uint64_t total = 0;
  for (const LaunchStats &launch : result.launches) {
    total += launch.waveInstructions;
  }
  return result.workUnits == 0 ? 0.0
                               : static_cast<double>(total) / result.workUnits;
}

std::string run::formatResult(const RunResult &result) {
  std::string text;
  auto out = std::back_inserter(text);
  for (const LaunchStats &launch : result.launches) {
    if (!launch.profile.empty()) {
      text += formatProfile(launch.profile, launch.timing.has_value());
    }
    fmt::format_to(
        out,
        "launch {}: {} x {} x {} workgroups of {}, {} wave "
        "instructions in {:.2f} s ({:.1f} million/s)\n",
        launch.kernel, launch.grid[0], launch.grid[1], launch.grid[2],
        launch.workgroupSize[0], launch.waveInstructions, launch.seconds,
        launch.seconds > 0.0 ? launch.waveInstructions / launch.seconds / 1e6
                             : 0.0);
    if (launch.timing) {
      text += formatTiming(*launch.timing);
    }
  }
  if (std::optional<PlanTime> time = result.time();
      time && result.launches.size() > 1) {
    fmt::format_to(out,
                   "{} dependent launches: {:.2f} us of kernels, {:.2f} us end "
                   "to end\n",
                   result.launches.size(), time->kernelUs, time->endToEndUs);
  }
  if (result.launches.empty()) {
    text += "nothing to launch\n";
  }
  if (result.workUnits != 0) {
    fmt::format_to(out, "{:.1f} wave instructions per {}; the floor is {}\n",
                   perUnit(result), result.unitName, result.floorPerUnit);
  }
  for (const OperandCheck &check : result.checks) {
    fmt::format_to(out, "{} {:<10} {}", check.passed ? "ok    " : "FAILED",
                   check.operand, check.errors.summary());
    if (check.tolerance > 0.0) {
      fmt::format_to(out, " (tolerance {:g})", check.tolerance);
    }
    if (check.skippedGroups != 0) {
      fmt::format_to(out, "; {} of {} groups compared", check.errors.groups(),
                     check.errors.groups() + check.skippedGroups);
    }
    if (check.strayBytes != 0) {
      fmt::format_to(out, "; {} bytes outside the result were changed: {}",
                     check.strayBytes, check.firstStray);
    }
    text += "\n";
  }
  for (const std::string &remark : result.remarks) {
    fmt::format_to(out, "note   {}\n", remark);
  }
  return text;
}

std::string run::statsToJson(const RunResult &result) {
  nlohmann::ordered_json launches = nlohmann::ordered_json::array();
  for (const LaunchStats &launch : result.launches) {
    nlohmann::ordered_json instructions;
    for (unsigned index = 0; index < sim::instructionClassCount; ++index) {
      instructions[className(index)] = launch.instructions[index];
    }
    nlohmann::ordered_json entry = {
        {"kernel", launch.kernel},
        {"grid", launch.grid},
        {"workgroup_size", launch.workgroupSize},
        {"wave_instructions", launch.waveInstructions},
        {"instructions", instructions}};
    // A launch of nothing but padding has no such ratio.
    entry["instructions_per_row_head"] =
        result.workUnits == 0
            ? nlohmann::ordered_json()
            : nlohmann::ordered_json(
                  static_cast<double>(launch.waveInstructions) /
                  result.workUnits);
    entry["floor"] = result.floorPerUnit;
    if (launch.timing) {
      entry["timing"] = timingToJson(*launch.timing);
    }
    if (!launch.profile.empty()) {
      entry["profile"] =
          profileToJson(launch.profile, launch.timing.has_value());
    }
    launches.push_back(std::move(entry));
  }
  nlohmann::ordered_json root;
  root["launches"] = launches;
  if (std::optional<PlanTime> time = result.time()) {
    root["timing"] = {{"us", time->kernelUs},
                      {"us_end_to_end", time->endToEndUs}};
  }
  root["findings"] = findingsToJson(result.findings);
  return root.dump(2) + "\n";
}
