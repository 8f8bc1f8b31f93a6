//===- EventTimer.h - times by events of HIP --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TOOLS_SELFTEST_EVENTTIMER_H
#define TENON_TOOLS_SELFTEST_EVENTTIMER_H

#include <functional>
#include <memory>
#include <optional>

namespace tenon::selftest {

/// Times work on the default stream by two events around it. HIP is the library
/// that the runtime has opened.
class EventTimer {
public:
  /// Null when the process has opened no HIP.
  static std::unique_ptr<EventTimer> create();
  ~EventTimer();

  /// Microseconds between an event before and an event behind \p work; none
  /// when it or HIP fails.
  std::optional<double> time(const std::function<bool()> &work);

private:
  int (*record)(void *event, void *stream) = nullptr;
  int (*synchronize)(void *event) = nullptr;
  int (*elapsed)(float *milliseconds, void *start, void *stop) = nullptr;
  int (*destroy)(void *event) = nullptr;
  void *start = nullptr, *stop = nullptr;
};

} // namespace tenon::selftest

#endif // TENON_TOOLS_SELFTEST_EVENTTIMER_H
