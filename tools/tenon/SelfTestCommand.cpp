//===- SelfTestCommand.cpp - tenon selftest ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The self-test is a program of its own, so that it can be sent to machines
// without a compiler.
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

using namespace tenon;
using namespace tenon::cli;

void cli::addSelfTest(CLI::App &app, Action &action) {
  CLI::App *command = app.add_subcommand(
      "selftest", "Run kernels on a device and compare results and times with "
                  "those of the simulator (tenon selftest --help)");
  command->prefix_command();
  command->set_help_flag();
  command->callback([command, &action] {
    std::vector<std::string> arguments = command->remaining();
    action = [arguments] {
      auto program = llvm::sys::findProgramByName(
          "tenon-selftest",
          {llvm::sys::path::parent_path(llvm::sys::fs::getMainExecutable(
              nullptr, reinterpret_cast<void *>(&cli::addSelfTest)))});
      if (!program) {
        printError("tenon-selftest is not beside tenon");
        return int(BadInput);
      }
      std::vector<char *> raw = {program->data()};
      for (const std::string &argument : arguments) {
        raw.push_back(const_cast<char *>(argument.c_str()));
      }
      raw.push_back(nullptr);
      execv(raw[0], raw.data());
      printError(
          fmt::format("cannot start '{}': {}", *program, std::strerror(errno)));
      return int(BadInput);
    };
  });
}
