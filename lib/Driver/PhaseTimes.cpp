//===- PhaseTimes.cpp - where compile time goes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Driver/PhaseTimes.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Timer.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace tenon::driver;

namespace {
/// Times passes. Those that only run others have no argument and are not
/// counted twice.
class PassTimer : public mlir::PassInstrumentation {
public:
  explicit PassTimer(PhaseTimes &times) : times(times) {}

  void runBeforePass(mlir::Pass *, mlir::Operation *) override {
    starts.push_back(PhaseTimes::now());
  }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *) override { end(pass); }
  void runAfterPassFailed(mlir::Pass *pass, mlir::Operation *) override {
    end(pass);
  }

private:
  void end(mlir::Pass *pass) {
    double seconds = PhaseTimes::now() - starts.back();
    starts.pop_back();
    if (!pass->getArgument().empty()) {
      times.add(pass->getArgument(), seconds);
    }
  }

  PhaseTimes &times;
  std::vector<double> starts;
};
} // namespace

double PhaseTimes::now() {
  llvm::TimeRecord record = llvm::TimeRecord::getCurrentTime();
  return record.getUserTime() + record.getSystemTime();
}

void PhaseTimes::add(llvm::StringRef name, double seconds) {
  auto found = llvm::find_if(
      entries, [&](const auto &entry) { return entry.first == name; });
  if (found == entries.end()) {
    entries.emplace_back(name.str(), seconds);
  } else {
    found->second += seconds;
  }
}

void PhaseTimes::watch(mlir::PassManager &passes) {
  passes.addInstrumentation(std::make_unique<PassTimer>(*this));
}

PhaseTimes::Scope::Scope(PhaseTimes *times, llvm::StringRef name)
    : times(times), name(name.str()), start(now()) {}

PhaseTimes::Scope::~Scope() {
  if (times) {
    times->add(name, now() - start);
  }
}

double PhaseTimes::total() const {
  return std::accumulate(
      entries.begin(), entries.end(), 0.0,
      [](double sum, const auto &entry) { return sum + entry.second; });
}

std::string PhaseTimes::format() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  double sum = total();
  for (const auto &[name, seconds] : entries) {
    stream << llvm::formatv("  {0,-24} {1,8:F1} ms {2,6:P0}\n", name,
                            seconds * 1e3, sum > 0 ? seconds / sum : 0.0);
  }
  stream << llvm::formatv("  {0,-24} {1,8:F1} ms of CPU\n", "all", sum * 1e3);
  return text;
}

std::string PhaseTimes::toJson() const {
  llvm::json::Array phases;
  for (const auto &[name, seconds] : entries) {
    phases.push_back(
        llvm::json::Object{{"name", name}, {"cpu_ms", seconds * 1e3}});
  }
  llvm::json::Object all{{"cpu_ms", total() * 1e3},
                         {"phases", std::move(phases)}};
  std::string text;
  llvm::raw_string_ostream(text)
      << llvm::formatv("{0:2}\n", llvm::json::Value(std::move(all)));
  return text;
}
