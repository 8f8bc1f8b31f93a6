//===- SimCommand.cpp - tenon sim -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "tenon/Run/ProfileReport.h"
#include "tenon/Run/Run.h"
#include "tenon/Run/SimTool.h"
#include "tenon/Run/TimingReport.h"
#include "tenon/Sim/Coverage.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

using namespace tenon;
using namespace tenon::cli;

namespace {
struct SimArguments {
  std::string object;
  std::string grid = "1,1,1", block = "1,1,1";
  std::string checks = "all";
  std::string statsJson;
  std::string target = "gfx950";
  bool listInstructions = false;
  TimingArguments timing;
  run::SimOptions options;
};
} // namespace

static std::array<uint32_t, 3> parseSizes(const std::string &option,
                                          const std::string &text) {
  std::array<uint32_t, 3> sizes = {1, 1, 1};
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',');
  for (auto [index, part] : llvm::enumerate(parts)) {
    if (index >= 3 || part.getAsInteger(10, sizes[index]) ||
        sizes[index] == 0) {
      throw CLI::ValidationError(
          option,
          "expected one to three sizes such as 4,1,1, found '" + text + "'");
    }
  }
  return sizes;
}

static int listInstructions(const std::string &target) {
  auto list = sim::listInstructions(
      target == "gfx942" ? sim::Processor::Gfx942 : sim::Processor::Gfx950);
  if (!list) {
    printError(llvm::toString(list.takeError()));
    return CannotCompileOrExecute;
  }
  size_t implemented = 0;
  for (const sim::InstructionCoverage &entry : *list) {
    implemented += entry.implemented;
    fmt::print("{:<4} {:<12} {:<44} {}{}\n", entry.implemented ? "yes" : "no",
               entry.encoding, entry.mnemonic, entry.opcode,
               entry.reason.empty() ? "" : ": " + entry.reason);
  }
  fmt::print("{} of {} are executed\n", implemented, list->size());
  return Success;
}

static int report(const run::SimOutcome &outcome,
                  const SimArguments &arguments) {
  if (arguments.options.profile) {
    fmt::print("{}", run::formatProfile(outcome.launch.profile,
                                        outcome.launch.timing.has_value()));
  }
  if (!outcome.failure) {
    size_t findings = outcome.launch.findings.size();
    fmt::print("{}: {} wave instructions, {} finding{}\n", outcome.kernel,
               outcome.launch.waveInstructions, findings,
               findings == 1 ? "" : "s");
  }
  if (outcome.launch.timing) {
    fmt::print("{}", run::formatTiming(*outcome.launch.timing));
  }
  std::fflush(stdout);
  printFindings(outcome.launch.findings);
  if (outcome.failure && !outcome.omittedArguments.empty()) {
    fmt::print(stderr, "note: no --arg gives these arguments, they are 0: {}\n",
               llvm::join(outcome.omittedArguments, ", "));
  }
  if (!arguments.statsJson.empty() &&
      !writeFile(arguments.statsJson,
                 run::simStatsToJson(outcome, arguments.options))) {
    return BadInput;
  }
  if (outcome.failure && !outcome.endedByCheck) {
    printError(*outcome.failure);
    return CannotCompileOrExecute;
  }
  return outcome.launch.findings.empty() ? Success : CheckFailed;
}

static int simCommand(SimArguments &arguments) {
  if (arguments.listInstructions) {
    return listInstructions(arguments.target);
  }
  if (arguments.object.empty()) {
    printError("expected a code object (or --list-instructions)");
    return BadInput;
  }
  auto checks = sim::CheckSet::parse(arguments.checks);
  if (!checks) {
    printError("--checks: " + llvm::toString(checks.takeError()));
    return BadInput;
  }
  arguments.options.checks = *checks;
  arguments.options.timing = arguments.timing.options();
  arguments.options.trace = arguments.timing.trace;
  arguments.options.grid = parseSizes("--grid", arguments.grid);
  arguments.options.block = parseSizes("--block", arguments.block);
  auto file = llvm::MemoryBuffer::getFile(arguments.object, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file) {
    printError("cannot read '" + arguments.object +
               "': " + file.getError().message());
    return BadInput;
  }
  auto outcome = run::simulate(
      llvm::arrayRefFromStringRef((*file)->getBuffer()), arguments.options);
  if (!outcome) {
    int code = CannotCompileOrExecute;
    llvm::handleAllErrors(
        outcome.takeError(), [&](const llvm::ErrorInfoBase &error) {
          code = error.isA<run::InputError>() ? BadInput : code;
          printError(error.message());
        });
    return code;
  }
  return report(*outcome, arguments);
}

void cli::addSim(CLI::App &app, Action &action) {
  auto arguments = std::make_shared<SimArguments>();
  run::SimOptions &options = arguments->options;
  CLI::App *command = app.add_subcommand(
      "sim", "Run a kernel of any gfx950 or gfx942 code object and check it");
  command->add_option("object", arguments->object, "A linked code object");
  command->add_option("--kernel", options.kernel,
                      "The kernel (may be left out when there is one)");
  command->add_option("--grid", arguments->grid, "X,Y,Z in workgroups")
      ->capture_default_str();
  command->add_option("--block", arguments->block, "X,Y,Z in work-items")
      ->capture_default_str();
  command->add_option("--lds", options.dynamicLds, "Bytes of dynamic LDS");
  command
      ->add_option(
          "--arg", options.arguments,
          "An argument, in order or as NAME=VALUE by its name in the "
          "metadata: i8, i16, i32, i64, f32, f64 with :NUMBER; null; "
          "buf:BYTES[:fill=zero|random|nan|undef][:out=FILE.npy]; "
          "npy:FILE[:out=FILE.npy]; table:VALUE,VALUE,..., the address "
          "of a buffer with such values one behind the other. What is "
          "left out is zero")
      ->allow_extra_args(false);
  addCheckOptions(*command, arguments->checks, options.perturb,
                  options.workgroupOrder);
  command
      ->add_option("--budget", options.instructionBudget,
                   "Wave instructions the launch may execute, all waves "
                   "together, before the budget check ends it")
      ->capture_default_str();
  addTimingOptions(*command, arguments->timing);
  command->add_option("--stats-json", arguments->statsJson,
                      "Write counts and findings to a file as JSON");
  command->add_flag("--profile", options.profile,
                    "Print how often each instruction was executed and, with "
                    "--timing, its cycles and what it waited for");
  command
      ->add_option("--threads", options.threads, "Host threads (0: all cores)")
      ->capture_default_str();
  command->add_flag(
      "--list-instructions", arguments->listInstructions,
      "Print every opcode of --target and whether it is executed");
  command
      ->add_option("--target", arguments->target,
                   "Processor for --list-instructions")
      ->check(CLI::IsMember({"gfx942", "gfx950"}))
      ->capture_default_str();
  command->callback([arguments, &action] {
    action = [arguments] { return simCommand(*arguments); };
  });
}
