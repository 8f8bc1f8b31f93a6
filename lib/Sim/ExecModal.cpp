//===- ExecModal.cpp - skipped and indexed vector instructions --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// s_setvskip makes a wave pass over vector instructions, s_set_gpr_idx_on makes
// M0 an index into the VGPRs of VALU operands. Few programs have either, so the
// test for them is a wrapper that decoding puts around the vector instructions
// of those that do.
//
//===----------------------------------------------------------------------===//

#include "Opcode.h"
#include "Wave.h"

namespace tenon::sim {

static constexpr uint32_t indexBit = 1u << 27, skipBit = 1u << 28;

/// Operands that index mode moves, in M0[15:12].
enum : unsigned { indexSrc0 = 1, indexDst = 8 };

static bool isVectorAlu(const Instr &instr) {
  switch (instr.encoding) {
  case Encoding::Vop1:
  case Encoding::Vop2:
  case Encoding::Vopc:
  case Encoding::Vop3:
  case Encoding::Vop3p:
    return true;
  default:
    return false;
  }
}

static bool isVector(const Instr &instr) {
  switch (instr.encoding) {
  case Encoding::Mfma:
  case Encoding::Ds:
  case Encoding::Flat:
  case Encoding::Mubuf:
    return true;
  default:
    return isVectorAlu(instr);
  }
}

/// Moves the VGPRs of `instr` by the index. A source beyond the register file
/// is v0; false when the destination is, which makes the instruction none.
/// Compilers rely on that: an index may be computed from lanes that are off.
static bool moveOperands(const Wave &wave, Instr &instr) {
  unsigned index = wave.s[sgprM0] & 0xFF, mode = (wave.s[sgprM0] >> 12) & 15;
  auto exists = [&](unsigned row) { return row % rowAgpr + index < rowAgpr; };
  for (unsigned k = 0; k < 3; ++k) {
    // The accumulator of v_mac is the destination, whatever operand it is.
    bool isDst = k == 2 && instr.encoding == Encoding::Vop2 &&
                 instr.src[k].reg == instr.dst;
    if (instr.src[k].kind == OperandKind::Vgpr &&
        mode & (isDst ? unsigned(indexDst) : indexSrc0 << k)) {
      unsigned row = instr.src[k].reg;
      instr.src[k].reg = uint16_t(exists(row) ? row + index : 0);
    }
  }
  if (mode & indexDst && instr.dst != noRow) {
    if (!exists(instr.dst)) {
      return false;
    }
    instr.dst = uint16_t(instr.dst + index);
  }
  return true;
}

static void execModal(Wave &wave, const Instr &instr) {
  if (wave.mode.bits & skipBit) {
    return;
  }
  if (!(wave.mode.bits & indexBit) || !isVectorAlu(instr)) {
    return instr.inner(wave, instr);
  }
  Instr indexed = instr;
  if (moveOperands(wave, indexed)) {
    instr.inner(wave, indexed);
  }
}

/// DPP and SDWA keep their plain operation where the wrapper keeps its own.
template <Handler handler>
static void execModalPrologue(Wave &wave, const Instr &instr) {
  if (wave.mode.bits & skipBit) {
    return;
  }
  if (!(wave.mode.bits & indexBit)) {
    return handler(wave, instr);
  }
  Instr indexed = instr;
  if (moveOperands(wave, indexed)) {
    handler(wave, indexed);
  }
}

static void execSetSkip(Wave &wave, const Instr &instr) {
  uint32_t bit = wave.readScalar(instr.src[1]) & 31;
  bool skips = (wave.readScalar(instr.src[0]) >> bit) & 1;
  wave.mode.bits = skips ? wave.mode.bits | skipBit : wave.mode.bits & ~skipBit;
}

static void setIndexMode(Wave &wave, uint32_t mode) {
  wave.s[sgprM0] = (wave.s[sgprM0] & ~0xF000u) | (mode & 15) << 12;
}
static void execIndexOn(Wave &wave, const Instr &instr) {
  wave.s[sgprM0] =
      (wave.s[sgprM0] & ~0xFFu) | (wave.readScalar(instr.src[0]) & 0xFF);
  // The second operand's field holds the mode itself.
  setIndexMode(wave, uint32_t(instr.imm) >> 8);
  wave.mode.bits |= indexBit;
}
static void execIndexOff(Wave &wave, const Instr &) {
  wave.mode.bits &= ~indexBit;
}
static void execIndexMode(Wave &wave, const Instr &instr) {
  setIndexMode(wave, uint32_t(instr.imm));
}
static void execIndex(Wave &wave, const Instr &instr) {
  wave.s[sgprM0] =
      (wave.s[sgprM0] & ~0xFFu) | (wave.readScalar(instr.src[0]) & 0xFF);
}

bool switchesVectorModes(const Instr &instr) {
  return instr.exec == execSetSkip || instr.exec == execIndexOn;
}

void makeModal(Instr &instr) {
  if (!isVector(instr) || instr.exec == execUnimplemented) {
    return;
  }
  if (instr.exec == execDpp) {
    instr.exec = execModalPrologue<execDpp>;
  } else if (instr.exec == execSdwa) {
    instr.exec = execModalPrologue<execSdwa>;
  } else {
    instr.inner = instr.exec;
    instr.exec = execModal;
  }
}

llvm::ArrayRef<OpcodeInfo> modalTable() {
  constexpr ValueType b32 = ValueType::I32, none = ValueType::None;
  static const OpcodeInfo table[] = {
      {"s_setvskip", execSetSkip, none, {b32, b32, none}},
      {"s_set_gpr_idx_on", execIndexOn, none, {b32, none, none}},
      {"s_set_gpr_idx_off", execIndexOff},
      {"s_set_gpr_idx_mode", execIndexMode},
      {"s_set_gpr_idx_idx", execIndex, none, {b32, none, none}},
  };
  return table;
}

} // namespace tenon::sim
