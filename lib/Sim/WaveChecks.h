//===- WaveChecks.h - the checks of a wave while it runs --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_WAVECHECKS_H
#define TENON_LIB_SIM_WAVECHECKS_H

#include "CheckGlobal.h"
#include "CheckHazard.h"
#include "CheckLds.h"
#include "CheckProgram.h"
#include "CheckTaint.h"
#include "FindingLog.h"
#include "MemoryAccess.h"

#include "tenon/Sim/Device.h"

#include "tenon/Target/TargetInfo.h"

namespace tenon::sim {

/// What the checks of a launch have in common.
struct LaunchChecks {
  LaunchChecks(CheckSet on, const Program &program, target::TargetInfo chip)
      : on(on), program(program), chip(std::move(chip)) {}

  CheckSet on;
  CheckProgram program;
  target::TargetInfo chip;
  mutable GlobalOrder globalOrder; ///< has locks of its own
};

/// The checks of the workgroup that a host thread runs.
struct GroupChecks {
  const LaunchChecks *launch = nullptr;
  LdsOrder ldsOrder;
  GroupOrder *order = nullptr; ///< of device memory, when races are checked
  std::vector<uint8_t> ldsUndefined; ///< by byte, its undefined bits
  FindingLog log;
  AccessStatistics statistics;
};

/// The checks of one wave. A checked wave calls `before` ahead of every
/// instruction and `after` behind it; memory instructions report the addresses
/// of their lanes through noteMemoryAccess.
class WaveChecks {
public:
  /// Starts a wave whose first `scalars` scalar registers are defined.
  void reset(GroupChecks &groupChecks, const Wave &wave, unsigned scalars);

  void before(Wave &wave, uint32_t record);
  void after(Wave &wave);
  void memoryAccess(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
                    MemoryAccessKind kind);

  void scalarAccess(Wave &wave, unsigned reg, uint64_t address, unsigned dwords,
                    MemoryAccessKind kind);

  /// Adds a finding about the instruction under way.
  void report(Check check, const Wave &wave, int lane, std::string message,
              std::optional<FindingSite> other = std::nullopt);
  bool has(Check check) const { return group->launch->on.has(check); }

private:
  void ldsAccess(Wave &wave, const CheckRecord &record);
  void localAccess(Wave &wave, const CheckRecord &record);
  void ldsPart(Wave &wave, const CheckRecord &record, const uint32_t *address,
               uint32_t offset, unsigned row, LdsAccessKind kind);
  void countBankConflicts(const CheckRecord &record, const uint32_t *address,
                          uint32_t offset, uint64_t lanes);
  void followOrder(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
                   MemoryAccessKind kind);
  void trackOrder(const Wave &wave, const CheckRecord &record);
  void touch(const Wave &wave, GlobalOrder::Access access, uint64_t address,
             uint64_t bytes);
  void followUndefined(Wave &wave, const LaneAddresses &lanes, unsigned bytes,
                       MemoryAccessKind kind);
  void followFlat(Wave &wave, const CheckRecord &record);
  void copyToLds(Wave &wave, const CheckRecord &record);

  GroupChecks *group = nullptr;
  HazardState hazards;
  TaintState taint;
  uint32_t current = 0; ///< record of the instruction under way
  std::vector<uint32_t> completed;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_WAVECHECKS_H
