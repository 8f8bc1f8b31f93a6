//===- InstructionTiming.cpp - what an instruction occupies -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "InstructionTiming.h"

using namespace llvm;

namespace tenon::sim {

static MatrixLoad matrixLoadOf(StringRef mnemonic, const CheckRecord &record) {
  if (mnemonic.contains("f8f6f4")) {
    // The pairs without an operand of 8 bits take half the passes.
    bool isFast = record.passes == (mnemonic.contains("32x32") ? 8 : 4);
    return isFast ? MatrixLoad::F4 : MatrixLoad::F8;
  }
  if (mnemonic.contains("fp8") || mnemonic.contains("bf8") ||
      mnemonic.contains("_i8")) {
    return MatrixLoad::F8;
  }
  return record.is(checkXdl) ? MatrixLoad::F16 : MatrixLoad::F32;
}

/// Clocks of a vector ALU instruction.
static unsigned vectorClocks(StringRef mnemonic, const CheckRecord &record,
                             const target::TimingFacts &facts) {
  if (record.is(checkTrans)) {
    return facts.transClocks;
  }
  if (mnemonic.contains("mul_lo_u32") || mnemonic.contains("mul_hi_") ||
      mnemonic.contains("mad_u64") || mnemonic.contains("mad_i64")) {
    return facts.quarterRateClocks;
  }
  if (mnemonic.contains("_f64")) {
    return facts.doubleClocks;
  }
  return facts.slotClocks;
}

static InstructionTiming timingOf(const Instr &instr, StringRef mnemonic,
                                  const CheckRecord &record,
                                  const target::TimingFacts &facts) {
  InstructionTiming timing;
  timing.clocks = uint16_t(facts.slotClocks);
  switch (record.kind) {
  case CheckKind::Valu:
    timing.unit = IssueUnit::Vector;
    timing.clocks = uint16_t(vectorClocks(mnemonic, record, facts));
    break;
  case CheckKind::Mfma:
    timing.unit = IssueUnit::Vector;
    timing.isMatrix = true;
    timing.matrixLoad = matrixLoadOf(mnemonic, record);
    timing.clocks = uint16_t(4 * record.passes);
    break;
  case CheckKind::Salu:
    timing.unit = IssueUnit::Scalar;
    break;
  case CheckKind::Smem:
    timing.unit = IssueUnit::ScalarMemory;
    break;
  case CheckKind::Vmem:
    timing.unit = IssueUnit::VectorMemory;
    timing.isFlat = mnemonic.starts_with("flat_");
    break;
  case CheckKind::Lds:
    timing.unit = IssueUnit::Lds;
    break;
  case CheckKind::Branch:
    timing.unit = IssueUnit::Branch;
    break;
  case CheckKind::Nop:
    timing.clocks = uint16_t(facts.slotClocks * record.waitStates);
    break;
  case CheckKind::Other:
    if (instr.instructionClass == InstructionClass::Branch) {
      timing.unit = IssueUnit::Branch;
    } else if (mnemonic == "s_sleep") {
      timing.clocks =
          uint16_t(64 * (uint32_t(instr.imm) & 0x7F) + facts.slotClocks);
    } else if (mnemonic == "s_setprio") {
      timing.priority = int8_t(instr.imm & 3);
    } else if (mnemonic == "s_waitcnt") {
      uint32_t bits = uint16_t(instr.imm);
      timing.isWait = true;
      timing.vmcnt = uint8_t((bits & 15) | ((bits >> 14) << 4));
      timing.lgkmcnt = uint8_t((bits >> 8) & 15);
    }
    break;
  }
  return timing;
}

std::vector<InstructionTiming> timingOf(const Program &program,
                                        const CheckProgram &checks,
                                        const target::TimingFacts &facts) {
  std::vector<InstructionTiming> list(program.recordCount());
  for (size_t i = 0; i < list.size(); ++i) {
    const Instr &instr = program.records()[i];
    std::string text = program.text(instr);
    StringRef mnemonic = StringRef(text).trim().split(' ').first;
    list[i] = timingOf(instr, mnemonic, checks.records()[i], facts);
  }
  return list;
}

} // namespace tenon::sim
