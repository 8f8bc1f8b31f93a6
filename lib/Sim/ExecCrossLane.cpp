//===- ExecCrossLane.cpp - DPP, SDWA, lane reads and swaps ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes.h"

#include <vector>

namespace tenon::sim {

namespace {

/// For each lane the lane that a DPP control reads.
struct DppPattern {
  bool known = false; ///< gfx9 has this control
  uint8_t from[waveSize] = {};
  uint64_t valid = 0; ///< lanes with a source inside their row or wave
};

} // namespace

/// Source lane of a DPP control, -1 where there is none; false for controls
/// that gfx9 does not have.
static bool dppSource(unsigned control, int lane, int &source) {
  int row = lane & ~15, inRow = lane & 15;
  if (control <= 0xFF) { // quad_perm
    source = (lane & ~3) | ((control >> (2 * (lane & 3))) & 3);
  } else if (control >= 0x101 && control <= 0x10F) { // row_shl
    int shifted = inRow + int(control & 15);
    source = shifted < 16 ? row + shifted : -1;
  } else if (control >= 0x111 && control <= 0x11F) { // row_shr
    int shifted = inRow - int(control & 15);
    source = shifted >= 0 ? row + shifted : -1;
  } else if (control >= 0x121 && control <= 0x12F) { // row_ror
    source = row + ((inRow - int(control & 15)) & 15);
  } else if (control == 0x130) { // wave_shl
    source = lane < 63 ? lane + 1 : -1;
  } else if (control == 0x134) { // wave_rol
    source = (lane + 1) & 63;
  } else if (control == 0x138) { // wave_shr
    source = lane - 1;
  } else if (control == 0x13C) { // wave_ror
    source = (lane - 1) & 63;
  } else if (control == 0x140) { // row_mirror
    source = row + 15 - inRow;
  } else if (control == 0x141) { // row_half_mirror
    source = (lane & ~7) + 7 - (lane & 7);
  } else if (control == 0x142) { // row_bcast:15, into the next row
    source = row ? row - 1 : -1;
  } else if (control == 0x143) { // row_bcast:31, into the upper two rows
    source = lane >= 32 ? 31 : -1;
  } else if (control >= 0x150 && control <= 0x15F) { // row_newbcast
    source = row + int(control & 15);
  } else {
    return false;
  }
  return true;
}

static std::vector<DppPattern> buildDppPatterns() {
  std::vector<DppPattern> patterns(512);
  for (unsigned control = 0; control < 512; ++control) {
    DppPattern &pattern = patterns[control];
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      int source = -1;
      pattern.known = dppSource(control, int(lane), source);
      pattern.from[lane] = uint8_t(source < 0 ? lane : unsigned(source));
      pattern.valid |= uint64_t(source >= 0) << lane;
    }
  }
  return patterns;
}

/// Lanes that row_mask and bank_mask leave on.
static uint64_t dppSelected(uint32_t modifiers) {
  unsigned bankMask = (modifiers >> 24) & 15, rowMask = modifiers >> 28;
  uint64_t selected = 0;
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    uint64_t on = (rowMask >> (lane / 16)) & (bankMask >> (lane / 4 % 4)) & 1;
    selected |= on << lane;
  }
  return selected;
}

void execDpp(Wave &wave, const Instr &instr) {
  static const std::vector<DppPattern> patterns = buildDppPatterns();
  const DppPattern &pattern = patterns[(instr.modifiers >> 8) & 0x1FF];
  bool zeroInvalid = (instr.modifiers >> 19) & 1;
  if (!pattern.known) {
    return wave.fail("this DPP control is not implemented");
  }
  uint64_t exec = wave.exec(), valid = pattern.valid;
  if (exec != allLanes) {
    // A lane that is off has nothing to give, like one that does not exist.
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      if (!((exec >> pattern.from[lane]) & 1)) {
        valid &= ~(uint64_t(1) << lane);
      }
    }
  }
  Instr plain = instr;
  plain.exec = instr.inner;
  plain.src[0].reg = rowTemp;
  for (unsigned d = 0; d < instr.dwords; ++d) {
    const uint32_t *from = wave.v[instr.src[0].reg + d];
    uint32_t *to = wave.v[rowTemp + d];
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      to[lane] = from[pattern.from[lane]];
    }
    if (valid != allLanes) {
      for (uint64_t rest = ~valid; rest; rest &= rest - 1) {
        to[std::countr_zero(rest)] = 0;
      }
    }
  }
  uint64_t enabled = zeroInvalid ? allLanes : valid;
  if (instr.modifiers >> 24 != 0xFF) {
    enabled &= dppSelected(instr.modifiers);
  }
  if (enabled == allLanes) {
    return instr.inner(wave, plain);
  }
  wave.setPair(sgprExec, exec & enabled);
  instr.inner(wave, plain);
  wave.setPair(sgprExec, exec);
}

/// Byte or word `select` of each lane, extended to 32 bits.
static void selectPart(const uint32_t *from, unsigned select, bool signExtend,
                       uint32_t *to) {
  unsigned bits = select < 4 ? 8 : (select < 6 ? 16 : 32);
  unsigned low = select < 4 ? 8 * select : (select < 6 ? 16 * (select - 4) : 0);
  unsigned up = 32 - bits;
  for (unsigned i = 0; i < waveSize; ++i) {
    uint32_t atTop = from[i] >> low << up;
    to[i] = signExtend ? uint32_t(int32_t(atTop) >> up) : atTop >> up;
  }
}

