//===- CheckTaint.cpp - where undefined data go -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckTaint.h"

#include "Opcode.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon::sim {

TaintRule taintRuleOf(llvm::StringRef mnemonic) {
  llvm::StringRef name = stripEncodingSuffix(mnemonic);
  struct Entry {
    llvm::StringLiteral prefix;
    TaintRule rule;
  };
  // The first prefix that fits counts.
  static constexpr Entry entries[] = {
      {"v_cndmask", TaintRule::SelectByMask},
      {"v_addc_co", TaintRule::CarryIn},
      {"v_subb", TaintRule::CarryIn},
      {"v_div_fmas", TaintRule::CarryIn},
      {"v_pk_fma_f32", TaintRule::Packed32},
      {"v_pk_mul_f32", TaintRule::Packed32},
      {"v_pk_add_f32", TaintRule::Packed32},
      {"v_pk_mov_b32", TaintRule::PackedMove},
      {"v_readlane", TaintRule::ReadLane},
      {"v_readfirstlane", TaintRule::ReadFirstLane},
      {"v_writelane", TaintRule::WriteLane},
      {"v_swap_b32", TaintRule::Swap},
      {"v_permlane16_swap", TaintRule::SwapRows},
      {"v_permlane32_swap", TaintRule::SwapHalves},
      {"s_and_b", TaintRule::ScalarAnd},
      {"s_or_b", TaintRule::ScalarOr},
      {"s_xor_b", TaintRule::ScalarBitwise},
      {"s_not_b", TaintRule::ScalarBitwise},
      {"s_andn2_b", TaintRule::ScalarBitwise},
      {"s_orn2_b", TaintRule::ScalarBitwise},
      {"s_nand_b", TaintRule::ScalarBitwise},
      {"s_nor_b", TaintRule::ScalarBitwise},
      {"s_xnor_b", TaintRule::ScalarBitwise},
      {"s_mov_b", TaintRule::ScalarMove},
      {"s_movk", TaintRule::ScalarMove},
      {"s_mul", TaintRule::ScalarMove},
      {"s_brev", TaintRule::ScalarMove},
      {"s_ff1", TaintRule::ScalarMove},
      {"s_flbit", TaintRule::ScalarMove},
      {"s_sext", TaintRule::ScalarMove},
      {"s_bfm", TaintRule::ScalarMove},
      {"s_pack", TaintRule::ScalarMove},
      {"s_getpc", TaintRule::ScalarMove},
      {"s_swappc", TaintRule::ScalarMove},
      {"s_call", TaintRule::ScalarMove},
      {"s_getreg", TaintRule::ScalarMove},
      {"s_bitset", TaintRule::ScalarMove},
      {"s_cselect", TaintRule::ScalarSelect},
      {"s_cmov", TaintRule::ScalarSelect},
      {"s_cbranch_scc", TaintRule::BranchScc},
      {"s_cbranch_vcc", TaintRule::BranchVcc},
      {"s_cbranch", TaintRule::BranchExec},
      {"ds_permute", TaintRule::LdsPermute},
      {"ds_bpermute", TaintRule::LdsBackwardPermute},
      {"ds_swizzle", TaintRule::LdsSwizzle},
  };
  for (const Entry &entry : entries) {
    if (name.starts_with(entry.prefix)) {
      return entry.rule;
    }
  }
  if (name.contains("saveexec")) {
    return TaintRule::SaveExec;
  }
  if (name.starts_with("v_mfma") || name.starts_with("v_smfmac")) {
    bool oneBlock = !name.contains("_f64") && !name.contains("b_");
    return oneBlock && name.contains("16x16x")   ? TaintRule::Product16
           : oneBlock && name.contains("32x32x") ? TaintRule::Product32
                                                 : TaintRule::ProductBlocks;
  }
  return TaintRule::All;
}

void TaintState::reset(unsigned definedScalars) {
  std::fill(std::begin(rows), std::end(rows), allLanes);
  rows[0] = 0;
  std::fill(std::begin(scalars), std::end(scalars), 0);
  std::fill(scalars + std::min<unsigned>(definedScalars, sgprFlatScratch),
            scalars + sgprFlatScratch, ~0u);
  setPair(sgprVcc, allLanes);
  scalars[sgprM0] = ~0u;
  scc = true;
}

