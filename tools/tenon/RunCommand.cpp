//===- RunCommand.cpp - tenon run -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "tenon/Run/Run.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using namespace tenon::cli;

namespace {
struct RunArguments {
  SpecArguments spec;
  std::string device = "sim";
  std::vector<std::string> dims, scalars, lists, inputs, outputs, strides,
      fills;
  std::string data;
  uint64_t seed = 0;
  bool check = false;
  bool checkSampled = false;
  std::string statsJson;
  unsigned threads = 0;
  uint32_t padLds = 0;
  std::string checks = "all";
  uint64_t perturb = 0;
  std::optional<uint64_t> workgroupOrder;
  bool profile = false;
  TimingArguments timing;
};
} // namespace

/// The pairs of a repeated `NAME=VALUE` option; a name may come once.
static std::map<std::string, std::string>
parsePairs(const std::string &option, const std::vector<std::string> &texts) {
  std::map<std::string, std::string> pairs;
  for (const std::string &text : texts) {
    auto pair = splitAssignment(option, text);
    if (!pairs.insert(pair).second) {
      throw CLI::ValidationError(option, pair.first + " is given twice");
    }
  }
  return pairs;
}

static std::map<std::string, int64_t>
parseNumbers(const std::string &option, const std::vector<std::string> &texts) {
  std::map<std::string, int64_t> numbers;
  for (const auto &[name, value] : parsePairs(option, texts)) {
    int64_t number = 0;
    if (llvm::StringRef(value).getAsInteger(10, number)) {
      throw CLI::ValidationError(
          option, name + ": expected an integer, found '" + value + "'");
    }
    numbers[name] = number;
  }
  return numbers;
}

static run::Lists parseLists(const std::string &option,
                             const std::vector<std::string> &texts) {
  run::Lists lists;
  for (const auto &[name, value] : parsePairs(option, texts)) {
    std::vector<int64_t> &list = lists[name];
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(value).split(parts, ',');
    for (llvm::StringRef part : parts) {
      int64_t number = 0;
      if (part.getAsInteger(10, number)) {
        throw CLI::ValidationError(option, name +
                                               ": expected integers between "
                                               "commas, found '" +
                                               value + "'");
      }
      list.push_back(number);
    }
  }
  return lists;
}

/// Has \p harness generate data of \p kind; fails for one that it does not
/// know.
static bool chooseData(run::Harness &harness, const std::string &kind) {
  std::vector<std::string> known = harness.dataKinds();
  if (!llvm::is_contained(known, kind)) {
    printError("--data " + kind + ": " +
               (known.empty() ? "the op has one kind of data"
                              : "there are: " + llvm::join(known, ", ")));
    return false;
  }
  harness.chooseData(kind);
  return true;
}

static std::map<std::string, reference::Fill>
parseFills(const std::vector<std::string> &texts) {
  std::map<std::string, reference::Fill> fills;
  for (const auto &[name, value] : parsePairs("--fill", texts)) {
    if (value == "random") {
      fills[name] = reference::Fill::Random;
    } else if (value == "zero") {
      fills[name] = reference::Fill::Zero;
    } else if (value == "nan") {
      fills[name] = reference::Fill::NaN;
    } else {
      throw CLI::ValidationError(
          "--fill",
          name + ": expected random, zero or nan, found '" + value + "'");
    }
  }
  return fills;
}

