//===- EventTimer.cpp - times by events of HIP ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "EventTimer.h"

#include <dlfcn.h>
#include <string>

namespace tenon::selftest {

std::unique_ptr<EventTimer> EventTimer::create() {
  void *library = nullptr;
  for (const char *version : {"7", "6", "5"}) {
    library = dlopen((std::string("libamdhip64.so.") + version).c_str(),
                     RTLD_NOW | RTLD_NOLOAD);
    if (library) {
      break;
    }
  }
  if (!library) {
    return nullptr;
  }
  auto timer = std::make_unique<EventTimer>();
  int (*make)(void **event) = nullptr;
  auto find = [library](const char *name, auto &function) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(
        dlsym(library, name));
    return function != nullptr;
  };
  bool isComplete = find("hipEventCreate", make) &&
                    find("hipEventRecord", timer->record) &&
                    find("hipEventSynchronize", timer->synchronize) &&
                    find("hipEventElapsedTime", timer->elapsed) &&
                    find("hipEventDestroy", timer->destroy);
  if (!isComplete || make(&timer->start) != 0 || make(&timer->stop) != 0) {
    return nullptr;
  }
  return timer;
}

EventTimer::~EventTimer() {
  if (destroy) {
    (void)(start && destroy(start));
    (void)(stop && destroy(stop));
  }
}

std::optional<double> EventTimer::time(const std::function<bool()> &work) {
  float milliseconds = 0;
  if (record(start, nullptr) != 0 || !work() || record(stop, nullptr) != 0 ||
      synchronize(stop) != 0 || elapsed(&milliseconds, start, stop) != 0) {
    return std::nullopt;
  }
  return 1000.0 * double(milliseconds);
}

} // namespace tenon::selftest
