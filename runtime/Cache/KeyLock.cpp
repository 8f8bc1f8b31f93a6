//===- KeyLock.cpp - One builder per key ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KeyLock.h"

#include <algorithm>
#include <cerrno>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>

namespace tenon::runtime::cache {

static constexpr std::string_view lockSuffix = ".lock";

KeyLock::KeyLock(const Folder &folder, const std::string &digest,
                 std::chrono::milliseconds wait)
    : folder(folder), name(digest) {
  using std::chrono::milliseconds;
  using std::chrono::steady_clock;
  name += lockSuffix;
  const steady_clock::time_point end = steady_clock::now() + wait;
  // flock has no time limit, and a signal to end it would be the process's
  // business. Compiling takes seconds; the last step is small beside that.
  milliseconds pause(1);
  constexpr milliseconds longestPause(20);
  while (true) {
    if (!file) {
      file = folder.openFile(name, O_RDWR | O_CREAT);
      if (!file) {
        result = Outcome::Unavailable;
        why = errorText(errno);
        return;
      }
    }
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) {
      if (folder.isNameOf(name, file)) {
        result = Outcome::Held;
        return;
      }
      file.close();
      continue;
    }
    if (errno != EWOULDBLOCK && errno != EINTR) {
      result = Outcome::Unavailable;
      why = "flock: " + errorText(errno);
      file.close();
      return;
    }
    steady_clock::time_point now = steady_clock::now();
    if (now >= end) {
      result = Outcome::TimedOut;
      file.close();
      return;
    }
    auto left = std::chrono::ceil<milliseconds>(end - now);
    std::this_thread::sleep_for(std::min(pause, left));
    pause = std::min(2 * pause, longestPause);
  }
}

KeyLock::~KeyLock() {
  if (result == Outcome::Held) {
    folder.remove(name);
  }
}

void KeyLock::sweep(const Folder &folder) {
  for (const std::string &name : folder.names(lockSuffix)) {
    Descriptor file = folder.openFile(name, O_RDWR);
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 &&
        folder.isNameOf(name, file)) {
      folder.remove(name);
    }
  }
}

} // namespace tenon::runtime::cache