uint64_t TaintState::vectorTaint(const RegisterRange &range) const {
  uint64_t taint = 0;
  for (unsigned i = 0; i < range.count; ++i) {
    taint |= rows[range.first + i];
  }
  return taint;
}

bool TaintState::scalarTaint(const RegisterRange &range) const {
  uint32_t taint = 0;
  for (unsigned i = 0; i < range.count; ++i) {
    taint |= scalars[range.first + i];
  }
  return taint != 0;
}

/// Gives the destinations of a vector instruction their state.
void TaintState::define(const CheckRecord &record, uint64_t lanes,
                        uint64_t taint) {
  for (const RegisterRange &def : record.definitions()) {
    if (def.isScalar) {
      // A mask: lanes that are off give zeros.
      if (def.count == 2) {
        setPair(def.first, taint & lanes);
      } else {
        scalars[def.first] = taint & lanes ? ~0u : 0;
      }
      continue;
    }
    for (unsigned i = 0; i < def.count; ++i) {
      uint64_t &row = rows[def.first + i];
      row = (row & ~lanes) | (taint & lanes);
    }
  }
}

static uint64_t evenRows(uint64_t lanes) { return lanes & 0x0000FFFF0000FFFF; }

/// Instructions that move data between lanes; false for all others.
bool TaintState::stepCrossLane(const Wave &wave, const CheckRecord &record,
                               const Instr &instr) {
  uint64_t exec = wave.exec();
  auto row = [&](const RegisterRange &range) -> uint64_t & {
    return rows[range.first];
  };
  switch (record.taintRule) {
  case TaintRule::ReadFirstLane: {
    unsigned lane = exec ? unsigned(std::countr_zero(exec)) : 0;
    uint64_t taint = record.useCount ? vectorTaint(record.uses[0]) : 0;
    scalars[record.defs[0].first] = (taint >> lane) & 1 ? ~0u : 0;
    return true;
  }
  case TaintRule::ReadLane: {
    unsigned lane = wave.readScalar(instr.src[1]) & 63;
    uint64_t taint = record.useCount ? vectorTaint(record.uses[0]) : 0;
    scalars[record.defs[0].first] = (taint >> lane) & 1 ? ~0u : 0;
    return true;
  }
  case TaintRule::WriteLane: {
    uint64_t bit = uint64_t(1) << (wave.readScalar(instr.src[1]) & 63);
    bool taint = instr.src[0].kind == OperandKind::Sgpr &&
                 scalars[instr.src[0].reg] != 0;
    uint64_t &to = row(record.defs[0]);
    to = taint ? to | bit : to & ~bit;
    return true;
  }
  case TaintRule::Swap:
    std::swap(row(record.defs[0]), row(record.defs[1]));
    return true;
  case TaintRule::SwapHalves: {
    uint64_t &first = row(record.defs[0]), &second = row(record.defs[1]);
    uint64_t low = second & 0xFFFFFFFF;
    second = (second & ~0xFFFFFFFFull) | first >> 32;
    first = (first & 0xFFFFFFFF) | low << 32;
    return true;
  }
  case TaintRule::SwapRows: {
    uint64_t &first = row(record.defs[0]), &second = row(record.defs[1]);
    uint64_t odd = (first >> 16) & 0x0000FFFF0000FFFF, even = evenRows(second);
    first = evenRows(first) | even << 16;
    second = (second & ~0x0000FFFF0000FFFFull) | odd;
    return true;
  }
  default:
    return false;
  }
}

/// The lane that a lane reads under a DPP control, or -1 for none.
static int dppSource(unsigned control, int lane) {
  int inRow = lane & 15, row = lane & ~15;
  int n = int(control & 15);
  if (control < 0x100) {
    return (lane & ~3) | int((control >> (2 * (lane & 3))) & 3);
  }
  switch (control >> 4) {
  case 0x10: // row_shl
    return inRow + n < 16 ? lane + n : -1;
  case 0x11: // row_shr
    return inRow >= n ? lane - n : -1;
  case 0x12: // row_ror
    return row | ((inRow - n) & 15);
  case 0x15: // row_newbcast
    return row | n;
  default:
    break;
  }
  switch (control) {
  case 0x130: // wave_shl
    return lane < 63 ? lane + 1 : -1;
  case 0x134: // wave_rol
    return (lane + 1) & 63;
  case 0x138: // wave_shr
    return lane - 1;
  case 0x13C: // wave_ror
    return (lane - 1) & 63;
  case 0x140: // row_mirror
    return row | (15 - inRow);
  case 0x141: // row_half_mirror
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142: // row_bcast:15
    return lane >= 16 ? row - 1 : -1;
  case 0x143: // row_bcast:31
    return lane >= 32 ? 31 : -1;
  default:
    return lane;
  }
}