void execSdwa(Wave &wave, const Instr &instr) {
  uint32_t modifiers = instr.modifiers;
  Instr plain = instr;
  plain.exec = instr.inner;
  for (unsigned k = 0; k < 2; ++k) {
    const Operand &operand = instr.src[k];
    if (operand.kind == OperandKind::None) {
      continue;
    }
    Row temp;
    const uint32_t *from = temp.lane;
    if (operand.kind == OperandKind::Vgpr) {
      from = wave.v[operand.reg];
    } else {
      broadcast(temp, wave.readScalar(operand));
    }
    unsigned fields = modifiers >> (16 + 8 * k);
    selectPart(from, fields & 7, (fields >> 3) & 1, wave.v[rowTemp + 2 * k]);
    plain.src[k].kind = OperandKind::Vgpr;
    plain.src[k].reg = rowTemp + 2 * k;
  }
  if (instr.encoding == Encoding::Vopc || instr.dwords > 1) {
    // Results that are no 32-bit registers have no parts to select.
    return instr.inner(wave, plain);
  }
  unsigned dstSelect = (modifiers >> 8) & 7, unused = (modifiers >> 11) & 3;
  plain.dst = rowTemp + 4;
  std::memcpy(wave.v[plain.dst], wave.v[instr.dst], sizeof(Row));
  instr.inner(wave, plain);
  unsigned bits = dstSelect < 4 ? 8 : (dstSelect < 6 ? 16 : 32);
  unsigned low = dstSelect < 4 ? 8 * dstSelect
                               : (dstSelect < 6 ? 16 * (dstSelect - 4) : 0);
  uint32_t field = bits == 32 ? ~0u : ((1u << bits) - 1) << low;
  Row result;
  for (unsigned i = 0; i < waveSize; ++i) {
    uint32_t value = wave.v[plain.dst][i] << low;
    uint32_t rest = 0;
    if (unused == 2) { // UNUSED_PRESERVE
      rest = wave.v[instr.dst][i];
    } else if (unused == 1) { // UNUSED_SEXT: above the field
      bool negative = (value >> (low + bits - 1)) & 1;
      rest = negative ? ~0u << low : 0;
    }
    result.lane[i] = (value & field) | (rest & ~field);
  }
  writeRow(wave, instr.dst, result);
}

static unsigned firstActive(uint64_t exec) {
  return exec ? unsigned(std::countr_zero(exec)) : 0;
}

static uint32_t laneOf(Wave &wave, const Operand &operand, unsigned lane) {
  return operand.kind == OperandKind::Vgpr ? wave.v[operand.reg][lane]
                                           : wave.readScalar(operand);
}

static void execReadFirstLane(Wave &wave, const Instr &instr) {
  wave.s[instr.sdst] = laneOf(wave, instr.src[0], firstActive(wave.exec()));
}

static void execReadLane(Wave &wave, const Instr &instr) {
  unsigned lane = wave.readScalar(instr.src[1]) & 63;
  wave.s[instr.sdst] = laneOf(wave, instr.src[0], lane);
}

static void execWriteLane(Wave &wave, const Instr &instr) {
  unsigned lane = wave.readScalar(instr.src[1]) & 63;
  wave.v[instr.dst][lane] = wave.readScalar(instr.src[0]);
}

/// Exchanges rows of 16 (or halves of 32) lanes: the odd ones of the
/// destination with the even ones of the source.
template <unsigned size>
static void execPermlaneSwap(Wave &wave, const Instr &instr) {
  uint32_t *first = wave.v[instr.dst];
  uint32_t *second = wave.v[instr.src[0].reg];
  uint64_t exec = wave.exec();
  for (unsigned base = 0; base < waveSize; base += 2 * size) {
    for (unsigned i = 0; i < size; ++i) {
      unsigned odd = base + size + i, even = base + i;
      uint32_t a = first[odd], b = second[even];
      if ((exec >> odd) & 1) {
        first[odd] = b;
      }
      if ((exec >> even) & 1) {
        second[even] = a;
      }
    }
  }
}

static void execSwap(Wave &wave, const Instr &instr) {
  Row first, second;
  std::memcpy(first.lane, wave.v[instr.dst], sizeof(Row));
  std::memcpy(second.lane, wave.v[instr.src[0].reg], sizeof(Row));
  writeRow(wave, instr.dst, second);
  writeRow(wave, instr.src[0].reg, first);
}

/// Moves between VGPRs and AGPRs, which decoding has made rows of one file.
static void execAccMove(Wave &wave, const Instr &instr) {
  Row temp[2], result;
  Source source = fetch<uint32_t>(wave, instr, 0, temp);
  std::memcpy(result.lane, source.lo, sizeof(Row));
  writeRow(wave, instr.dst, result);
}
llvm::ArrayRef<OpcodeInfo> crossLaneTable() {
  constexpr ValueType b32 = ValueType::I32, none = ValueType::None;
  static const OpcodeInfo table[] = {
      {"v_readfirstlane_b32",
       execReadFirstLane,
       b32,
       {b32, none, none},
       opScalarDst},
      {"v_readlane_b32", execReadLane, b32, {b32, b32, none}, opScalarDst},
      {"v_writelane_b32", execWriteLane, b32, {b32, b32, none}, opReadsDst},
      {"v_permlane16_swap_b32",
       execPermlaneSwap<16>,
       b32,
       {b32, none, none},
       opSwapsDst},
      {"v_permlane32_swap_b32",
       execPermlaneSwap<32>,
       b32,
       {b32, none, none},
       opSwapsDst},
      {"v_swap_b32", execSwap, b32, {b32, none, none}, opSwapsDst},
      {"v_accvgpr_read_b32", execAccMove, b32, {b32, none, none}, opAgprSrc},
      {"v_accvgpr_write_b32", execAccMove, b32, {b32, none, none}, opAgprDst},
      {"v_accvgpr_mov_b32",
       execAccMove,
       b32,
       {b32, none, none},
       opAgprSrc | opAgprDst},
  };
  return table;
}

} // namespace tenon::sim
