//===- CheckTaint.cpp - where undefined data go -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckTaint.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon::sim {

void TaintState::reset(unsigned definedScalars, uint32_t scratchBytes) {
  std::fill(std::begin(rowsUndefined), std::end(rowsUndefined), ~uint64_t(0));
  std::fill(std::begin(rowsWhole), std::end(rowsWhole), ~uint64_t(0));
  defineRow(0, allLanes);
  for (unsigned reg = 0; reg < sgprCount; ++reg) {
    bool isUndefined = reg >= definedScalars && reg < sgprFlatScratch;
    setScalar(reg, isUndefined || reg == sgprM0 ? ~0u : 0);
  }
  setPair(sgprVcc, allLanes);
  scc = true;
  scratchSize = scratchBytes;
  scratch.assign(size_t(scratchBytes) / 4 * waveSize, ~0u);
}

static const Row rowDefined = {};
static const Row rowOfOnes = [] {
  Row row;
  std::fill(std::begin(row.lane), std::end(row.lane), ~0u);
  return row;
}();

const uint32_t *TaintState::bits(unsigned row) const {
  if (!isUndefined(row)) {
    return rowDefined.lane;
  }
  bool isWhole = (rowsWhole[row / 64] >> (row % 64)) & 1;
  return isWhole ? rowOfOnes.lane : masks[row].lane;
}

/// The masks of a row, to be changed; settle() comes after.
uint32_t *TaintState::masksOf(unsigned row) {
  const uint32_t *now = bits(row);
  if (now != masks[row].lane) {
    std::memcpy(masks[row].lane, now, sizeof(Row));
  }
  uint64_t bit = uint64_t(1) << (row % 64);
  rowsUndefined[row / 64] |= bit;
  rowsWhole[row / 64] &= ~bit;
  return masks[row].lane;
}

/// Notes whether a row whose masks were changed has undefined bits.
void TaintState::settle(unsigned row) {
  uint32_t any = 0;
  for (uint32_t lane : masks[row].lane) {
    any |= lane;
  }
  if (!any) {
    rowsUndefined[row / 64] &= ~(uint64_t(1) << (row % 64));
  }
}

void TaintState::setRow(unsigned row, const Row &undefined, uint64_t lanes) {
  uint32_t *to = masksOf(row);
  for (unsigned i = 0; i < waveSize; ++i) {
    to[i] = (lanes >> i) & 1 ? undefined.lane[i] : to[i];
  }
  settle(row);
}

void TaintState::defineRow(unsigned row, uint64_t lanes) {
  if (!isUndefined(row)) {
    return;
  }
  if (lanes == allLanes) {
    uint64_t bit = uint64_t(1) << (row % 64);
    rowsUndefined[row / 64] &= ~bit;
    rowsWhole[row / 64] &= ~bit;
    return;
  }
  setRow(row, rowDefined, lanes);
}

uint64_t TaintState::lanesUndefined(unsigned row) const {
  if (!isUndefined(row)) {
    return 0;
  }
  const uint32_t *from = bits(row);
  uint64_t lanes = 0;
  for (unsigned i = 0; i < waveSize; ++i) {
    lanes |= uint64_t(from[i] != 0) << i;
  }
  return lanes;
}

uint64_t TaintState::lanesUndefined(const RegisterRange &range) const {
  uint64_t lanes = 0;
  for (unsigned i = 0; i < range.count; ++i) {
    lanes |= lanesUndefined(range.first + i);
  }
  return lanes;
}

bool TaintState::scalarTaint(const RegisterRange &range) const {
  uint32_t taint = 0;
  for (unsigned i = 0; i < range.count; ++i) {
    taint |= scalars[range.first + i];
  }
  return taint != 0;
}

void TaintState::setScalar(unsigned reg, uint32_t undefined) {
  scalars[reg] = undefined;
  uint64_t bit = uint64_t(1) << (reg % 64);
  uint64_t &word = scalarsUndefined[reg / 64];
  word = undefined ? word | bit : word & ~bit;
}

/// Makes the destinations of a vector instruction defined.
void TaintState::define(const CheckRecord &record, uint64_t lanes) {
  for (const RegisterRange &def : record.definitions()) {
    for (unsigned i = 0; i < def.count; ++i) {
      def.isScalar ? setScalar(def.first + i, 0)
                   : defineRow(def.first + i, lanes);
    }
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
  auto decided = [&](const Operand &operand, bool ones) -> uint64_t {
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
  case TaintRule::ScalarOr:
  case TaintRule::ScalarAndNot:
  case TaintRule::ScalarOrNot: {
    bool isOr = record.taintRule == TaintRule::ScalarOr ||
                record.taintRule == TaintRule::ScalarOrNot;
    bool isNot = record.taintRule == TaintRule::ScalarAndNot ||
                 record.taintRule == TaintRule::ScalarOrNot;
    taint &=
        ~(decided(instr.src[0], isOr) | decided(instr.src[1], isOr != isNot));
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
      setScalar(def.first + i, uint32_t(i % 2 ? taint >> 32 : taint));
    }
  }
  if (setsScc) {
    scc = any;
  }
  return checkExec();
}

TaintFault TaintState::follow(const Wave &wave, const CheckRecord &record,
                              const Instr &instr,
                              std::vector<uint8_t> &ldsUndefined) {
  switch (record.kind) {
  case CheckKind::Valu:
    return stepValu(wave, record, instr);
  case CheckKind::Mfma:
    stepMfma(record, instr);
    return {};
  case CheckKind::Salu:
    return stepSalu(wave, record, instr);
  case CheckKind::Vmem:
    return stepMemory(wave, record, instr);
  case CheckKind::Lds:
    return stepLds(wave, record, instr, ldsUndefined);
  case CheckKind::Smem:
    return stepSmem(record);
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
