//===- SimTool.cpp - run a kernel of any code object ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Run/SimTool.h"

#include "FindingJson.h"
#include "SimArguments.h"

#include "tenon/Run/ProfileReport.h"
#include "tenon/Run/Run.h"
#include "tenon/Run/TimingReport.h"

#include "llvm/ADT/StringExtras.h"

using namespace tenon;
using namespace tenon::run;

/// The kernel that is meant.
static llvm::Expected<const sim::Kernel *>
chooseKernel(const sim::CodeObject &object, const std::string &name) {
  std::string names;
  for (const sim::Kernel &kernel : object.kernels()) {
    names += (names.empty() ? "" : ", ") + kernel.name().str();
  }
  if (!name.empty()) {
    if (const sim::Kernel *kernel = object.findKernel(name)) {
      return kernel;
    }
    return llvm::make_error<InputError>("the object has no kernel '" + name +
                                        "'; it has: " + names);
  }
  if (object.kernels().size() != 1) {
    return llvm::make_error<InputError>(
        object.kernels().empty()
            ? "the object has no kernels"
            : "the object has several kernels, name one with --kernel: " +
                  names);
  }
  return &object.kernels().front();
}

llvm::Expected<SimOutcome> run::simulate(llvm::ArrayRef<uint8_t> bytes,
                                         const SimOptions &options) {
  auto object = sim::CodeObject::load(bytes);
  if (!object) {
    return object.takeError();
  }
  auto kernel = chooseKernel(**object, options.kernel);
  if (!kernel) {
    return kernel.takeError();
  }
  sim::Device device;
  auto arguments = SimArguments::create((*kernel)->info(), options.arguments,
                                        device.memory());
  if (!arguments) {
    return arguments.takeError();
  }
  if (options.timing && options.timing->sampled && arguments->hasOutputs()) {
    return llvm::make_error<InputError>(
        "--timing sampled runs a part of the workgroups and drops their "
        "stores: there is nothing to write to the file of an 'out='");
  }
  if (options.timing && options.timing->skipValues && arguments->hasOutputs()) {
    return llvm::make_error<InputError>(
        "--skip-values leaves wrong values: there is nothing to write to the "
        "file of an 'out='");
  }
  sim::LaunchConfig config;
  config.grid = options.grid;
  config.block = options.block;
  config.dynamicLds = options.dynamicLds;
  config.kernarg = arguments->kernarg();
  config.numThreads = options.threads;
  config.checks = options.checks;
  config.statistics = !options.timing;
  config.profile = options.profile;
  config.workgroupOrder = options.workgroupOrder;
  config.perturb = options.perturb;
  config.instructionBudget = options.instructionBudget;
  config.timing = options.timing;
  SimOutcome outcome;
  outcome.kernel = (*kernel)->name().str();
  outcome.omittedArguments = arguments->omitted();
  auto result = device.launch(**kernel, config);
  if (result) {
    outcome.launch = std::move(*result);
  } else {
    llvm::Error rest = llvm::handleErrors(
        result.takeError(), [&](const sim::LaunchFailure &failure) {
          outcome.failure = failure.message();
          outcome.endedByCheck = failure.check().has_value();
          outcome.launch.findings = failure.findings();
        });
    if (rest) {
      return llvm::make_error<InputError>(llvm::toString(std::move(rest)));
    }
  }
  if (llvm::Error error = arguments->writeOutputs(device.memory())) {
    return std::move(error);
  }
  if (!options.trace.empty() && outcome.launch.timing) {
    TracedLaunch traced = {outcome.kernel, &*outcome.launch.timing};
    if (llvm::Error error = writeTrace(traced, options.trace)) {
      return llvm::make_error<InputError>(llvm::toString(std::move(error)));
    }
  }
  return outcome;
}

std::string run::simStatsToJson(const SimOutcome &outcome,
                                const SimOptions &options) {
  const sim::LaunchResult &launch = outcome.launch;
  nlohmann::ordered_json instructions;
  for (unsigned index = 0; index < sim::instructionClassCount; ++index) {
    instructions[sim::instructionClassName(sim::InstructionClass(index))
                     .str()] = launch.counts[index];
  }
  const sim::AccessStatistics &statistics = launch.statistics;
  nlohmann::ordered_json root = {
      {"kernel", outcome.kernel},
      {"grid", options.grid},
      {"workgroup_size", options.block},
      {"completed", !outcome.failure.has_value()},
      {"wave_instructions", launch.waveInstructions},
      {"instructions", instructions},
      {"lds_extra_phases", statistics.ldsExtraPhases},
      {"bytes",
       {{"load", statistics.loadBytes},
        {"store", statistics.storeBytes},
        {"atomic", statistics.atomicBytes},
        {"load_to_lds", statistics.loadToLdsBytes},
        {"scalar_load", statistics.scalarLoadBytes},
        {"lds_read", statistics.ldsReadBytes},
        {"lds_write", statistics.ldsWriteBytes},
        {"lds_atomic", statistics.ldsAtomicBytes}}},
      {"findings", findingsToJson(launch.findings)}};
  if (launch.timing) {
    root["timing"] = timingToJson(*launch.timing);
  }
  if (options.profile) {
    root["profile"] = profileToJson(launch.profile, launch.timing.has_value());
  }
  return root.dump(2) + "\n";
}
