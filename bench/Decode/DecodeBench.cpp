//===- DecodeBench.cpp - compile and simulate KDA decode --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a user waits for: `tenon compile` of the decode kernel of Kimi K3 at
// tensor parallelism 8 as a process of its own (CPU time, start included), and
// the simulator's speed on that kernel on one host thread.
//
//===----------------------------------------------------------------------===//

#include "tenon/Driver/Compile.h"
#include "tenon/Driver/OpCatalogue.h"
#include "tenon/Run/Run.h"

#include <benchmark/benchmark.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tenon;

extern char **environ;

static double seconds(const timeval &time) {
  return time.tv_sec + time.tv_usec * 1e-6;
}

/// CPU seconds of one `tenon` process, or nothing when it fails.
static std::optional<double> cpuOfTool(std::vector<std::string> arguments) {
  std::vector<char *> argv;
  for (std::string &argument : arguments) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, TENON_TOOL, nullptr, nullptr, argv.data(), environ)) {
    return std::nullopt;
  }
  int status = 0;
  rusage usage = {};
  if (wait4(child, &status, 0, &usage) != child || status != 0) {
    return std::nullopt;
  }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// `manual_time` is the CPU time of the child. Argument: 1 when the layout of
/// the state is kv, whose first schedule is rejected.
static void compileProcess(benchmark::State &state) {
  std::string layout = state.range(0) ? "kv" : "vk";
  for (auto _ : state) {
    auto cpu = cpuOfTool({"tenon", "compile", "--op", "kda_decode", "--set",
                          "state_layout=" + layout, "-o", "/dev/null"});
    if (!cpu) {
      state.SkipWithError("tenon compile failed");
      return;
    }
    state.SetIterationTime(*cpu);
  }
}
BENCHMARK(compileProcess)
    ->Arg(0)
    ->Arg(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

/// Wave instructions per second of one host thread. Arguments: rows; whether
/// the simulator's checks are on.
static void simulate(benchmark::State &state) {
  driver::Session session;
  std::string text = llvm::cantFail(driver::specText("kda_decode", {}));
  auto module = session.parseText(text, "kda_decode");
  llvm::cantFail(driver::setTarget(*module, "gfx950"));
  auto harness = run::createHarness(*module);
  auto compiled = driver::compile(*module, {});
  if (failed(compiled)) {
    state.SkipWithError("the kernel does not compile");
    return;
  }
  run::RunOptions options;
  options.dims["N"] = state.range(0);
  // Generated values cost more time than the kernel.
  for (const char *name : {"qkv", "raw_g", "raw_beta", "out_gate",
                           "conv_weight", "dt_bias", "conv_state", "state"}) {
    options.fills[name] = reference::Fill::Zero;
  }
  options.threads = 1;
  options.checks =
      state.range(1) ? sim::CheckSet::all() : sim::CheckSet::none();
  uint64_t instructions = 0;
  double busy = 0.0;
  for (auto _ : state) {
    auto result = run::runOnSimulator(compiled->plan, compiled->codeObject,
                                      *harness, options);
    if (!result) {
      state.SkipWithError(llvm::toString(result.takeError()).c_str());
      return;
    }
    state.SetIterationTime(result->launches[0].seconds);
    instructions += result->launches[0].waveInstructions;
    busy += result->launches[0].seconds;
  }
  state.counters["wave_instructions_per_second"] = instructions / busy;
}
BENCHMARK(simulate)
    ->Args({8, 0})
    ->Args({128, 0})
    ->Args({128, 1})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