/// The lanes in which some source of a vector instruction is undefined; takes
/// lanes that a DPP control switches off out of `written`.
uint64_t TaintState::operandTaint(const Wave &wave, const CheckRecord &record,
                                  const Instr &instr, uint64_t &written) const {
  uint64_t taint = 0;
  for (const RegisterRange &use : record.operands()) {
    bool isMask = record.taintRule == TaintRule::CarryIn && use.isScalar &&
                  use.count == 2;
    if (isMask) {
      taint |= pairTaint(use.first);
    } else if (use.isScalar) {
      taint |= scalarTaint(use) ? allLanes : 0;
    } else if (!record.is(checkDpp) || use.operand != 1) {
      taint |= vectorTaint(use);
    } else {
      // The source that DPP moves.
      uint64_t source = vectorTaint(use), moved = 0;
      unsigned control = (instr.modifiers >> 8) & 0x1FF;
      bool zeros = (instr.modifiers >> 19) & 1;
      uint64_t exec = wave.exec();
      for (int lane = 0; lane < int(waveSize); ++lane) {
        int from = dppSource(control, lane);
        bool valid = from >= 0 && (exec >> from) & 1;
        bool masked = !((instr.modifiers >> (28 + lane / 16)) & 1) ||
                      !((instr.modifiers >> (24 + lane / 4 % 4)) & 1);
        if (masked || (!valid && !zeros)) {
          written &= ~(uint64_t(1) << lane);
        } else if (valid) {
          moved |= ((source >> from) & 1) << lane;
        }
      }
      taint |= moved;
    }
  }
  return taint;
}

/// Two results, each from one register of every source.
void TaintState::stepPacked(const Wave &wave, const CheckRecord &record,
                            const Instr &instr) {
  bool isMove = record.taintRule == TaintRule::PackedMove;
  uint64_t exec = wave.exec(), taint[2] = {};
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned k = 0; k < 3; ++k) {
      const Operand &source = instr.src[k];
      if (isMove && k != half) {
        continue;
      }
      unsigned high =
          ((half && !isMove ? instr.opSelHi : instr.opSel) >> k) & 1;
      if (source.kind == OperandKind::Vgpr) {
        taint[half] |= rows[source.reg + high];
      } else if (source.kind == OperandKind::Sgpr) {
        taint[half] |= scalars[(source.reg + high) % sgprCount] ? allLanes : 0;
      }
    }
  }
  for (unsigned half = 0; half < 2; ++half) {
    uint64_t &row = rows[record.defs[0].first + half];
    row = (row & ~exec) | (taint[half] & exec);
  }
}

TaintFault TaintState::checkExec() {
  uint64_t taint = pairTaint(sgprExec);
  if (!taint) {
    return {};
  }
  setPair(sgprExec, 0);
  return {"EXEC depends on undefined data", std::countr_zero(taint)};
}

