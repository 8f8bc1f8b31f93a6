//===- TimingReport.cpp - modelled times for people and machines -*- C++ -*-==//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/TimingReport.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <set>

using namespace tenon;
using namespace tenon::run;

std::string run::formatTiming(const sim::TimingResult &timing) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "time   {:.2f} us ({} cycles at {:.2f} GHz), {:.2f} us end to "
                 "end{}; {}\n",
                 timing.us, timing.cycles, timing.clockHz * 1e-9,
                 timing.usEndToEnd, timing.sampled ? ", sampled" : "",
                 timing.calibration);
  fmt::format_to(out,
                 "limits MFMA {:.1f} %  LDS {:.1f} %  L2 {:.1f} %  HBM {:.1f} "
                 "%;  {:.1f} waves per SIMD\n",
                 100 * timing.fractionOfMfma, 100 * timing.fractionOfLds,
                 100 * timing.fractionOfL2, 100 * timing.fractionOfHbm,
                 timing.occupancyWaves);
  fmt::format_to(out,
                 "bytes  L1 {:.3g} MB  L2 {:.3g} MB  memory-side cache {:.3g} "
                 "MB  HBM {:.3g} MB;  {} cycles of LDS bank conflicts\n",
                 timing.l1Bytes * 1e-6, timing.l2Bytes * 1e-6,
                 timing.mallBytes * 1e-6, timing.hbmBytes * 1e-6,
                 timing.ldsConflictCycles);
  uint64_t all =
      std::accumulate(timing.stalls.begin(), timing.stalls.end(), uint64_t(0));
  std::array<unsigned, sim::stallCount> order;
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](unsigned a, unsigned b) {
    return timing.stalls[a] > timing.stalls[b];
  });
  text += "stalls";
  for (unsigned reason : order) {
    double share =
        all ? 100.0 * double(timing.stalls[reason]) / double(all) : 0.0;
    if (share >= 0.5) {
      fmt::format_to(out, " {} {:.0f} %",
                     sim::stallName(sim::Stall(reason)).str(), share);
    }
  }
  return text + "\n";
}

nlohmann::ordered_json run::timingToJson(const sim::TimingResult &timing) {
  nlohmann::ordered_json stalls;
  for (unsigned i = 0; i < sim::stallCount; ++i) {
    stalls[sim::stallName(sim::Stall(i)).str()] = timing.stalls[i];
  }
  return {{"cycles", timing.cycles},
          {"clock_hz", timing.clockHz},
          {"us", timing.us},
          {"us_end_to_end", timing.usEndToEnd},
          {"fraction_of_mfma", timing.fractionOfMfma},
          {"fraction_of_lds", timing.fractionOfLds},
          {"fraction_of_l2", timing.fractionOfL2},
          {"fraction_of_hbm", timing.fractionOfHbm},
          {"l1_bytes", timing.l1Bytes},
          {"l2_bytes", timing.l2Bytes},
          {"mall_bytes", timing.mallBytes},
          {"hbm_bytes", timing.hbmBytes},
          {"lds_conflict_cycles", timing.ldsConflictCycles},
          {"occupancy_waves", timing.occupancyWaves},
          {"stalls", stalls},
          {"sampled", timing.sampled},
          {"calibration", timing.calibration}};
}

/// Adds the events of one launch, whose numbers of processes and clocks begin
/// at those given.
static void addEvents(const TracedLaunch &launch, uint64_t firstProcess,
                      uint64_t firstClock, bool isAlone,
                      nlohmann::ordered_json &events) {
  auto process = [&](const sim::TraceEvent &event) {
    return firstProcess + event.die * 1000 + event.computeUnit;
  };
  auto thread = [](const sim::TraceEvent &event) {
    return event.workgroup * 100 + event.wave;
  };
  for (const sim::TraceEvent &event : launch.timing->trace) {
    nlohmann::ordered_json entry = {
        {"name", launch.timing->traceTexts.at(event.record)},
        {"ph", "X"},
        {"pid", process(event)},
        {"tid", thread(event)},
        {"ts", firstClock + event.begin},
        {"dur", event.end - event.begin}};
    if (event.stalled) {
      entry["args"] = {{"waited_for", sim::stallName(event.stall).str()},
                       {"waited", event.stalled}};
    }
    events.push_back(std::move(entry));
  }
  std::set<std::pair<uint64_t, uint64_t>> named;
  for (const sim::TraceEvent &event : launch.timing->trace) {
    uint64_t pid = process(event), tid = thread(event);
    if (!named.insert({pid, tid}).second) {
      continue;
    }
    auto name = [&](const char *kind, const std::string &text) {
      events.push_back({{"name", kind},
                        {"ph", "M"},
                        {"pid", pid},
                        {"tid", tid},
                        {"args", {{"name", text}}}});
    };
    name("process_name", fmt::format("{}die {} compute unit {}",
                                     isAlone ? "" : launch.kernel + " ",
                                     event.die, event.computeUnit));
    name("thread_name", fmt::format("workgroup {} wave {} (SIMD {})",
                                    event.workgroup, event.wave, event.simd));
  }
}

llvm::Error run::writeTrace(llvm::ArrayRef<TracedLaunch> launches,
                            const std::string &file) {
  constexpr uint64_t processesPerLaunch = 100000;
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  nlohmann::ordered_json kernels = nlohmann::ordered_json::array();
  uint64_t process = 0, clock = 0;
  for (const TracedLaunch &launch : launches) {
    addEvents(launch, process, clock, launches.size() == 1, events);
    kernels.push_back(launch.kernel);
    process += processesPerLaunch;
    clock += launch.timing->cycles;
  }
  nlohmann::ordered_json root = {{"displayTimeUnit", "ns"},
                                 {"otherData", {{"kernels", kernels}}},
                                 {"traceEvents", events}};
  std::error_code problem;
  llvm::raw_fd_ostream stream(file, problem);
  if (!problem) {
    stream << root.dump() << "\n";
    stream.flush();
    problem = stream.error();
    stream.clear_error();
  }
  if (problem) {
    return llvm::createStringError("cannot write '" + file +
                                   "': " + problem.message());
  }
  return llvm::Error::success();
}
