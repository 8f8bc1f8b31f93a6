//===- LaunchSetup.h - what workgroups of a launch share --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_LAUNCHSETUP_H
#define TENON_LIB_SIM_LAUNCHSETUP_H

#include "WaveChecks.h"

#include "tenon/Sim/Device.h"

namespace tenon::sim {

/// A launch before its first instruction: the checked configuration, the
/// kernel arguments in device memory, and what follows from the descriptor.
/// Nothing of it changes while the launch runs.
class LaunchSetup {
public:
  LaunchSetup(Memory &memory, const Kernel &kernel, const LaunchConfig &config,
              uint64_t loadAddress);
  ~LaunchSetup();
  LaunchSetup(const LaunchSetup &) = delete;
  LaunchSetup &operator=(const LaunchSetup &) = delete;

  /// Checks the configuration and prepares kernel arguments.
  llvm::Error prepare();

  /// Linear number of the workgroup that is dispatched at a position.
  uint64_t workgroupAt(uint64_t position) const {
    return order.empty() ? position : order[position];
  }

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
  uint32_t rsrc1 = 0, rsrc2 = 0; ///< of the descriptor
  uint16_t properties = 0;       ///< of the descriptor
  uint64_t workgroups = 0;
  uint64_t resident = 0; ///< workgroups that the chip holds at a time
  unsigned workItems = 0, wavesPerWorkgroup = 0;
  uint32_t ldsBytes = 0;

  bool observed = false; ///< checks, statistics or a profile are wanted
  std::optional<LaunchChecks> checks; ///< when observed

private:
  llvm::Error makeKernarg();
  llvm::Error makeDispatchPacket();
  void fillHidden(const KernelArg &arg, std::vector<uint8_t> &bytes) const;

  std::vector<uint64_t> order; ///< workgroups by position; empty: ascending
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_LAUNCHSETUP_H