TaintFault TaintState::stepValu(const Wave &wave, const CheckRecord &record,
                                const Instr &instr) {
  if (stepCrossLane(wave, record, instr)) {
    return {};
  }
  if (record.taintRule == TaintRule::Packed32 ||
      record.taintRule == TaintRule::PackedMove) {
    stepPacked(wave, record, instr);
    return {};
  }
  if (record.is(checkDpp)) {
    // Which lanes are written matters only when something is undefined.
    uint64_t any = 0;
    for (const RegisterRange &use : record.operands()) {
      any |= use.isScalar ? uint64_t(scalarTaint(use)) : vectorTaint(use);
    }
    for (const RegisterRange &def : record.definitions()) {
      any |= def.isScalar ? uint64_t(scalarTaint(def)) : vectorTaint(def);
    }
    if (!any) {
      return {};
    }
  }
  uint64_t written = wave.exec();
  uint64_t taint = 0;
  const Operand &mask = instr.src[2];
  if (record.taintRule == TaintRule::SelectByMask && !record.is(checkDpp) &&
      mask.kind == OperandKind::Sgpr) {
    // Only the source that is chosen counts.
    uint64_t chosen = wave.pair(mask.reg);
    auto of = [&](const Operand &operand) {
      return operand.kind == OperandKind::Vgpr ? rows[operand.reg]
             : operand.kind == OperandKind::Sgpr && scalars[operand.reg]
                 ? allLanes
                 : 0;
    };
    taint = pairTaint(mask.reg) | (of(instr.src[0]) & ~chosen) |
            (of(instr.src[1]) & chosen);
  } else {
    taint = operandTaint(wave, record, instr, written);
  }
  define(record, written, taint);
  return checkExec();
}

void TaintState::stepMfma(const CheckRecord &record) {
  uint64_t a = 0, b = 0;
  const RegisterRange *c = nullptr;
  for (const RegisterRange &use : record.operands()) {
    if (use.isScalar) {
      continue;
    }
    // Operands: D, A, B, C, and the scales of A and B.
    if (use.operand == 1 || use.operand == 4) {
      a |= vectorTaint(use);
    } else if (use.operand == 2 || use.operand == 5) {
      b |= vectorTaint(use);
    } else {
      c = &use;
    }
  }
  const RegisterRange &d = record.defs[0];
  unsigned size = record.taintRule == TaintRule::Product16   ? 16
                  : record.taintRule == TaintRule::Product32 ? 32
                                                             : 0;
  uint64_t result[64] = {};
  for (unsigned v = 0; v < d.count && v < 64; ++v) {
    result[v] = c && v < c->count ? rows[c->first + v] : 0;
    if (!size) { // several blocks, doubles
      result[v] |= a || b ? allLanes : 0;
      continue;
    }
    uint64_t columns = b;
    uint64_t rowTaint = a;
    for (unsigned shift = size; shift < waveSize; shift *= 2) {
      columns |= columns >> shift | columns << (waveSize - shift);
      rowTaint |= rowTaint >> shift | rowTaint << (waveSize - shift);
    }
    result[v] |= columns;
    for (unsigned g = 0; g < waveSize / size; ++g) {
      unsigned row = size == 16 ? 4 * g + v : 8 * (v / 4) + 4 * g + v % 4;
      uint64_t group = ((uint64_t(1) << size) - 1) << (g * size);
      result[v] |= (rowTaint >> (row % size)) & 1 ? group : 0;
    }
  }
  std::copy_n(result, std::min<unsigned>(d.count, 64), rows + d.first);
}

TaintFault TaintState::stepSalu(const Wave &wave, const CheckRecord &record,
                                const Instr &instr) {
  bool any = false;
  uint64_t taint = 0; // bit by bit
  for (const RegisterRange &use : record.operands()) {
    any |= use.isScalar && scalarTaint(use);
    if (use.isScalar && use.count) {
      taint |= use.count == 2 ? pairTaint(use.first) : scalars[use.first];
    }
  }
  bool setsScc = record.taintRule != TaintRule::ScalarMove &&
                 record.taintRule != TaintRule::ScalarSelect &&
                 !record.is(checkSetReg);
  auto zeros = [&](const Operand &operand, bool ones) -> uint64_t {
    // Bits that are defined and decide the result by themselves.
    if (operand.kind == OperandKind::Sgpr && operand.reg + 1 >= sgprCount) {
      return 0;
    }
    uint64_t value = wave.readScalar64(operand);
    uint64_t undefined =
        operand.kind == OperandKind::Sgpr ? pairTaint(operand.reg) : 0;
    return (ones ? value : ~value) & ~undefined;
  };
  switch (record.taintRule) {
  case TaintRule::ScalarAnd:
  case TaintRule::ScalarOr: {
    bool isOr = record.taintRule == TaintRule::ScalarOr;
    taint &= ~(zeros(instr.src[0], isOr) | zeros(instr.src[1], isOr));
    any = taint != 0;
    break;
  }
  case TaintRule::ScalarBitwise:
  case TaintRule::ScalarMove:
    break;
  case TaintRule::ScalarSelect:
    taint = any || scc ? allLanes : 0;
    break;
  case TaintRule::SaveExec: {
    uint64_t source = taint;
    setPair(record.defs[0].first, 0);
    setPair(sgprExec, source & wave.exec());
    scc = source != 0;
    return checkExec();
  }
  default:
    taint = any ? allLanes : 0;
    break;
  }
  for (const RegisterRange &def : record.definitions()) {
    for (unsigned i = 0; i < def.count; ++i) {
      scalars[def.first + i] = uint32_t(i % 2 ? taint >> 32 : taint);
    }
  }
  if (setsScc) {
    scc = any;
  }
  return checkExec();
}

