//===- CheckTaint.h - where undefined data go -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bits of registers, LDS and scratch hold undefined data. Undefined data
// may be moved and computed with; they are a fault where they reach a store, an
// address, EXEC or a branch. Moves, selections, bit operations, shifts, packed
// halves and conversions are followed bit by bit; other operations make all of
// their result undefined in the lanes where a source is.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_CHECKTAINT_H
#define TENON_LIB_SIM_CHECKTAINT_H

#include "CheckProgram.h"
#include "Wave.h"

#include <memory>
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

/// Address of a lane in its private segment; may lie outside of it.
inline int64_t scratchAddress(const Wave &wave, const Instr &instr,
                              unsigned lane) {
  int64_t offset = instr.imm;
  offset += instr.saddrUsed ? int32_t(wave.s[instr.sbase]) : 0;
  offset += instr.addrUsed ? int32_t(wave.v[instr.addr][lane]) : 0;
  return offset;
}

/// A use of undefined data that is a fault.
struct TaintFault {
  const char *message = nullptr; ///< null: none
  int lane = -1;
};

/// Undefined data in the registers and in the private segment of one wave.
class TaintState {
public:
  /// Starts a wave: v0 and the first `scalars` scalar registers are defined.
  void reset(unsigned scalars, uint32_t scratchBytes);

  /// Follows one instruction that is about to execute. LDS has a byte for each
  /// of its bytes that holds the undefined bits.
  TaintFault step(const Wave &wave, const CheckRecord &record,
                  const Instr &instr, std::vector<uint8_t> &ldsUndefined) {
    // With no undefined register among those that it names, an instruction
    // without memory changes nothing.
    bool isLocal =
        record.kind != CheckKind::Lds && !record.is(checkScratch) && !scc;
    if (isLocal && !touchesUndefined(record)) [[likely]] {
      return {};
    }
    return follow(wave, record, instr, ldsUndefined);
  }

  /// A load is about to fill registers of a lane from bytes of which these bits
  /// are undefined.
  void load(const CheckRecord &record, unsigned row, unsigned lane,
            const uint8_t *undefined);

  /// Bits of a register that a scalar load is about to fill are undefined.
  void loadScalar(unsigned reg, uint32_t undefined) {
    setScalar(reg, scalars[reg] | undefined);
  }

  /// The undefined bits of what a lane stores, byte by byte.
  void stored(const CheckRecord &record, unsigned row, unsigned lane,
              uint8_t *undefined) const;

  /// The undefined bits of the private segment at an address of a lane, for
  /// accesses that FLAT instructions make; null outside.
  uint8_t *scratchByte(unsigned lane, uint64_t address) {
    return address < scratchSize
               ? reinterpret_cast<uint8_t *>(scratch.data()) +
                     (address / 4 * waveSize + lane) * 4 + address % 4
               : nullptr;
  }

private:
  struct Sources;
  static constexpr unsigned rowWords = rowTemp / 64;

  bool touchesUndefined(const CheckRecord &record) const {
    uint64_t hit = 0;
    for (unsigned i = 0; i < rowWords; ++i) {
      hit |= record.touched.vector[i] & rowsUndefined[i];
    }
    return hit || (record.touched.scalar[0] & scalarsUndefined[0]) ||
           (record.touched.scalar[1] & scalarsUndefined[1]);
  }
  TaintFault follow(const Wave &wave, const CheckRecord &record,
                    const Instr &instr, std::vector<uint8_t> &ldsUndefined);

  // Rows of the register file. Those that are undefined as a whole, or defined,
  // have no masks.
  bool isUndefined(unsigned row) const {
    return (rowsUndefined[row / 64] >> (row % 64)) & 1;
  }
  const uint32_t *bits(unsigned row) const;
  uint32_t *masksOf(unsigned row);
  void settle(unsigned row);
  void setRow(unsigned row, const Row &undefined, uint64_t lanes);
  void defineRow(unsigned row, uint64_t lanes);
  uint64_t lanesUndefined(unsigned row) const;
  uint64_t lanesUndefined(const RegisterRange &range) const;

  bool scalarTaint(const RegisterRange &range) const;
  uint64_t pairTaint(unsigned reg) const {
    return scalars[reg] | uint64_t(scalars[reg + 1]) << 32;
  }
  void setScalar(unsigned reg, uint32_t undefined);
  void setPair(unsigned reg, uint64_t undefined) {
    setScalar(reg, uint32_t(undefined));
    setScalar(reg + 1, uint32_t(undefined >> 32));
  }
  void define(const CheckRecord &record, uint64_t lanes);

  TaintFault stepValu(const Wave &wave, const CheckRecord &record,
                      const Instr &instr);
  void fetch(const Wave &wave, const CheckRecord &record, const Instr &instr,
             Sources &sources) const;
  void stepPacked(const Wave &wave, const CheckRecord &record,
                  const Instr &instr);
  bool stepCrossLane(const Wave &wave, const CheckRecord &record,
                     const Instr &instr);
  void stepMfma(const CheckRecord &record, const Instr &instr);
  TaintFault stepSalu(const Wave &wave, const CheckRecord &record,
                      const Instr &instr);
  TaintFault stepMemory(const Wave &wave, const CheckRecord &record,
                        const Instr &instr);
  void stepScratch(const Wave &wave, const CheckRecord &record,
                   const Instr &instr);
  TaintFault stepSmem(const CheckRecord &record);
  TaintFault stepLds(const Wave &wave, const CheckRecord &record,
                     const Instr &instr, std::vector<uint8_t> &undefined);
  void stepPermute(const Wave &wave, const CheckRecord &record,
                   const Instr &instr);
  void readLds(const Wave &wave, const CheckRecord &record, const Instr &instr,
               const std::vector<uint8_t> &undefined);
  void readTransposed(const Wave &wave, const CheckRecord &record,
                      const Instr &instr,
                      const std::vector<uint8_t> &undefined);
  void writeLds(const Wave &wave, const CheckRecord &record, const Instr &instr,
                std::vector<uint8_t> &undefined) const;
  TaintFault checkExec();

  uint64_t rowsUndefined[rowWords] = {}; ///< rows with an undefined bit
  uint64_t rowsWhole[rowWords] = {};     ///< undefined in all bits: no masks
  uint64_t scalarsUndefined[2] = {};
  Row masks[rowTemp];
  uint32_t scalars[sgprCount] = {};
  bool scc = false;
  uint32_t scratchSize = 0;      ///< bytes per lane
  std::vector<uint32_t> scratch; ///< laid out as Wave::scratch
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_CHECKTAINT_H
