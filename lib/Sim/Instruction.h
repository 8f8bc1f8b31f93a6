//===- Instruction.h - a decoded instruction --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_SIM_INSTRUCTION_H
#define TENON_LIB_SIM_INSTRUCTION_H

#include "tenon/Sim/InstructionClass.h"

#include <cstdint>

namespace tenon::sim {

struct Wave;
struct Instr;

/// Executes one instruction for a whole wave.
using Handler = void (*)(Wave &, const Instr &);

/// Numbers of scalar registers that are not general; the scalar register file
/// is indexed by the hardware's operand encoding, so these need no special
/// treatment.
enum : uint16_t {
  sgprFlatScratch = 102,
  sgprVcc = 106,
  sgprM0 = 124,
  sgprNull = 125, ///< reads zero
  sgprExec = 126,
  sgprCount = 128,
};

/// Rows of the vector register file: VGPRs, AGPRs, and rows that decoding
/// modifiers (DPP, SDWA) use to hand operands to the plain operation.
enum : uint16_t {
  rowAgpr = 256,
  rowTemp = 512,
  rowCount = 528,
  noRow = 0xFFFF,
};

/// Where a source operand comes from.
enum class OperandKind : uint8_t {
  None,
  Vgpr,     ///< `reg` is a row of the vector register file
  Sgpr,     ///< `reg` is a scalar register
  Constant, ///< `value`
  Scc,      ///< the three that have to be computed when read
  Vccz,
  Execz,
};

/// Source modifiers of floating-point operands.
enum : uint8_t { modNeg = 1, modAbs = 2 };

struct Operand {
  OperandKind kind = OperandKind::None;
  uint8_t mods = 0;
  uint16_t reg = 0;
  uint64_t value = 0; ///< a constant in the operand's own type
};

/// How the operands of an instruction are encoded.
enum class Encoding : uint8_t {
  Sop1,
  Sop2,
  Sopk,
  Sopc,
  Sopp,
  Smem,
  Vop1,
  Vop2,
  Vopc,
  Vop3,
  Vop3p,
  Mfma,
  Ds,
  Flat,
  Mubuf,
  Unknown,
};

/// One static instruction, decoded once. Fields that an encoding does not have
/// are zero.
struct Instr {
  Handler exec = nullptr;
  /// The plain operation behind a DPP or SDWA prologue.
  Handler inner = nullptr;
  Operand src[3];
  /// Scales of an MFMA with block scales; `opSel` holds the byte of each, two
  /// bits apiece.
  Operand scale[2];
  /// Vector destination (a row), or scalar destination of SOP and SMEM.
  uint16_t dst = noRow;
  /// Scalar destination of a vector instruction (compares, carries).
  uint16_t sdst = 0;
  /// Vector row of an address, and of data to store.
  uint16_t addr = noRow;
  uint16_t data = noRow;
  uint16_t data1 = noRow;
  /// Scalar base: buffer resource, SADDR, SBASE.
  uint16_t sbase = 0;
  int32_t imm = 0;        ///< SIMM16, memory offset
  int32_t imm1 = 0;       ///< second LDS offset; literal K of v_fmaak/v_fmamk
  uint32_t modifiers = 0; ///< second dword of DPP and SDWA encodings
  uint32_t target = 0;    ///< record index of a branch target
  uint32_t address = 0;   ///< ELF address
  uint8_t bytes = 0;
  InstructionClass instructionClass = InstructionClass::Other;
  Encoding encoding = Encoding::Unknown;
  uint8_t opSel = 0;   ///< op_sel bits; bit 3 is the destination half
  uint8_t opSelHi = 0; ///< VOP3P op_sel_hi
  uint8_t negHi = 0;   ///< VOP3P neg_hi
  uint8_t omod = 0;
  uint8_t dwords = 0; ///< registers a memory instruction moves per lane
  bool clamp = false;
  bool addrUsed = false;  ///< FLAT scratch: a VGPR offset is used; MUBUF: offen
  bool indexUsed = false; ///< MUBUF idxen
  bool saddrUsed = false; ///< FLAT: a scalar base is used; SMEM: SGPR offset
  bool returns = false;   ///< atomic returns the old value
  uint8_t cbsz = 0, abid = 0, blgp = 0; ///< MFMA
  uint8_t cachePolicy = 0;              ///< sc0 1, nt 2, sc1 4
};

/// Registers an instruction reads or writes explicitly, one bit each: what must
/// not have a load in flight.
struct alignas(32) Footprint {
  uint64_t vector[8] = {};
  uint64_t scalar[2] = {};
  uint64_t unused[2] = {};

  void addRows(unsigned first, unsigned count) {
    for (unsigned row = first; row < first + count && row < 512; ++row) {
      vector[row / 64] |= uint64_t(1) << (row % 64);
    }
  }
  void addScalars(unsigned first, unsigned count) {
    for (unsigned reg = first; reg < first + count && reg < sgprCount; ++reg) {
      scalar[reg / 64] |= uint64_t(1) << (reg % 64);
    }
  }
};

} // namespace tenon::sim

#endif // TENON_LIB_SIM_INSTRUCTION_H
