//===- OpsCommand.cpp - tenon ops -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Commands.h"

#include "tenon/Driver/OpCatalogue.h"

#include <fmt/format.h>

using namespace tenon;
using namespace tenon::cli;

static int opsCommand(const std::string &name) {
  if (name.empty()) {
    for (const runtime::OpEntry &entry : runtime::opEntries()) {
      fmt::print("{:<16} {}\n", entry.name, entry.summary);
    }
    fmt::print("\n`tenon ops NAME` prints an op's contract and parameters.\n");
    return Success;
  }
  auto contract = driver::opContract(name);
  if (!contract) {
    printError(llvm::toString(contract.takeError()));
    return BadInput;
  }
  fmt::print("{}", *contract);
  return Success;
}

void cli::addOps(CLI::App &app, Action &action) {
  auto name = std::make_shared<std::string>();
  CLI::App *command =
      app.add_subcommand("ops", "List the ops, or print the contract of one");
  command->add_option("name", *name, "Op, such as kda_decode");
  command->callback(
      [name, &action] { action = [name] { return opsCommand(*name); }; });
}
