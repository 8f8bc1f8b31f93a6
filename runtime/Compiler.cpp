//===- Compiler.cpp - the compiler as a child process -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Runtime/Compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tenon::runtime {

static bool isProgram(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

std::string findProgram(const std::string &name) {
  if (name.find('/') != std::string::npos) {
    return isProgram(name) ? name : "";
  }
  const char *path = std::getenv("PATH");
  std::string_view folders = path ? path : "";
  while (!folders.empty()) {
    size_t colon = std::min(folders.find(':'), folders.size());
    std::string candidate =
        fmt::format("{}/{}", folders.substr(0, colon), name);
    if (colon != 0 && isProgram(candidate)) {
      return candidate;
    }
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return "";
}

namespace {
/// A descriptor that is closed at the end.
struct Descriptor {
  int value = -1;
  ~Descriptor() { close(); }
  void close() {
    if (value >= 0) {
      ::close(value);
    }
    value = -1;
  }
};
} // namespace

/// What is read from \p file until its end, at most \p limit bytes of it.
static std::string readAll(int file, size_t limit) {
  std::string text;
  char buffer[4096];
  while (true) {
    ssize_t count = ::read(file, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count <= 0) {
      return text;
    }
    text.append(buffer, std::min<size_t>(count, limit - text.size()));
  }
}

Status runProgram(const std::vector<std::string> &arguments,
                  std::string *output) {
  auto failed = [&](std::string what, std::string_view said = {}) -> Status {
    while (!said.empty() && said.back() == '\n') {
      said.remove_suffix(1);
    }
    return Error{fmt::format("'{}' {}{}{}", arguments[0], what,
                             said.empty() ? "" : ": ", said)};
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    return failed(fmt::format("cannot be started: {}", std::strerror(errno)));
  }
  Descriptor reading{ends[0]}, writing{ends[1]};
  std::vector<char *> argv;
  for (const std::string &argument : arguments) {
    argv.push_back(const_cast<char *>(argument.c_str()));
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  if (output) {
    posix_spawn_file_actions_adddup2(&actions, writing.value, 1);
  } else {
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  }
  posix_spawn_file_actions_adddup2(&actions, writing.value, 2);
  // Signals that the caller blocks or ignores are the caller's affair.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGCHLD);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  int code = posix_spawn(&child, arguments[0].c_str(), &actions, &attributes,
                         argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code != 0) {
    return failed(fmt::format("cannot be started: {}", std::strerror(code)));
  }
  writing.close();
  std::string said = readAll(reading.value, 64 * 1024);
  if (output) {
    *output = said;
  }
  int state = 0;
  while (waitpid(child, &state, 0) < 0) {
    if (errno != EINTR) {
      // The host process reaps its children itself (SIGCHLD ignored): there is
      // no exit code, and what was to be written tells.
      return {};
    }
  }
  if (WIFSIGNALED(state)) {
    return failed(fmt::format("was ended by signal {} ({})", WTERMSIG(state),
                              strsignal(WTERMSIG(state))),
                  said);
  }
  if (WEXITSTATUS(state) != 0) {
    return failed(fmt::format("ended with exit code {}", WEXITSTATUS(state)),
                  said);
  }
  return {};
}

} // namespace tenon::runtime
