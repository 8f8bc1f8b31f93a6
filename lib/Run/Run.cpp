//===- Run.cpp - run a compiled op on a device and check it -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/Run.h"

#include "Check.h"
#include "Operands.h"

#include "tenon/Run/TimingReport.h"
#include "tenon/Sim/Device.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <thread>

using namespace tenon;
using namespace tenon::run;

bool RunResult::passed() const {
  return llvm::all_of(checks,
                      [](const OperandCheck &check) { return check.passed; });
}

std::optional<PlanTime> RunResult::time() const {
  if (launches.empty()) {
    return std::nullopt;
  }
  PlanTime time;
  for (const LaunchStats &launch : launches) {
    if (!launch.timing) {
      return std::nullopt;
    }
    // The host waits once; every further launch adds its kernel and the gap.
    bool isFirst = &launch == &launches.front();
    time.kernelUs += launch.timing->us;
    time.endToEndUs += isFirst
                           ? launch.timing->usEndToEnd
                           : launch.timing->dependentGapUs + launch.timing->us;
  }
  return time;
}

/// Refuses a sampled timing of workgroups that count each other.
static llvm::Error checkSampled(const runtime::Plan &plan,
                                const runtime::ConcretePlan &concrete,
                                const RunOptions &options) {
  if (!options.timing || !options.timing->sampled) {
    return llvm::Error::success();
  }
  for (auto [workspace, bytes] :
       llvm::zip_equal(plan.workspaces, concrete.workspaceBytes)) {
    if (workspace.zeroInitialised && bytes > 0) {
      return llvm::make_error<InputError>(
          "--timing sampled runs a part of the workgroups, and these count "
          "each other: time all of them with --timing full");
    }
  }
  return llvm::Error::success();
}

/// Refuses what a sampled timing cannot give.
static llvm::Error checkTimingOptions(const RunOptions &options) {
  if (!options.timing || !options.timing->sampled) {
    if (options.timing && options.timing->skipValues &&
        (options.check || !options.outputs.empty())) {
      return llvm::make_error<InputError>(
          "--skip-values leaves wrong values: there is "
          "nothing to check or to write to a file");
    }
    return llvm::Error::success();
  }
  const char *what = options.check              ? "to check"
                     : !options.outputs.empty() ? "to write to a file"
                                                : nullptr;
  if (!what) {
    return llvm::Error::success();
  }
  return llvm::make_error<InputError>(
      llvm::Twine("--timing sampled runs a part of the workgroups and drops "
                  "their stores: there is nothing ")
          .concat(what)
          .str());
}

static llvm::Error writeTimeline(const RunResult &result,
                                 const std::string &file) {
  std::vector<TracedLaunch> traced;
  for (const LaunchStats &launch : result.launches) {
    traced.push_back({launch.kernel, &*launch.timing});
  }
  if (llvm::Error error = writeTrace(traced, file)) {
    return llvm::make_error<InputError>(llvm::toString(std::move(error)));
  }
  return llvm::Error::success();
}

/// The launches of \p plan for the operands where they lie.
static llvm::Expected<runtime::ConcretePlan>
evaluatePlan(const runtime::Plan &plan, Operands &operands) {
  std::vector<runtime::OperandArgument> arguments;
  for (auto [operand, description] :
       llvm::zip_equal(operands.all(), plan.operands)) {
    // What the harness has not reordered is row-major, whatever the plan says.
    bool isReordered = operand.image || operand.stored;
    arguments.push_back(
        {operand.address,
         {operand.view.shape.data(), operand.view.shape.size()},
         {operand.view.strides.data(), operand.view.strides.size()},
         isReordered ? std::string_view(description.layout)
                     : std::string_view()});
  }
  auto concrete = runtime::evaluate(plan, arguments, operands.scalars());
  if (!concrete) {
    return llvm::make_error<InputError>(concrete.error().message);
  }
  return std::move(*concrete);
}

/// Reserves the workspaces of a plan.
static llvm::Expected<std::vector<uint64_t>>
allocateWorkspaces(const runtime::Plan &plan,
                   const runtime::ConcretePlan &concrete, sim::Memory &memory) {
  std::vector<uint64_t> addresses;
  for (auto [workspace, bytes] :
       llvm::zip(plan.workspaces, concrete.workspaceBytes)) {
    sim::AllocOptions options;
    options.name = workspace.name;
    options.undefined = !workspace.zeroInitialised;
    auto address = memory.allocate(bytes, options);
    if (!address) {
      return address.takeError();
    }
    addresses.push_back(*address);
  }
  return addresses;
}

