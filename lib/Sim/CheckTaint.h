//===- CheckTaint.h - where undefined data go -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which lanes of which registers, and which bytes of LDS, hold undefined data.
// Undefined data may be moved and computed with; they are a fault where they
// reach a store, an address, EXEC or a branch. A register is defined or not as
// a whole in each lane: writing a part of it defines it.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_CHECKTAINT_H
#define TENON_LIB_SIM_CHECKTAINT_H

#include "CheckProgram.h"
#include "Wave.h"

#include <vector>

namespace tenon::sim {

/// Whether lane i accesses LDS `bytes` behind lane i - 1, all inside.
inline bool isOneLdsBlock(const Workgroup &workgroup, const uint32_t *address,
                          uint32_t offset, unsigned bytes) {
  uint32_t different = 0;
  for (unsigned i = 0; i < waveSize; ++i) {
    different |= address[i] ^ (address[0] + i * bytes);
  }
  return different == 0 && uint64_t(address[0]) + offset + bytes * waveSize <=
                               workgroup.lds.size();
}

/// A use of undefined data that is a fault.
struct TaintFault {
  const char *message = nullptr; ///< null: none
  int lane = -1;
};

/// Undefined data in the registers of one wave.
class TaintState {
public:
  /// Starts a wave: v0 and the first `scalars` scalar registers are defined.
  void reset(unsigned scalars);

  /// Follows one instruction that is about to execute.
  TaintFault step(const Wave &wave, const CheckRecord &record,
                  const Instr &instr, std::vector<uint8_t> &ldsUndefined);

  /// A load is about to fill a row in some lanes with undefined data.
  void markUndefined(unsigned row, uint64_t lanes) { rows[row] |= lanes; }

private:
  uint64_t vectorTaint(const RegisterRange &range) const;
  bool scalarTaint(const RegisterRange &range) const;
  uint64_t pairTaint(unsigned reg) const {
    return scalars[reg] | uint64_t(scalars[reg + 1]) << 32;
  }
  void setPair(unsigned reg, uint64_t taint) {
    scalars[reg] = uint32_t(taint);
    scalars[reg + 1] = uint32_t(taint >> 32);
  }
  void define(const CheckRecord &record, uint64_t lanes, uint64_t taint);
  TaintFault stepValu(const Wave &wave, const CheckRecord &record,
                      const Instr &instr);
  void stepPacked(const Wave &wave, const CheckRecord &record,
                  const Instr &instr);
  bool stepCrossLane(const Wave &wave, const CheckRecord &record,
                     const Instr &instr);
  uint64_t operandTaint(const Wave &wave, const CheckRecord &record,
                        const Instr &instr, uint64_t &written) const;
  void stepMfma(const CheckRecord &record);
  TaintFault stepSalu(const Wave &wave, const CheckRecord &record,
                      const Instr &instr);
  TaintFault stepMemory(const Wave &wave, const CheckRecord &record,
                        const Instr &instr);
  TaintFault stepLds(const Wave &wave, const CheckRecord &record,
                     const Instr &instr, std::vector<uint8_t> &undefined);
  void readLds(const Wave &wave, const CheckRecord &record, const Instr &instr,
               const std::vector<uint8_t> &undefined);
  TaintFault checkExec();

  uint64_t rows[512] = {};
  uint32_t scalars[sgprCount] = {};
  bool scc = false;
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKTAINT_H
