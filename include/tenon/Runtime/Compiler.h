//===- Compiler.h - the compiler as a child process -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The runtime reaches the compiler as a program, so that no failure of it ends
// the process that serves, and so that it is needed only where something has to
// be compiled.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_RUNTIME_COMPILER_H
#define TENON_RUNTIME_COMPILER_H

#include "tenon/Runtime/Result.h"

#include <string>
#include <vector>

namespace tenon::runtime {

/// The program \p name as the shell would find it: itself when it has a slash,
/// else in the folders of PATH. Empty when there is none.
std::string findProgram(const std::string &name);

/// What tells builds of the compiler at \p path apart: a hash of the file, and
/// of the libraries of Tenon, MLIR, LLVM and LLD that it loads: of their build
/// id where they have one, else of their content. Of a script, such as the
/// command that a wheel installs, also the build of the program to which it
/// leads, which it is started for with the option --program.
Result<std::string> compilerBuild(const std::string &path);

/// Runs \p arguments, the first of which is the program's path, without input
/// and waits for it. Its standard error is in the error when it does not end
/// with exit code 0: "ended with exit code 3", "was ended by signal 9
/// (Killed)". \p output gets what it writes to its standard output and error,
/// at most 64 KiB. May be called from several threads.
Status runProgram(const std::vector<std::string> &arguments,
                  std::string *output = nullptr);

} // namespace tenon::runtime

#endif // TENON_RUNTIME_COMPILER_H
