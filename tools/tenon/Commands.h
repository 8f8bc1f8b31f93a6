//===- Commands.h - the subcommands of tenon --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TOOLS_TENON_COMMANDS_H
#define TENON_TOOLS_TENON_COMMANDS_H

#include "tenon/Driver/Compile.h"
#include "tenon/Runtime/Bundle.h"
#include "tenon/Sim/Check.h"
#include "tenon/Sim/Timing.h"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tenon::cli {

/// The exit codes of every subcommand.
enum ExitCode {
  Success = 0,
  CheckFailed = 1,
  BadInput = 2,
  CannotCompileOrExecute = 3,
};

/// Adds the subcommand to \p app; when it is chosen, it sets \p action to what
/// returns the exit code.
using Action = std::function<int()>;
void addCache(CLI::App &app, Action &action);
void addBundle(CLI::App &app, Action &action);
void addCompile(CLI::App &app, Action &action);
void addDoctor(CLI::App &app, Action &action);
void addRun(CLI::App &app, Action &action);
void addOps(CLI::App &app, Action &action);
void addSelfTest(CLI::App &app, Action &action);
void addSim(CLI::App &app, Action &action);

/// Splits `NAME=VALUE`; throws CLI::ValidationError for text without either.
std::pair<std::string, std::string> splitAssignment(const std::string &option,
                                                    const std::string &text);

/// Prints "tenon: error: ..." to standard error.
void printError(const std::string &message);

/// Prints what the simulator found to standard error.
void printFindings(llvm::ArrayRef<sim::Finding> findings);

/// Adds --checks, --perturb and --wg-order.
void addCheckOptions(CLI::App &command, std::string &checks, uint64_t &perturb,
                     std::optional<uint64_t> &workgroupOrder);

/// Adds --linker.
void addLinkerOption(CLI::App &command, std::string &linker);

/// The values of --timing, --cache, --skip-values and --trace.
struct TimingArguments {
  std::string mode;  ///< empty: no timing
  std::string cache; ///< empty: cold
  bool skipValues = false;
  std::string trace;
  std::vector<std::string> constants; ///< NAME=VALUE

  /// Throws CLI::ValidationError for constants that are no numbers and for
  /// options that nothing would come of without --timing.
  std::optional<sim::TimingOptions> options() const;
};
void addTimingOptions(CLI::App &command, TimingArguments &arguments);

/// Writes a file, or standard output when \p path is empty or "-". Returns
/// false after printing an error.
bool writeFile(const std::string &path, llvm::StringRef bytes);

/// What both compile and run take: a spec file, or an op and its parameters.
class SpecArguments {
public:
  /// With \p several, any number of files.
  void add(CLI::App &command, bool several = false);

  /// The parsed spec with its target set. Returns the exit code instead after
  /// printing an error.
  std::variant<mlir::OwningOpRef<mlir::ModuleOp>, int>
  load(driver::Session &session);

  /// The text of what was loaded.
  const std::string &text() const { return loadedText; }

  /// All that the command line names, each compiled to a kernel of a bundle.
  /// Returns the exit code instead after printing an error.
  std::variant<std::vector<runtime::BundleKernel>, int>
  compileForBundle(bool printRemarks);

  driver::CompileOptions compileOptions() const;

  /// Writes the tile program to the file of --save-tile, if there is one.
  /// Returns false after printing an error.
  bool saveTile(const driver::Compiled &compiled) const;
  bool savesTile() const { return !tileFile.empty(); }

private:
  std::variant<mlir::OwningOpRef<mlir::ModuleOp>, int>
  loadFile(driver::Session &session, const std::string &path);
  std::variant<mlir::OwningOpRef<mlir::ModuleOp>, int>
  loadOp(driver::Session &session);
  std::variant<mlir::OwningOpRef<mlir::ModuleOp>, int>
  prepare(mlir::OwningOpRef<mlir::ModuleOp> module);
  runtime::Settings givenSettings() const;

  std::vector<std::string> paths;
  std::string op;
  std::vector<std::string> settings;
  std::string target = "gfx950";
  std::string schedule;
  std::string linker = "lld";
  std::string tileFile;
  std::string loadedText;
};

} // namespace tenon::cli

#endif // TENON_TOOLS_TENON_COMMANDS_H
