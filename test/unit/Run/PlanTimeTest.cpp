//===- PlanTimeTest.cpp - launches that depend on each other ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/Run.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace tenon;
using namespace tenon::run;

namespace {

LaunchStats launchOf(double us) {
  LaunchStats stats;
  stats.timing.emplace();
  stats.timing->us = us;
  stats.timing->usEndToEnd = us + 1.5;
  stats.timing->dependentGapUs = 0.25;
  return stats;
}

/// Kernels add up to 10 + 20 + 40; the host sees 11.5 for the first and a gap
/// of 0.25 ahead of each of the others, in text and in JSON.
TEST(RunPlanTime, GapsBetweenDependentLaunches) {
  RunResult result;
  result.launches = {launchOf(10), launchOf(20), launchOf(40)};
  std::optional<PlanTime> time = result.time();
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->kernelUs, 70);
  EXPECT_DOUBLE_EQ(time->endToEndUs, 11.5 + 20.25 + 40.25);
  EXPECT_NE(formatResult(result).find("3 dependent launches: 70.00 us of "
                                      "kernels, 72.00 us end to end"),
            std::string::npos);
  nlohmann::json json = nlohmann::json::parse(statsToJson(result));
  EXPECT_DOUBLE_EQ(json["timing"]["us"], 70);
  EXPECT_DOUBLE_EQ(json["timing"]["us_end_to_end"], 72);
  EXPECT_DOUBLE_EQ(json["launches"][1]["timing"]["us"], 20);
}

/// A plan has no time when it has no launches, or one that was not timed.
TEST(RunPlanTime, NoneWithoutTimes) {
  RunResult result;
  EXPECT_FALSE(result.time());
  result.launches = {launchOf(10), LaunchStats()};
  EXPECT_FALSE(result.time());
  EXPECT_FALSE(nlohmann::json::parse(statsToJson(result)).contains("timing"));
}

} // namespace
