//===- SpecArguments.cpp - a spec from the command line ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "tenon/Driver/Bundle.h"
#include "tenon/Driver/OpCatalogue.h"
#include "tenon/Driver/SpecKey.h"

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

void cli::addLinkerOption(CLI::App &command, std::string &linker) {
  command
      .add_option("--linker", linker,
                  "What links the code object: lld, or comgr, the library of "
                  "ROCm, which also reads it for comparison. Where comgr is "
                  "not installed or does not know the chip, a warning says "
                  "so, and lld links")
      ->check(CLI::IsMember({"lld", "comgr"}))
      ->capture_default_str();
}

void SpecArguments::add(CLI::App &command, bool several) {
  CLI::Option *files = command.add_option(
      "spec", paths,
      several ? "Spec: a .mlir file with one tenon op ('-': standard input); "
                "several with --emit bundle"
              : "Spec: a .mlir file with one tenon op ('-': standard input)");
  files->expected(0, several ? CLI::detail::expected_max_vector_size : 1);
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
  addLinkerOption(command, linker);
  command.add_option("--save-tile", tileFile,
                     "Write the tile program of the schedule that is taken to "
                     "this file, and line tables that name its lines into the "
                     "code object");
}

driver::CompileOptions SpecArguments::compileOptions() const {
  driver::CompileOptions options;
  options.chip = target;
  options.linker =
      linker == "comgr" ? driver::Linker::Comgr : driver::Linker::Lld;
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

using Loaded = std::variant<mlir::OwningOpRef<mlir::ModuleOp>, int>;

static int badInput(const std::string &message) {
  printError(message);
  return BadInput;
}

runtime::Settings SpecArguments::givenSettings() const {
  runtime::Settings pairs;
  for (const std::string &setting : settings) {
    pairs.push_back(splitAssignment("--set", setting));
  }
  return pairs;
}

Loaded SpecArguments::loadFile(driver::Session &session,
                               const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!buffer) {
    return badInput("cannot read '" + path +
                    "': " + buffer.getError().message());
  }
  loadedText = (*buffer)->getBuffer().str();
  return prepare(session.parseText(loadedText, path));
}

Loaded SpecArguments::loadOp(driver::Session &session) {
  auto text = driver::specText(op, givenSettings());
  if (!text) {
    return badInput(llvm::toString(text.takeError()));
  }
  loadedText = std::move(*text);
  return prepare(session.parseText(loadedText, "--op " + op));
}

Loaded SpecArguments::prepare(mlir::OwningOpRef<mlir::ModuleOp> module) {
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

Loaded SpecArguments::load(driver::Session &session) {
  if (paths.empty() == op.empty()) {
    return badInput(paths.empty()
                        ? "no spec: give a .mlir file, or --op NAME"
                        : "give either a spec file or --op, not both");
  }
  if (op.empty() && !settings.empty()) {
    return badInput("--set goes with --op; a spec file says it all");
  }
  if (paths.size() > 1) {
    return badInput("several spec files go with --emit bundle alone");
  }
  return op.empty() ? loadFile(session, paths[0]) : loadOp(session);
}

/// The kernel of a spec whose settings are \p settings, found from the spec
/// when there are none.
static std::variant<runtime::BundleKernel, int>
compileKernel(mlir::ModuleOp module, const driver::CompileOptions &options,
              const std::string &op,
              std::optional<runtime::Settings> settings) {
  std::string name = op;
  if (!settings) {
    auto found = driver::specSettings(module);
    if (!found) {
      return badInput(llvm::toString(found.takeError()));
    }
    settings = std::move(*found);
    name = driver::specOpName(module);
  }
  auto compiled = driver::compile(module, options);
  if (failed(compiled)) {
    return CannotCompileOrExecute;
  }
  auto kernel = driver::bundleKernel(*compiled, name, *settings, options.chip);
  if (!kernel) {
    return badInput(llvm::toString(kernel.takeError()));
  }
  return std::move(*kernel);
}

std::variant<std::vector<runtime::BundleKernel>, int>
SpecArguments::compileForBundle(bool printRemarks) {
  std::vector<runtime::BundleKernel> kernels;
  if (paths.size() < 2) {
    driver::Session session(printRemarks);
    Loaded loaded = load(session);
    if (int *code = std::get_if<int>(&loaded)) {
      return *code;
    }
    auto kernel = compileKernel(
        *std::get<mlir::OwningOpRef<mlir::ModuleOp>>(loaded), compileOptions(),
        op, op.empty() ? std::nullopt : std::optional(givenSettings()));
    if (int *code = std::get_if<int>(&kernel)) {
      return *code;
    }
    kernels.push_back(std::get<runtime::BundleKernel>(std::move(kernel)));
    return kernels;
  }
  if (!op.empty() || !settings.empty()) {
    return badInput("give either spec files or --op, not both");
  }
  for (const std::string &path : paths) {
    driver::Session session(printRemarks);
    Loaded loaded = loadFile(session, path);
    if (int *code = std::get_if<int>(&loaded)) {
      return *code;
    }
    auto kernel =
        compileKernel(*std::get<mlir::OwningOpRef<mlir::ModuleOp>>(loaded),
                      compileOptions(), op, std::nullopt);
    if (int *code = std::get_if<int>(&kernel)) {
      return *code;
    }
    kernels.push_back(std::get<runtime::BundleKernel>(std::move(kernel)));
  }
  return kernels;
}
