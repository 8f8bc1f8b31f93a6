//===- TimedKernel.h - times of assembled kernels ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_TEST_UNIT_SIM_TIMEDKERNEL_H
#define TENON_TEST_UNIT_SIM_TIMEDKERNEL_H

#include "Assembler.h"

#include "tenon/Target/TargetInfo.h"
#include "tenon/Target/TimingFacts.h"

#include "llvm/ADT/StringExtras.h"

#include <functional>

namespace tenon::sim::test {

inline const target::TargetInfo &timedChip() {
  static const target::TargetInfo chip =
      llvm::cantFail(target::TargetInfo::get("gfx950"));
  return chip;
}
inline const target::ChipFacts &chipFacts() { return timedChip().facts(); }
inline const target::TimingFacts &timingFacts() { return timedChip().timing(); }

/// Lines of assembly, `count` times.
inline std::string repeat(unsigned count, const std::string &lines) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) {
    text += lines;
  }
  return text;
}

/// Launches of one assembled kernel with buffers as its arguments. Code is
/// warm, nothing is checked, and the trace is kept.
struct TimedKernel {
  LaunchConfig config;
  KernelOptions options;
  TimingOptions timing;
  std::vector<uint64_t> bufferBytes; ///< of zeros, one per argument
  /// Fills the buffers, whose addresses it gets.
  std::function<void(Memory &, llvm::ArrayRef<uint64_t>)> fill;

  LaunchResult launch(const std::string &body) {
    auto object = loadObject(assemble(body, options));
    Device device;
    std::vector<uint64_t> addresses;
    for (uint64_t bytes : bufferBytes) {
      addresses.push_back(llvm::cantFail(device.memory().allocate(bytes)));
      config.setArg(8 * (addresses.size() - 1), addresses.back());
    }
    if (fill) {
      fill(device.memory(), addresses);
    }
    config.checks = CheckSet();
    config.timing = timing;
    config.timing->trace = true;
    llvm::Expected<LaunchResult> result =
        device.launch(object->kernels()[0], config);
    if (!result) {
      ADD_FAILURE() << llvm::toString(result.takeError());
      LaunchResult none;
      none.timing.emplace();
      return none;
    }
    return *result;
  }

  TimingResult run(const std::string &body) { return *launch(body).timing; }
  uint64_t cycles(const std::string &body) { return run(body).cycles; }
};

/// The instructions of one wave in the order of issue.
inline std::vector<TraceEvent> waveOf(const TimingResult &timing,
                                      uint64_t workgroup, uint32_t wave) {
  std::vector<TraceEvent> events;
  for (const TraceEvent &event : timing.trace) {
    if (event.workgroup == workgroup && event.wave == wave) {
      events.push_back(event);
    }
  }
  return events;
}

/// The first instruction of a wave whose text begins so, from the one with
/// number `from` on.
inline TraceEvent eventOf(const TimingResult &timing, llvm::StringRef text,
                          uint64_t workgroup = 0, uint32_t wave = 0,
                          size_t from = 0) {
  std::vector<TraceEvent> events = waveOf(timing, workgroup, wave);
  for (size_t i = from; i < events.size(); ++i) {
    if (llvm::StringRef(timing.traceTexts.at(events[i].record))
            .trim()
            .starts_with(text)) {
      return events[i];
    }
  }
  ADD_FAILURE() << "no " << text.str() << " in the trace";
  return {};
}

/// The clock at which an instruction was issued.
inline uint64_t issueOf(const TraceEvent &event) {
  return event.end - timingFacts().slotClocks;
}

/// Clocks from an instruction to the slot in which its wave goes on when it has
/// to wait for so many.
inline uint64_t inSlots(uint64_t clocks) {
  unsigned slot = timingFacts().slotClocks;
  return (clocks + slot - 1) / slot * slot;
}

} // namespace tenon::sim::test

#endif // TENON_TEST_UNIT_SIM_TIMEDKERNEL_H