static int runCommand(RunArguments &arguments) {
  run::RunOptions options;
  options.dims = parseNumbers("--dim", arguments.dims);
  options.scalars = parseNumbers("--arg", arguments.scalars);
  options.lists = parseLists("--list", arguments.lists);
  options.inputs = parsePairs("--input", arguments.inputs);
  options.outputs = parsePairs("--output", arguments.outputs);
  options.strides = parseLists("--stride", arguments.strides);
  options.fills = parseFills(arguments.fills);
  options.seed = arguments.seed;
  options.check = arguments.check || arguments.checkSampled;
  options.checkSampled = arguments.checkSampled;
  options.threads = arguments.threads;
  options.padLds = arguments.padLds;
  options.perturb = arguments.perturb;
  options.workgroupOrder = arguments.workgroupOrder;
  auto checks = sim::CheckSet::parse(arguments.checks);
  if (!checks) {
    throw CLI::ValidationError("--checks", llvm::toString(checks.takeError()));
  }
  options.checks = *checks;
  options.profile = arguments.profile;
  options.timing = arguments.timing.options();
  options.trace = arguments.timing.trace;

  driver::Session session;
  auto loaded = arguments.spec.load(session);
  if (int *code = std::get_if<int>(&loaded)) {
    return *code;
  }
  auto &module = std::get<mlir::OwningOpRef<mlir::ModuleOp>>(loaded);
  std::unique_ptr<run::Harness> harness = run::createHarness(*module);
  if (!harness) {
    printError("the spec holds no op that can be run");
    return BadInput;
  }
  if (!arguments.data.empty() && !chooseData(*harness, arguments.data)) {
    return BadInput;
  }
  driver::CompileOptions compileOptions = arguments.spec.compileOptions();
  if (arguments.profile && !compileOptions.tileFile) {
    compileOptions.tileFile = "tile";
  }
  auto compiled = driver::compile(*module, compileOptions);
  if (failed(compiled)) {
    return CannotCompileOrExecute;
  }
  if (!arguments.spec.saveTile(*compiled)) {
    return BadInput;
  }
  harness->noteSchedule(compiled->schedule);
  auto result = run::runOnSimulator(compiled->plan, compiled->codeObject,
                                    *harness, options);
  if (!result) {
    int code = CannotCompileOrExecute;
    llvm::handleAllErrors(
        result.takeError(), [&](const llvm::ErrorInfoBase &error) {
          if (error.isA<run::InputError>()) {
            code = BadInput;
          }
          if (error.isA<sim::LaunchFailure>()) {
            auto &failure = static_cast<const sim::LaunchFailure &>(error);
            printFindings(failure.findings());
            code = failure.check() ? CheckFailed : code;
          }
          printError(error.message());
        });
    return code;
  }
  llvm::outs() << run::formatResult(*result);
  llvm::outs().flush();
  if (!arguments.statsJson.empty() &&
      !writeFile(arguments.statsJson, run::statsToJson(*result))) {
    return BadInput;
  }
  printFindings(result->findings);
  if (!result->passed()) {
    printError("the result differs from the reference");
    return CheckFailed;
  }
  if (!result->findings.empty()) {
    return CheckFailed;
  }
  return Success;
}

void cli::addRun(CLI::App &app, Action &action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App *command = app.add_subcommand(
      "run", "Compile a spec and run its machine code, with checks on request");
  arguments->spec.add(*command);
  command->add_option("--device", arguments->device, "Where to run")
      ->check(CLI::IsMember({"sim"}))
      ->capture_default_str();
  auto repeated = [&](const char *name, std::vector<std::string> &values,
                      const char *help) {
    command->add_option(name, values, help)->allow_extra_args(false);
  };
  repeated("--dim", arguments->dims,
           "A size that varies from call to call, such as N=7");
  repeated("--arg,--scalar", arguments->scalars,
           "An integer that comes with a call, such as row_begin=64");
  repeated("--list", arguments->lists,
           "NAME=INTEGER,INTEGER,...: contents of an integer operand, "
           "row-major. Ops over sequences take their lengths so: "
           "lengths=513,64,1");
  repeated(
      "--input", arguments->inputs,
      "NAME=FILE.npy: contents of an operand. bf16 takes float32 (rounded "
      "to nearest even) or 16-bit integers (raw bits), f32 float32, i32 "
      "int32, 8-bit types uint8 (raw codes), 4-bit types uint8 (two codes "
      "per byte, the first in the low half). Weights in another order than "
      "row-major are given row-major");
  repeated("--output", arguments->outputs,
           "NAME=FILE.npy: write an operand after the run; bf16 as float32");
  repeated("--stride", arguments->strides,
           "NAME=ELEMENTS[,...]: strides of an operand, outermost first; the "
           "dimensions behind them are dense");
  repeated("--fill", arguments->fills,
           "NAME=random|zero|nan: generated contents of an operand (default: "
           "random, like the model's data; outputs: nan)");
  command->add_option("--data", arguments->data,
                      "Another kind of generated contents; kda_prefill: weak "
                      "(long memory, large states), correlated (keys alike)");
  command->add_option("--seed", arguments->seed, "Seed of generated contents")
      ->capture_default_str();
  command->add_flag("--check", arguments->check,
                    "Compare with the double-precision reference");
  command->add_flag("--check-sampled", arguments->checkSampled,
                    "Compare only a part: the first rows of a large result, "
                    "the last and some at random");
  addCheckOptions(*command, arguments->checks, arguments->perturb,
                  arguments->workgroupOrder);
  addTimingOptions(*command, arguments->timing);
  command->add_option("--stats-json", arguments->statsJson,
                      "Write instruction counts, and times when they are "
                      "modelled, to a file as JSON");
  command->add_flag("--profile", arguments->profile,
                    "Print how often each instruction was executed, with "
                    "--timing its cycles and what it waited for, and its line "
                    "of the tile program ('tile:12', or of --save-tile)");
  command->add_option("--pad-lds", arguments->padLds,
                      "Bytes of LDS that each workgroup takes besides its own: "
                      "what are workgroups worth that share a compute unit?");
  command
      ->add_option("--threads", arguments->threads,
                   "Host threads (0: all cores)")
      ->capture_default_str();
  command->callback([arguments, &action] {
    action = [arguments] { return runCommand(*arguments); };
  });
}
