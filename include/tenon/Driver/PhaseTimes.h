//===- PhaseTimes.h - where compile time goes -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DRIVER_PHASETIMES_H
#define TENON_DRIVER_PHASETIMES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mlir {
class PassManager;
} // namespace mlir

namespace tenon::driver {

/// CPU seconds of this process, user and system, by pass and by phase of LLVM.
class PhaseTimes {
public:
  /// Adds \p seconds to the phase \p name; phases keep the order of their first
  /// time.
  void add(llvm::StringRef name, double seconds);

  /// Counts every pass that \p passes runs, by its argument.
  void watch(mlir::PassManager &passes);

  /// Adds the time of its life to a phase.
  class Scope {
  public:
    /// \p times may be null.
    Scope(PhaseTimes *times, llvm::StringRef name);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    PhaseTimes *times;
    std::string name;
    double start;
  };

  llvm::ArrayRef<std::pair<std::string, double>> phases() const {
    return entries;
  }
  double total() const;

  /// A table for people: milliseconds and share of each phase.
  std::string format() const;
  /// `{"cpu_ms": ..., "phases": [{"name": ..., "cpu_ms": ...}, ...]}`.
  std::string toJson() const;

  /// CPU seconds of this process so far.
  static double now();

private:
  std::vector<std::pair<std::string, double>> entries;
};

} // namespace tenon::driver

#endif // TENON_DRIVER_PHASETIMES_H
