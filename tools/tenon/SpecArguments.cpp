//===- SpecArguments.cpp - a spec from the command line ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "tenon/Driver/OpCatalogue.h"

#include "mlir/AsmParser/AsmParser.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace tenon;
using namespace tenon::cli;

std::pair<std::string, std::string>
cli::splitAssignment(const std::string &option, const std::string &text) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw CLI::ValidationError(option,
                               "expected NAME=VALUE, found '" + text + "'");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void SpecArguments::add(CLI::App &command) {
  command.add_option(
      "spec", path,
      "Spec: a .mlir file with one tenon op ('-': standard input)");
  command.add_option("--op", op,
                     "Instead of a file: the op to write a spec for "
                     "(`tenon ops` lists them)");
  command
      .add_option("--set", settings,
                  "With --op: a static parameter of the op, NAME=VALUE "
                  "(`tenon ops NAME` lists them with their defaults)")
      ->allow_extra_args(false);
  command.add_option("--target", target, "Chip to compile for")
      ->capture_default_str();
  command.add_option("--schedule", schedule,
                     "Use this schedule instead of the ranked ones, such as "
                     "\"{waves = 4}\"");
  command.add_option("--save-tile", tileFile,
                     "Write the tile program of the schedule that is taken to "
                     "this file, and line tables that name its lines into the "
                     "code object");
}

driver::CompileOptions SpecArguments::compileOptions() const {
  driver::CompileOptions options;
  options.chip = target;
  if (!schedule.empty()) {
    options.schedule = schedule;
  }
  if (savesTile()) {
    options.tileFile = tileFile;
  }
  return options;
}

bool SpecArguments::saveTile(const driver::Compiled &compiled) const {
  return !savesTile() || writeFile(tileFile, compiled.tileProgram);
}

std::variant<mlir::OwningOpRef<mlir::ModuleOp>, int>
SpecArguments::load(driver::Session &session) {
  auto badInput = [](const std::string &message) {
    printError(message);
    return BadInput;
  };
  if (path.empty() == op.empty()) {
    return badInput(path.empty() ? "no spec: give a .mlir file, or --op NAME"
                                 : "give either a spec file or --op, not both");
  }
  if (op.empty() && !settings.empty()) {
    return badInput("--set goes with --op; a spec file says it all");
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (op.empty()) {
    auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
    if (!buffer) {
      return badInput("cannot read '" + path +
                      "': " + buffer.getError().message());
    }
    loadedText = (*buffer)->getBuffer().str();
    module = session.parseText(loadedText, path);
  } else {
    std::vector<std::pair<std::string, std::string>> pairs;
    for (const std::string &setting : settings) {
      pairs.push_back(splitAssignment("--set", setting));
    }
    auto text = driver::specText(op, pairs);
    if (!text) {
      return badInput(llvm::toString(text.takeError()));
    }
    loadedText = std::move(*text);
    module = session.parseText(loadedText, "--op " + op);
  }
  if (!module) {
    return CannotCompileOrExecute;
  }
  if (!schedule.empty() &&
      !isa_and_nonnull<mlir::DictionaryAttr>(
          mlir::parseAttribute(schedule, module->getContext()))) {
    return badInput("--schedule: expected a dictionary such as {waves = 4}, "
                    "found '" +
                    schedule + "'");
  }
  auto info = driver::setTarget(*module, target);
  if (!info) {
    return badInput(llvm::toString(info.takeError()));
  }
  return module;
}