TaintFault TaintState::stepMemory(const Wave &wave, const CheckRecord &record,
                                  const Instr &instr) {
  uint64_t exec = wave.exec();
  TaintFault fault;
  for (const RegisterRange &use : record.operands()) {
    bool isData = record.is(checkStore) && !use.isScalar &&
                  use.first == instr.data && use.operand != 0;
    if (instr.encoding == Encoding::Mubuf) {
      isData = record.is(checkStore) && use.operand == 0;
    }
    if (use.isScalar) {
      if (scalarTaint(use) && exec && use.first != sgprM0) {
        fault = {"the address depends on undefined data"};
      }
      continue;
    }
    uint64_t taint = vectorTaint(use) & exec;
    // Spilling a register that is undefined is no use of it.
    if (!taint || (isData && record.is(checkScratch))) {
      continue;
    }
    fault = {isData ? "undefined data are stored"
                    : "the address depends on undefined data",
             std::countr_zero(taint)};
  }
  if (!record.is(checkToLds)) {
    define(record, exec, 0);
  }
  return fault;
}

/// Whether one of the bytes at an LDS address is undefined.
static bool isUndefined(const std::vector<uint8_t> &undefined, uint64_t address,
                        unsigned bytes) {
  bool found = false;
  for (unsigned i = 0; i < bytes && address + i < undefined.size(); ++i) {
    found |= undefined[address + i];
  }
  return found;
}

void TaintState::readLds(const Wave &wave, const CheckRecord &record,
                         const Instr &instr,
                         const std::vector<uint8_t> &undefined) {
  uint64_t exec = wave.exec();
  const uint32_t *address = wave.v[instr.addr];
  unsigned dwords = std::max(1, record.bytes / 4);
  unsigned parts = record.is(checkTwoAddress) ? 2 : 1;
  uint64_t taint[8] = {};
  // Mostly everything is defined, and lies side by side.
  bool isDefined = exec == allLanes;
  for (unsigned part = 0; part < parts && isDefined; ++part) {
    uint32_t offset = uint32_t(part ? instr.imm1 : instr.imm);
    isDefined = isOneLdsBlock(*wave.workgroup, address, offset, record.bytes) &&
                !std::memchr(undefined.data() + address[0] + offset, 1,
                             record.bytes * waveSize);
  }
  for (uint64_t rest = isDefined ? 0 : exec; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    for (unsigned part = 0; part < parts; ++part) {
      uint32_t at = address[lane] + uint32_t(part ? instr.imm1 : instr.imm);
      for (unsigned d = 0; d < dwords; ++d) {
        bool isSet = isUndefined(undefined, uint64_t(at) + 4 * d,
                                 std::min<unsigned>(record.bytes, 4));
        taint[part * dwords + d] |= uint64_t(isSet) << lane;
      }
    }
  }
  if (record.is(checkTransposed)) {
    // Lane t of 16 receives bits of all of them: undefined with any.
    uint64_t any = taint[0] | taint[1] | taint[2];
    uint64_t spread = 0;
    for (unsigned group = 0; group < 4; ++group) {
      uint64_t lanes = uint64_t(0xFFFF) << (16 * group);
      spread |= any & lanes ? lanes : 0;
    }
    std::fill_n(taint, dwords, spread);
  }
  for (unsigned i = 0; i < parts * dwords; ++i) {
    uint64_t &row = rows[instr.dst + i];
    row = (row & ~exec) | taint[i];
  }
}