/// Fails when a workspace that is to hold zeros behind the launches does not:
/// the next call would begin with what they left.
static llvm::Error checkWorkspaces(const runtime::Plan &plan,
                                   const runtime::ConcretePlan &concrete,
                                   llvm::ArrayRef<uint64_t> addresses,
                                   sim::Memory &memory) {
  for (auto [workspace, size, address] :
       llvm::zip(plan.workspaces, concrete.workspaceBytes, addresses)) {
    if (!workspace.zeroInitialised) {
      continue;
    }
    std::vector<uint8_t> bytes(size);
    if (llvm::Error error = memory.read(address, bytes)) {
      return error;
    }
    auto found = llvm::find_if(bytes, [](uint8_t byte) { return byte != 0; });
    if (found != bytes.end()) {
      return llvm::createStringError(
          "the launches leave byte %zu of the workspace '%s' at %u instead of "
          "zero",
          size_t(found - bytes.begin()), workspace.name.c_str(),
          unsigned(*found));
    }
  }
  return llvm::Error::success();
}

namespace {
/// Runs the launches of a plan in their order.
class Launches {
public:
  Launches(sim::Device &device, const sim::CodeObject &object,
           const runtime::Plan &plan,
           llvm::ArrayRef<runtime::ConcreteLaunch> launches,
           const RunOptions &options)
      : device(device), object(object), plan(plan), launches(launches),
        options(options) {}

  /// Adds what the launches are found to do to \p result.
  llvm::Error run(RunResult &result);

private:
  llvm::Expected<LaunchStats> run(size_t number,
                                  std::vector<sim::Finding> &findings);
  llvm::Expected<sim::LaunchResult> execute(size_t number,
                                            const sim::LaunchConfig &config);
  sim::LaunchConfig configOf(size_t number);
  llvm::Error supply(uint64_t allocation);

  sim::Device &device;
  const sim::CodeObject &object;
  const runtime::Plan &plan;
  llvm::ArrayRef<runtime::ConcreteLaunch> launches;
  const RunOptions &options;
  /// Launches that have left all their values in memory are those before this.
  size_t complete = 0;
  /// Where the others have left some out, with their numbers, ascending.
  std::vector<std::pair<size_t, uint64_t>> leftOut;
};
} // namespace

sim::LaunchConfig Launches::configOf(size_t number) {
  const runtime::ConcreteLaunch &concrete = launches[number];
  sim::LaunchConfig config;
  config.grid = concrete.grid;
  config.block = plan.launches[concrete.launch].workgroupSize;
  config.dynamicLds = concrete.dynamicLds + options.padLds;
  config.kernarg = concrete.kernarg;
  config.numThreads = options.threads;
  config.workgroupOrder = options.workgroupOrder;
  return config;
}

llvm::Expected<sim::LaunchResult>
Launches::execute(size_t number, const sim::LaunchConfig &config) {
  const std::string &name = plan.launches[launches[number].launch].kernel;
  const sim::Kernel *kernel = object.findKernel(name);
  if (!kernel) {
    return llvm::createStringError("the code object has no kernel '" + name +
                                   "'");
  }
  return device.launch(*kernel, config);
}

/// Runs launches, without their time, until what they leave in \p allocation is
/// there. Those before them are run as well, since theirs may depend on it.
llvm::Error Launches::supply(uint64_t allocation) {
  size_t end = complete;
  for (auto [number, base] : leftOut) {
    if (base == allocation) {
      end = number + 1;
    }
  }
  for (; complete < end; ++complete) {
    sim::LaunchConfig config = configOf(complete);
    config.checks = sim::CheckSet();
    if (auto result = execute(complete, config); !result) {
      return result.takeError();
    }
  }
  llvm::erase_if(leftOut, [&](const std::pair<size_t, uint64_t> &entry) {
    return entry.first < complete;
  });
  return llvm::Error::success();
}

