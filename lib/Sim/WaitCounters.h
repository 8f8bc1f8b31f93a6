//===- WaitCounters.h - loads in flight of a wave ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_WAITCOUNTERS_H
#define TENON_LIB_SIM_WAITCOUNTERS_H

#include "Instruction.h"

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace tenon::sim {

/// The name of a row of the vector register file ("v5", "a3").
std::string registerName(unsigned row);

/// The operations that vmcnt and lgkmcnt count, and the registers they have
/// not yet filled.
///
/// A load writes its registers when it is issued, and the registers count as
/// pending until a wait covers the load. This equals writing them at the wait,
/// because every use of a pending register is an error, except a later vector
/// load into the same register, which completes later on hardware as well.
/// Loads into LDS are different: other waves may read LDS, so their bytes are
/// kept here until the wait.
class WaitCounters {
public:
  /// Bytes on their way into LDS: those of lane l go to base + l * stride.
  struct LdsCopy {
    uint32_t base = 0;
    uint32_t stride = 0;
    uint64_t lanes = 0; ///< that are written
    uint8_t data[64 * 16];
  };

  enum class Queue : uint8_t { Vmem, Lds, Smem };

  /// Number by which the checks know the LDS access under way, 0 for none;
  /// `completed` receives it when a wait has covered the access.
  uint32_t currentAccess = 0;
  std::vector<uint32_t> *completed = nullptr;

  bool anyPending() const { return pendingRegisters != 0; }

  /// Whether an instruction touches a pending register.
  bool conflicts(const Footprint &footprint) const {
    uint64_t hit = 0;
    for (unsigned i = 0; i < 8; ++i) {
      hit |= footprint.vector[i] & pending.vector[i];
    }
    hit |= footprint.scalar[0] & pending.scalar[0];
    hit |= footprint.scalar[1] & pending.scalar[1];
    return hit != 0;
  }

  /// Name of the first pending register of the footprint ("v5").
  std::string firstConflict(const Footprint &footprint) const;

  /// Whether an LDS load into one of these rows is in flight: a vector memory
  /// load may then not write it.
  bool ldsPending(unsigned firstRow, unsigned count) const;

  /// Vector rows [first, first+count) are on their way; count 0 for stores.
  void issueVmem(unsigned first, unsigned count) {
    vmem.push_back(
        {uint16_t(first), uint8_t(count), Queue::Vmem, currentAccess, nullptr});
    mark(first, count, Queue::Vmem);
  }
  void issueVmemToLds(std::unique_ptr<LdsCopy> copy) {
    vmem.push_back({0, 0, Queue::Vmem, currentAccess, std::move(copy)});
  }
  void issueLds(unsigned first, unsigned count) {
    lgkm.push_back(
        {uint16_t(first), uint8_t(count), Queue::Lds, currentAccess, nullptr});
    mark(first, count, Queue::Lds);
  }
  /// Scalar registers [first, first+count) are on their way.
  void issueSmem(unsigned first, unsigned count);

  /// Completes what a wait for vmcnt <= n guarantees.
  void waitVmem(unsigned n, Wave &wave);
  /// The same for lgkmcnt; scalar loads return in any order, so that they are
  /// complete only at 0.
  void waitLgkm(unsigned n);

private:
  struct Entry {
    uint16_t first;
    uint8_t count;
    Queue queue;
    uint32_t access; ///< of the checks, or 0
    std::unique_ptr<LdsCopy> copy;
  };

  void mark(unsigned first, unsigned count, Queue queue) {
    uint8_t *counts = queue == Queue::Vmem ? vmemCounts : ldsCounts;
    for (unsigned row = first; row < first + count; ++row) {
      ++counts[row];
      pending.vector[row / 64] |= uint64_t(1) << (row % 64);
    }
    pendingRegisters += count;
  }
  void complete(const Entry &entry);

  std::deque<Entry> vmem, lgkm;
  Footprint pending;
  uint8_t vmemCounts[512] = {};
  uint8_t ldsCounts[512] = {};
  uint8_t smemCounts[sgprCount] = {};
  unsigned smemInFlight = 0;
  unsigned pendingRegisters = 0;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_WAITCOUNTERS_H
