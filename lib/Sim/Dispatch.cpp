//===- Dispatch.cpp - workgroups of one launch ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dispatch.h"

#include "Program.h"
#include "SourceLines.h"

#include <algorithm>
#include <barrier>
#include <cfenv>
#include <thread>

using namespace llvm;

namespace tenon::sim {

/// Instructions of a wave between two moments at which workgroups see each
/// other's stores.
static constexpr int64_t quantumInstructions = 1 << 14;

/// Findings of a launch that are kept.
static constexpr size_t mostFindings = 100;

void Dispatch::admit() {
  while (resident.size() < setup.resident && nextPosition < setup.workgroups) {
    resident.push_back(
        std::make_unique<ResidentWorkgroup>(setup, nextPosition++));
  }
}

void Dispatch::runShare(Worker &worker) {
  for (;;) {
    size_t index = nextShare.fetch_add(1);
    if (index >= resident.size()) {
      return;
    }
    ResidentWorkgroup &workgroup = *resident[index];
    if (!workgroup.isStarted()) {
      workgroup.start(worker.pool);
    }
    workgroup.runQuantum(quantum, worker.result);
    if (workgroup.hasEnded) {
      workgroup.leave(worker.pool, worker.result);
    }
  }
}

void Dispatch::noteFailure(const ResidentWorkgroup &workgroup) {
  const ResidentWorkgroup::Failure &failure = *workgroup.failure;
  if (failure.check && setup.config.checks.has(*failure.check)) {
    errorFinding =
        RawFinding{*failure.check,
                   {workgroup.group.linearId, failure.wave, -1, failure.record},
                   std::nullopt,
                   failure.message};
  }
  errorText = workgroup.describeFailure();
}

bool Dispatch::endQuantum() {
  for (std::unique_ptr<ResidentWorkgroup> &workgroup : resident) {
    workgroup->publish();
    budget -= workgroup->charged;
  }
  auto failed = find_if(
      resident, [](const auto &workgroup) { return workgroup->failure; });
  auto unfinished = find_if(
      resident, [](const auto &workgroup) { return !workgroup->hasEnded; });
  if (failed == resident.end() && budget <= 0 && unfinished != resident.end()) {
    (*unfinished)
        ->fail((*unfinished)->firstUnfinished(),
               "the instruction budget of the launch is used up",
               Check::Budget);
    failed = unfinished;
  }
  if (failed != resident.end()) {
    noteFailure(**failed);
    for (std::unique_ptr<ResidentWorkgroup> &workgroup : resident) {
      if (workgroup->checks) {
        workers[0].result.add(*workgroup->checks);
      }
    }
    return false;
  }
  erase_if(resident, [](const auto &workgroup) { return workgroup->hasEnded; });
  admit();
  nextShare = 0;
  quantum = std::min(quantumInstructions, std::max<int64_t>(budget, 1));
  return !resident.empty();
}

Expected<LaunchResult> Dispatch::run() {
  budget =
      int64_t(std::min<uint64_t>(setup.config.instructionBudget, INT64_MAX));
  quantum = std::min(quantumInstructions, budget);
  admit();
  unsigned threads = setup.config.numThreads
                         ? setup.config.numThreads
                         : std::max(1u, std::thread::hardware_concurrency());
  workers.resize(std::min<uint64_t>(threads, setup.workgroups));
  for (Worker &worker : workers) {
    if (setup.config.profile) {
      worker.profile.resize(setup.program->recordCount());
      worker.result.profile = worker.profile.data();
    }
  }
  bool goesOn = true;
  std::barrier quantumEnd(std::ptrdiff_t(workers.size()),
                          [&]() noexcept { goesOn = endQuantum(); });
  auto work = [&](Worker &worker) {
    // Waves set the rounding of the thread that runs them.
    fenv_t environment;
    std::fegetenv(&environment);
    while (goesOn) {
      runShare(worker);
      quantumEnd.arrive_and_wait();
    }
    std::fesetenv(&environment);
  };
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < workers.size(); ++i) {
    helpers.emplace_back([&, i] { work(workers[i]); });
  }
  work(workers[0]);
  for (std::thread &helper : helpers) {
    helper.join();
  }
  LaunchResult total = finish();
  if (!errorText.empty()) {
    return make_error<LaunchFailure>(
        errorText,
        errorFinding ? std::optional(errorFinding->check) : std::nullopt,
        std::move(total.findings));
  }
  return total;
}

LaunchResult Dispatch::finish() {
  LaunchResult total;
  std::vector<uint64_t> profile(
      setup.config.profile ? setup.program->recordCount() : 0);
  FindingLog log;
  for (const Worker &worker : workers) {
    log.merge(worker.result.log);
    total.statistics.add(worker.result.statistics);
    total.waveInstructions += worker.result.waveInstructions;
    for (unsigned i = 0; i < instructionClassCount; ++i) {
      total.counts[i] += worker.result.counts[i];
    }
    for (size_t i = 0; i < worker.profile.size(); ++i) {
      profile[i] += worker.profile[i];
    }
  }
  if (errorFinding) {
    log.add(*errorFinding);
  }
  SourceLines lines(setup.kernel.codeObject().fileBytes());
  total.findings = log.finish(setup.kernel.name(), *setup.program, lines,
                              setup.config.grid, mostFindings);
  for (size_t i = 0; i < profile.size(); ++i) {
    const Instr &instr = setup.program->records()[i];
    if (profile[i]) {
      total.profile.push_back({instr.address, setup.program->text(instr),
                               lines.at(instr.address), profile[i], 0});
    }
  }
  return total;
}

} // namespace tenon::sim
