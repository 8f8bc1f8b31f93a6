//===- tenon.cpp - compile, run, sim, ops ----------------------------*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using namespace tenon::cli;

void cli::printError(const std::string &message) {
  llvm::errs() << "tenon: error: " << message << "\n";
}

void cli::printFindings(llvm::ArrayRef<sim::Finding> findings) {
  for (const sim::Finding &finding : findings) {
    llvm::errs() << sim::formatFinding(finding);
  }
}

void cli::addCheckOptions(CLI::App &command, std::string &checks,
                          uint64_t &perturb,
                          std::optional<uint64_t> &workgroupOrder) {
  command
      .add_option(
          "--checks", checks,
          "all, none, or a list of lds-race, global-race, wait, hazard, "
          "uninit, bounds, align, barrier, budget. An access outside every "
          "allocation, a misaligned atomic and the end of the instruction "
          "budget end the launch in any case: as a finding when their check "
          "is on, else as an error")
      ->capture_default_str();
  command.add_option("--perturb", perturb,
                     "Seed: move transcendental results by a unit in the last "
                     "place and reorder the sums of matrix products (0: not)");
  command.add_option("--wg-order", workgroupOrder,
                     "Seed: start workgroups in another order");
}

void cli::addTimingOptions(CLI::App &command, TimingArguments &arguments) {
  command
      .add_option("--timing", arguments.mode,
                  "Model the time: full (the default) simulates every "
                  "workgroup, sampled a part and scales; its stores are "
                  "dropped then")
      ->expected(0, 1)
      ->default_str("full")
      ->check(CLI::IsMember({"full", "sampled"}));
  command
      .add_option("--cache", arguments.cache,
                  "Where data are at first when time is modelled: cold (in "
                  "HBM), mall (in the memory-side cache) or warm (in all "
                  "caches), as far as they fit")
      ->check(CLI::IsMember({"cold", "mall", "warm"}))
      ->default_str("cold");
  command
      .add_option("--timing-constant", arguments.constants,
                  "NAME=NUMBER: try another value of a constant of the model "
                  "(include/tenon/Target/TimingFacts.h)")
      ->allow_extra_args(false);
  command.add_flag("--skip-values", arguments.skipValues,
                   "With --timing: compute only what addresses, branches and "
                   "masks depend on; results are wrong, times the same");
  command.add_option("--trace", arguments.trace,
                     "Write a timeline of the first workgroups for Perfetto; "
                     "means --timing");
}

std::optional<sim::TimingOptions> cli::TimingArguments::options() const {
  if (mode.empty() && trace.empty()) {
    const char *given = !cache.empty()       ? "--cache"
                        : skipValues         ? "--skip-values"
                        : !constants.empty() ? "--timing-constant"
                                             : nullptr;
    if (given) {
      throw CLI::ValidationError(given, "needs --timing");
    }
    return std::nullopt;
  }
  sim::TimingOptions options;
  options.sampled = mode == "sampled";
  options.warm = cache == "warm";
  options.warmMall = cache == "mall";
  options.skipValues = skipValues;
  options.trace = !trace.empty();
  for (const std::string &constant : constants) {
    auto [name, text] = splitAssignment("--timing-constant", constant);
    double value = 0;
    if (llvm::StringRef(text).getAsDouble(value)) {
      throw CLI::ValidationError("--timing-constant",
                                 "expected NAME=NUMBER, found '" + constant +
                                     "'");
    }
    options.constants.emplace_back(name, value);
  }
  return options;
}

bool cli::writeFile(const std::string &path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path.empty() ? "-" : path, code);
  if (!code) {
    stream << bytes;
    stream.flush();
    code = stream.error();
    stream.clear_error();
  }
  if (code) {
    printError("cannot write '" + path + "': " + code.message());
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  CLI::App app(
      "Tenon compiles the kernels of hybrid linear-attention MoE models "
      "for AMD gfx950\nand runs their machine code in a simulator.",
      "tenon");
  app.set_version_flag("--version",
                       "tenon " TENON_VERSION " (LLVM " TENON_LLVM_VERSION ")");
  app.add_flag_callback(
      "--program",
      [&] {
        llvm::outs() << llvm::sys::fs::getMainExecutable(
                            argv[0], reinterpret_cast<void *>(&main))
                     << "\n";
        throw CLI::Success();
      },
      "Print the path of the program that a script of this name starts");
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 fine, 1 a check failed, 2 bad usage or input, 3 the "
      "spec does not\ncompile or the machine code cannot be executed.");
  Action action;
  addBundle(app, action);
  addCache(app, action);
  addCompile(app, action);
  addDoctor(app, action);
  addOps(app, action);
  addRun(app, action);
  addSelfTest(app, action);
  addSim(app, action);
  // CLI11 would only say that a subcommand is missing.
  if (argc > 1 && argv[1][0] != '-') {
    std::string known;
    bool found = false;
    for (const CLI::App *command : app.get_subcommands({})) {
      found |= command->get_name() == argv[1];
      known += (known.empty() ? "" : ", ") + command->get_name();
    }
    if (!found) {
      printError("unknown command '" + std::string(argv[1]) +
                 "'; there are: " + known);
      return BadInput;
    }
  }
  try {
    app.parse(argc, argv);
    return action();
  } catch (const CLI::ParseError &error) {
    int code = app.exit(error, std::cout, std::cerr);
    return code == 0 ? Success : BadInput;
  }
}
