//===- Dispatch.h - workgroups of one launch --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_DISPATCH_H
#define TENON_LIB_SIM_DISPATCH_H

#include "Wave.h"
#include "WaveChecks.h"

#include "tenon/Sim/Device.h"

#include <atomic>
#include <mutex>

namespace tenon::sim {

/// One launch: what its workgroups have in common, and their execution.
class Dispatch {
public:
  Dispatch(Memory &memory, const Kernel &kernel, const LaunchConfig &config,
           uint64_t loadAddress);
  ~Dispatch();

  /// Checks the configuration and prepares kernel arguments.
  llvm::Error prepare();

  /// Runs all workgroups.
  llvm::Expected<LaunchResult> run();

private:
  /// The part of the launch that one host thread works on.
  struct Worker {
    LaunchResult result;
    std::vector<std::unique_ptr<Wave>> waves;
    Workgroup workgroup;
    GroupChecks group;
    std::vector<std::unique_ptr<WaveChecks>> waveChecks;
    std::vector<uint64_t> profile; ///< by record
  };

  llvm::Error makeKernarg();
  llvm::Error makeDispatchPacket();
  void fillHidden(const KernelArg &arg, std::vector<uint8_t> &bytes) const;
  void work(Worker &worker);
  /// Runs the workgroup that comes at a position of the order; false after an
  /// error.
  bool runWorkgroup(Worker &worker, uint64_t position);
  uint64_t workgroupAt(uint64_t position) const {
    return order.empty() ? position : order[position];
  }
  void startWave(Wave &wave, Worker &worker, unsigned waveIndex);
  /// Runs a wave until it blocks, ends, or has used up its share. An observed
  /// wave is checked, profiled and perturbed on the way.
  template <bool observed> void runWave(Wave &wave, Worker &worker);
  /// Whether a barrier that only the other waves of the workgroup reach, since
  /// some have ended, ends the launch.
  bool failsAtBarrier(unsigned waiting, unsigned ended, const Wave &waiter,
                      uint64_t position);
  void recordError(uint64_t position, const Wave &wave, llvm::StringRef message,
                   std::optional<Check> check);
  LaunchResult collect(const std::vector<Worker> &workers) const;

  Memory &memory;
  const Kernel &kernel;
  const LaunchConfig &config;
  const Program *program = nullptr;
  uint64_t loadAddress;
  uint64_t kernargAddress = 0;
  uint64_t packetAddress = 0;
  uint64_t queueAddress = 0;
  std::vector<uint8_t> kernarg;
  uint32_t entryRecord = 0;
  uint32_t rsrc1 = 0, rsrc2 = 0;
  uint16_t properties = 0;
  uint64_t workgroups = 0;
  unsigned workItems = 0, wavesPerWorkgroup = 0;
  uint32_t ldsBytes = 0;

  std::atomic<uint64_t> nextWorkgroup = 0;
  std::atomic<int64_t> budget = 0;
  std::atomic<uint64_t> firstFailed = ~uint64_t(0); ///< a position
  std::mutex errorLock;
  std::string errorText;
  std::optional<RawFinding> errorFinding;

  std::vector<uint64_t> order; ///< workgroups by position; empty: ascending
  bool observed = false;
  std::optional<LaunchChecks> checks;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_DISPATCH_H