TaintFault TaintState::stepLds(const Wave &wave, const CheckRecord &record,
                               const Instr &instr,
                               std::vector<uint8_t> &undefined) {
  uint64_t exec = wave.exec();
  if (instr.addr == noRow) { // counters, and addresses by lane number
    define(record, exec, 0);
    return {};
  }
  if (!record.bytes) { // ds_swizzle, ds_permute, ds_bpermute, ds_nop
    uint64_t taint = 0;
    if (record.taintRule == TaintRule::LdsBackwardPermute) {
      for (unsigned lane = 0; lane < waveSize; ++lane) {
        unsigned from = (wave.v[instr.addr][lane] + instr.imm) / 4 & 63;
        taint |= ((rows[instr.data] & exec) >> from & 1) << lane;
      }
    } else if (record.taintRule == TaintRule::LdsPermute) {
      for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = unsigned(std::countr_zero(rest));
        unsigned to = (wave.v[instr.addr][lane] + instr.imm) / 4 & 63;
        taint |= (rows[instr.data] >> lane & 1) << to;
      }
    } else if (record.taintRule == TaintRule::LdsSwizzle) {
      taint = rows[instr.addr];
    }
    define(record, exec, taint);
    return {};
  }
  if (uint64_t taint = rows[instr.addr] & exec) {
    define(record, exec, 0);
    return {"the address depends on undefined data", std::countr_zero(taint)};
  }
  if (record.is(checkStore)) {
    unsigned parts = record.is(checkTwoAddress) ? 2 : 1;
    unsigned dwords = std::max(1, record.bytes / 4);
    const uint32_t *address = wave.v[instr.addr];
    for (unsigned part = 0; part < parts; ++part) {
      unsigned data = part ? instr.data1 : instr.data;
      uint32_t offset = uint32_t(part ? instr.imm1 : instr.imm);
      uint64_t taint = 0;
      for (unsigned d = 0; d < dwords && data != noRow; ++d) {
        taint |= rows[data + d];
      }
      if (!taint && exec == allLanes && !record.is(checkAtomic) &&
          isOneLdsBlock(*wave.workgroup, address, offset, record.bytes)) {
        std::fill_n(undefined.begin() + address[0] + offset,
                    record.bytes * waveSize, 0);
        continue;
      }
      for (uint64_t rest = exec; rest; rest &= rest - 1) {
        unsigned lane = unsigned(std::countr_zero(rest));
        uint64_t at = address[lane] + offset;
        for (unsigned i = 0; i < record.bytes && at + i < undefined.size();
             ++i) {
          unsigned row = data + std::min(i / 4, dwords - 1);
          bool isSet = data != noRow && (rows[row] >> lane) & 1;
          // An atomic leaves what was undefined as it was.
          bool keeps = record.is(checkAtomic) && undefined[at + i];
          undefined[at + i] = isSet || keeps;
        }
      }
    }
  }
  if (record.is(checkLoad)) {
    readLds(wave, record, instr, undefined);
  }
  return {};
}

TaintFault TaintState::step(const Wave &wave, const CheckRecord &record,
                            const Instr &instr,
                            std::vector<uint8_t> &ldsUndefined) {
  switch (record.kind) {
  case CheckKind::Valu:
    return stepValu(wave, record, instr);
  case CheckKind::Mfma:
    stepMfma(record);
    return {};
  case CheckKind::Salu:
    return stepSalu(wave, record, instr);
  case CheckKind::Vmem:
    return stepMemory(wave, record, instr);
  case CheckKind::Lds:
    return stepLds(wave, record, instr, ldsUndefined);
  case CheckKind::Smem: {
    TaintFault fault;
    for (const RegisterRange &use : record.operands()) {
      if (record.is(checkLoad) && use.isScalar && scalarTaint(use)) {
        fault = {"the address depends on undefined data"};
      }
    }
    for (const RegisterRange &def : record.definitions()) {
      std::fill_n(scalars + def.first, def.count, 0);
    }
    return fault;
  }
  case CheckKind::Branch: {
    bool isUndefined =
        (record.taintRule == TaintRule::BranchScc && scc) ||
        (record.taintRule == TaintRule::BranchVcc && pairTaint(sgprVcc) != 0);
    return isUndefined ? TaintFault{"the branch depends on undefined data"}
                       : TaintFault{};
  }
  default:
    return {};
  }
}

} // namespace tenon::sim