llvm::Expected<LaunchStats> Launches::run(size_t number,
                                          std::vector<sim::Finding> &findings) {
  const runtime::ConcreteLaunch &concrete = launches[number];
  const runtime::Launch &description = plan.launches[concrete.launch];
  sim::LaunchConfig config = configOf(number);
  config.checks = options.checks;
  config.perturb = options.perturb;
  config.profile = options.profile;
  config.timing = options.timing;
  auto start = std::chrono::steady_clock::now();
  auto attempt = [&]() {
    if (config.timing) {
      auto bases = llvm::make_second_range(leftOut);
      config.timing->leftOut.assign(bases.begin(), bases.end());
    }
    return execute(number, config);
  };
  auto result = attempt();
  while (!result) {
    // Each turn completes launches, so that there is an end.
    llvm::Error error = llvm::handleErrors(
        result.takeError(), [&](const sim::MissingValues &failure) {
          return supply(failure.allocation());
        });
    if (error) {
      return std::move(error);
    }
    result = attempt();
  }
  if (result->timing) {
    for (uint64_t base : result->timing->leftOut) {
      leftOut.emplace_back(number, base);
    }
  }
  std::chrono::duration<double> elapsed =
      std::chrono::steady_clock::now() - start;
  LaunchStats stats;
  stats.kernel = description.kernel;
  stats.grid = concrete.grid;
  stats.workgroupSize = description.workgroupSize;
  stats.waveInstructions = result->waveInstructions;
  stats.instructions = result->counts;
  stats.seconds = elapsed.count();
  stats.profile = std::move(result->profile);
  stats.timing = std::move(result->timing);
  llvm::append_range(findings, result->findings);
  return stats;
}

llvm::Error Launches::run(RunResult &result) {
  for (size_t number = 0; number < launches.size(); ++number) {
    auto stats = run(number, result.findings);
    if (!stats) {
      return stats.takeError();
    }
    result.launches.push_back(std::move(*stats));
  }
  return llvm::Error::success();
}

llvm::Expected<RunResult>
run::runOnSimulator(const runtime::Plan &plan,
                    llvm::ArrayRef<uint8_t> codeObject, const Harness &harness,
                    const RunOptions &options) {
  if (llvm::Error error = checkTimingOptions(options)) {
    return std::move(error);
  }
  auto object = sim::CodeObject::load(codeObject);
  if (!object) {
    return object.takeError();
  }
  auto operands = Operands::create(plan, harness, options);
  if (!operands) {
    return operands.takeError();
  }
  if (llvm::Error error = operands->checkOutputs(options)) {
    return std::move(error);
  }
  // The reference also checks the values of the integer operands, which the
  // kernel could not survive otherwise.
  auto expectation = harness.expect(operands->views(), operands->dims());
  if (!expectation) {
    return expectation.takeError();
  }
  sim::Device device;
  if (llvm::Error error = operands->allocate(device.memory())) {
    return std::move(error);
  }
  auto concrete = evaluatePlan(plan, *operands);
  if (!concrete) {
    return concrete.takeError();
  }
  if (llvm::Error error = checkSampled(plan, *concrete, options)) {
    return std::move(error);
  }
  auto workspaces = allocateWorkspaces(plan, *concrete, device.memory());
  if (!workspaces) {
    return workspaces.takeError();
  }
  RunResult result;
  result.workUnits = (*expectation)->workUnits();
  result.floorPerUnit = harness.floorPerUnit();
  result.unitName = harness.unitName();
  for (runtime::ConcreteLaunch &concreteLaunch : concrete->launches) {
    concreteLaunch.bindWorkspaces(*workspaces);
  }
  Launches launches(device, **object, plan, concrete->launches, options);
  if (llvm::Error error = launches.run(result)) {
    return std::move(error);
  }
  if (!options.timing || !options.timing->sampled) {
    if (llvm::Error error =
            checkWorkspaces(plan, *concrete, *workspaces, device.memory())) {
      return std::move(error);
    }
  }
  if (!options.trace.empty() && options.timing) {
    if (llvm::Error error = writeTimeline(result, options.trace)) {
      return std::move(error);
    }
  }
  if (llvm::Error error = operands->writeOutputs(device.memory(), options)) {
    return std::move(error);
  }
  if (options.check) {
    unsigned threads =
        options.threads ? options.threads : std::thread::hardware_concurrency();
    auto checks =
        checkOperands(device.memory(), *operands, **expectation, harness,
                      std::max(threads, 1U), options.checkSampled);
    if (!checks) {
      return checks.takeError();
    }
    result.checks = std::move(*checks);
    result.remarks = (*expectation)->remarks();
  }
  return result;
}
