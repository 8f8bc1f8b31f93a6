//===- CompileCommand.cpp - tenon compile -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "llvm/Support/raw_ostream.h"

using namespace tenon;
using namespace tenon::cli;

namespace {
struct CompileArguments {
  SpecArguments spec;
  std::string emit = "object";
  std::string output;
  bool report = false;
  std::string reportJson;
  bool remarks = false;
  bool times = false;
  std::string timesJson;
};
} // namespace

static int compileText(const CompileArguments &arguments,
                       mlir::ModuleOp module) {
  driver::CompileOptions options = arguments.spec.compileOptions();
  mlir::FailureOr<std::string> text =
      arguments.emit == "tile" ? driver::compileToTile(module, options)
                               : driver::compileToIsa(module, options);
  if (failed(text)) {
    return CannotCompileOrExecute;
  }
  return writeFile(arguments.output, *text) ? Success : BadInput;
}

static int compileBundle(CompileArguments &arguments) {
  if (arguments.report || !arguments.reportJson.empty() || arguments.times ||
      !arguments.timesJson.empty()) {
    printError("--report, --times and their JSON forms go with --emit object");
    return BadInput;
  }
  if (arguments.output.empty() || arguments.output == "-") {
    printError("--emit bundle needs a file: -o FILE.tenon");
    return BadInput;
  }
  auto kernels = arguments.spec.compileForBundle(arguments.remarks);
  if (int *code = std::get_if<int>(&kernels)) {
    return *code;
  }
  auto bytes = runtime::writeBundle(
      std::get<std::vector<runtime::BundleKernel>>(std::move(kernels)));
  runtime::Status written =
      bytes ? runtime::writeBundleFile(arguments.output, *bytes)
            : runtime::Status(bytes.error());
  if (!written) {
    printError(written.error().message);
    return BadInput;
  }
  return Success;
}

static int compileCommand(CompileArguments &arguments) {
  if (arguments.spec.savesTile() && arguments.emit != "object") {
    printError("--save-tile writes the program that line tables name: it goes "
               "with --emit object");
    return BadInput;
  }
  if (arguments.emit == "bundle") {
    return compileBundle(arguments);
  }
  driver::Session session(arguments.remarks);
  auto loaded = arguments.spec.load(session);
  if (int *code = std::get_if<int>(&loaded)) {
    return *code;
  }
  auto &module = std::get<mlir::OwningOpRef<mlir::ModuleOp>>(loaded);
  if (arguments.emit == "spec") {
    return writeFile(arguments.output, arguments.spec.text()) ? Success
                                                              : BadInput;
  }
  bool wantsReport = arguments.report || !arguments.reportJson.empty();
  bool wantsTimes = arguments.times || !arguments.timesJson.empty();
  if (arguments.emit != "object") {
    if (wantsTimes) {
      printError("--times and --times-json go with --emit object");
      return BadInput;
    }
    if (wantsReport) {
      printError("--report and --report-json describe machine code: they go "
                 "with --emit object");
      return BadInput;
    }
    return compileText(arguments, *module);
  }
  driver::PhaseTimes times;
  driver::CompileOptions options = arguments.spec.compileOptions();
  options.times = &times;
  auto compiled = driver::compile(*module, options);
  if (failed(compiled)) {
    return CannotCompileOrExecute;
  }
  if (!arguments.spec.saveTile(*compiled)) {
    return BadInput;
  }
  // The object goes to standard output unless the report does.
  bool objectWanted = !arguments.output.empty() || !arguments.report;
  llvm::StringRef object(
      reinterpret_cast<const char *>(compiled->codeObject.data()),
      compiled->codeObject.size());
  if (objectWanted && !writeFile(arguments.output, object)) {
    return BadInput;
  }
  if (arguments.report) {
    auto target = target::TargetInfo::get(arguments.spec.compileOptions().chip);
    llvm::raw_ostream &stream =
        arguments.output == "-" ? llvm::errs() : llvm::outs();
    stream << codegen::formatReports(compiled->reports,
                                     llvm::cantFail(std::move(target)));
    // A tile program written by hand has none.
    if (!compiled->schedule.empty()) {
      stream << "  schedule        " << compiled->schedule << "\n";
    }
    // What is not the default.
    if (compiled->linker != "LLD") {
      stream << "  linker          " << compiled->linker << "\n";
    }
    stream.flush();
  }
  if (!arguments.reportJson.empty() &&
      !writeFile(arguments.reportJson,
                 codegen::reportsToJson(compiled->reports))) {
    return BadInput;
  }
  if (arguments.times) {
    llvm::errs() << times.format();
  }
  if (!arguments.timesJson.empty() &&
      !writeFile(arguments.timesJson, times.toJson())) {
    return BadInput;
  }
  return Success;
}

void cli::addCompile(CLI::App &app, Action &action) {
  auto arguments = std::make_shared<CompileArguments>();
  CLI::App *command = app.add_subcommand(
      "compile", "Compile a spec to a code object, its assembly, its tile "
                 "program, or a bundle");
  arguments->spec.add(*command, /*several=*/true);
  command
      ->add_option(
          "--emit", arguments->emit,
          "What to write: spec (the input, for a file to start from), "
          "tile (after tenon-lower-to-tile), isa (assembly), object (a "
          "linked code object), bundle (kernels with their plans, for the "
          "runtime)")
      ->check(CLI::IsMember({"spec", "tile", "isa", "object", "bundle"}))
      ->capture_default_str();
  command->add_option("-o,--output", arguments->output,
                      "Output file (default and '-': standard output; with "
                      "--report and no -o, the report alone)");
  command->add_flag("--report", arguments->report,
                    "Print registers, LDS, occupancy and instruction counts");
  command->add_option("--report-json", arguments->reportJson,
                      "Write the report to a file as JSON");
  command->add_flag("--times", arguments->times,
                    "Print the CPU time of every pass and of LLVM, with "
                    "--emit object");
  command->add_option("--times-json", arguments->timesJson,
                      "Write these times to a file as JSON");
  command->add_flag("--remarks", arguments->remarks,
                    "Print what the passes decided and why");
  command->callback([arguments, &action] {
    action = [arguments] { return compileCommand(*arguments); };
  });
}
