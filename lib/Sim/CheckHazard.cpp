//===- CheckHazard.cpp - wait states between instructions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers are those of GCNHazardRecognizer.cpp in LLVM 22; the name of the
// constant or the function there stands beside each. A test lets LLVM put its
// wait states between thousands of pairs of instructions and compares.
//
//===----------------------------------------------------------------------===//

#include "CheckHazard.h"

#include "WaitCounters.h"

#include <algorithm>

namespace tenon::sim {

/// No hazard reaches back further than this.
static constexpr uint32_t longestHazard = 20;

void HazardState::reset(const CheckProgram &checks) {
  records = checks.records();
  isGfx950 = checks.processor() == Processor::Gfx950;
  // The events stay: moving the clock ahead makes all of them old.
  clock += longestHazard + 1;
}

static std::string scalarName(unsigned reg) {
  return reg == sgprVcc || reg == sgprVcc + 1     ? "vcc"
         : reg == sgprExec || reg == sgprExec + 1 ? "exec"
         : reg == sgprM0                          ? "m0"
         : reg == sgprCount                       ? "hwreg"
                                                  : "s" + std::to_string(reg);
}

bool HazardState::tooEarly(const Event &event, unsigned need, const char *what,
                           unsigned reg, bool isScalar) {
  uint32_t states = clock - event.clock - 1;
  if (states >= need) {
    return false;
  }
  out->producer = event.record;
  out->message = (isScalar ? scalarName(reg) : registerName(reg)) + ": " +
                 what + " needs " + std::to_string(need) +
                 " wait states, there are " + std::to_string(states);
  return true;
}

/// Who comes after a matrix product.
enum class After { Read, MemoryRead, Write };

/// What a matrix product's result needs before another matrix product reads it
/// as A or B, or anything else reads or overwrites it
/// (GFX940_XDL_N_PassWritesVGPROverlappedSrcABWaitStates and others).
static unsigned afterMatrixProduct(const CheckRecord &product, bool isGfx950,
                                   After after) {
  unsigned passes = product.passes;
  if (product.is(checkDgemm)) {
    if (passes == 4) {
      return after == After::MemoryRead ? 9 : 6;
    }
    return after == After::MemoryRead         ? 18
           : after == After::Read && isGfx950 ? 19
                                              : 11;
  }
  if (product.is(checkXdl)) {
    return passes + 3 + (isGfx950 && passes != 2);
  }
  return passes + 2;
}

/// The same before another matrix product reads it as C.
static unsigned beforeSourceC(const CheckRecord &product,
                              const CheckRecord &reader,
                              const RegisterRange &use, bool isGfx950) {
  const RegisterRange &written = product.defs[0];
  if (written.first == use.first && written.count == use.count) {
    // Accumulators are forwarded between products of the full tuple.
    if (product.is(checkDgemm) && product.passes == 4 &&
        reader.mnemonic == product.mnemonic) {
      return 4; // DMFMA4x4WritesVGPRFullSrcCWaitStates
    }
    return product.passes == 2 ? 2 : 0; // ..4x4WritesVGPRFullSrcCWaitStates
  }
  if (product.is(checkDgemm)) {
    return reader.is(checkXdl)   ? 0
           : product.passes == 4 ? 4
                                 : (isGfx950 ? 17 : 9);
  }
  if (reader.is(checkXdl) && !product.is(checkXdl)) {
    return 0;
  }
  // GFX940_XDL_N_PassWritesVGPROverlapped..SrcCWaitStates and others
  bool oneMore = isGfx950 && (product.passes != 2 || reader.is(checkXdl));
  return product.is(checkXdl) ? product.passes + 1 + oneMore : product.passes;
}

bool HazardState::checkVectorUse(const CheckRecord &now,
                                 const RegisterRange &use) {
  for (unsigned row = use.first; row < unsigned(use.first + use.count); ++row) {
    const Event &event = rowWrites[row];
    if (clock - event.clock > longestHazard) [[likely]] {
      continue;
    }
    const CheckRecord &writer = records[event.record];
    if (writer.kind == CheckKind::Mfma) {
      bool memory = now.kind == CheckKind::Vmem || now.kind == CheckKind::Lds;
      bool isC = now.kind == CheckKind::Mfma && use.operand == 3;
      unsigned need =
          isC ? beforeSourceC(writer, now, use, isGfx950)
              : afterMatrixProduct(writer, isGfx950,
                                   memory ? After::MemoryRead : After::Read);
      if (tooEarly(event, need, "the result of a matrix product", row, false)) {
        return true;
      }
      continue;
    }
    unsigned need = 0;
    const char *what = "";
    auto require = [&](bool condition, unsigned states, const char *why) {
      if (condition && states > need) {
        need = states;
        what = why;
      }
    };
    bool valu = now.kind == CheckKind::Valu;
    require(now.kind == CheckKind::Mfma && !writer.is(checkDot), 2,
            "a VALU result that a matrix product reads"); // LegacyVALUNotDot..
    require(now.is(checkDpp), 2, "a VALU result read by DPP"); // DppVgpr..
    require(now.is(checkPermlaneSwap), 2, "a VALU result read by v_permlane");
    require(valu && !now.is(checkTrans) && writer.is(checkTrans), 1,
            "the result of a transcendental"); // TransDefWaitstates
    require(valu && writer.is(checkPartialDst), 1,
            "a result in a part of a register"); // Shift16DefWaitstates
    require(now.is(checkReadLane), 1,
            "a VALU result read by v_readlane"); // VALUWriteVGPRReadlaneRead
    require(writer.is(checkDot) && now.kind != CheckKind::Mfma &&
                (now.mnemonic != writer.mnemonic || use.operand != 3),
            3, "the result of a dot product"); // DotWriteDifferentVALURead
    if (need && tooEarly(event, need, what, row, false)) {
      return true;
    }
  }
  return false;
}

bool HazardState::checkScalarUse(const CheckRecord &now,
                                 const RegisterRange &use) {
  for (unsigned reg = use.first; reg < unsigned(use.first + use.count); ++reg) {
    const Event &event = scalarWrites[reg];
    if (clock - event.clock > longestHazard) [[likely]] {
      continue;
    }
    bool byValu = records[event.record].kind == CheckKind::Valu;
    bool valu = now.kind == CheckKind::Valu || now.kind == CheckKind::Mfma;
    unsigned need = 0;
    const char *what = "";
    auto require = [&](bool condition, unsigned states, const char *why) {
      if (condition && states > need) {
        need = states;
        what = why;
      }
    };
    require(
        byValu && valu, 2,
        "a scalar written by VALU that VALU reads"); // VALUWriteSGPRVALURead
    require(byValu && now.kind == CheckKind::Vmem, 5,
            "a scalar written by VALU that a memory instruction reads");
    require(byValu && now.is(checkLaneSelect) && use.operand == 2, 4,
            "a lane select written by VALU"); // RWLaneWaitStates
    require(byValu && now.is(checkDivFmas) && reg >= sgprVcc &&
                reg < sgprVcc + 2,
            4, "VCC written by VALU before v_div_fmas"); // DivFMasWaitStates
    if (need && tooEarly(event, need, what, reg, true)) {
      return true;
    }
  }
  return false;
}

bool HazardState::checkVectorDef(const CheckRecord &now,
                                 const RegisterRange &def) {
  for (unsigned row = def.first; row < unsigned(def.first + def.count); ++row) {
    const Event &written = rowWrites[row];
    if (clock - written.clock <= longestHazard && now.kind != CheckKind::Mfma) {
      const CheckRecord &writer = records[written.record];
      bool isMfma = writer.kind == CheckKind::Mfma;
      unsigned need =
          isMfma ? afterMatrixProduct(writer, isGfx950, After::Write)
          : writer.is(checkDot) && now.mnemonic != writer.mnemonic
              ? 3 // DotWriteDifferentVALUWrite
          : writer.is(checkPartialDst) && now.kind == CheckKind::Valu
              ? 1 // consumesDstSelForwardingOperand
              : 0;
      const char *what = isMfma ? "overwriting the result of a matrix product"
                         : writer.is(checkDot)
                             ? "overwriting the result of a dot product"
                             : "overwriting a result in a part of a register";
      if (need && tooEarly(written, need, what, row, false)) {
        return true;
      }
    }
    const Event &read = rowSourceC[row];
    if (clock - read.clock <= longestHazard && now.kind != CheckKind::Mfma &&
        tooEarly(read, records[read.record].passes - 1,
                 "overwriting SrcC of a matrix product", row, false)) {
      return true; // GFX940_XDL4PassReadVgprVALUWarWaitStates and others
    }
    if (now.kind != CheckKind::Valu && now.kind != CheckKind::Mfma) {
      continue;
    }
    const Event &stored = rowWideStores[row];
    if (clock - stored.clock <= longestHazard &&
        tooEarly(stored, records[stored.record].storeStates,
                 "overwriting the data of a wide store", row, false)) {
      return true; // checkVALUHazardsHelper
    }
  }
  return false;
}

/// EXEC written by VALU (v_cmpx).
bool HazardState::checkExec(const CheckRecord &now) {
  const Event &event = scalarWrites[sgprExec];
  if (clock - event.clock > longestHazard ||
      records[event.record].kind != CheckKind::Valu) {
    return false;
  }
  unsigned need =
      now.is(checkDpp) ? 5 // DppExecWaitStates
      : now.is(checkReadLane | checkWriteLane | checkPermlaneSwap) ||
              now.kind == CheckKind::Mfma
          ? 4 // VALUWriteEXECRWLane, VALUWritesExecWaitStates
          : 0;
  return need && tooEarly(event, need, "EXEC written by VALU", sgprExec, true);
}

bool HazardState::checkDoubleUnit(const CheckRecord &now) {
  return now.is(checkFma64) && clock - doubleProduct.clock <= longestHazard &&
         tooEarly(doubleProduct, 2, "a product of doubles before v_fma_f64",
                  now.defs[0].first, false); // DMFMAToFMA64WaitStates
}

/// M0 where it is read without being named.
bool HazardState::checkM0(const CheckRecord &now) {
  const Event &event = scalarWrites[sgprM0];
  return now.is(checkNeedsM0) && clock - event.clock <= longestHazard &&
         records[event.record].kind == CheckKind::Salu &&
         tooEarly(event, 1, "M0 written just before its use", sgprM0,
                  true); // ReadM0WaitStates
}

bool HazardState::checkModeRegister(const CheckRecord &now) {
  return now.is(checkSetReg | checkGetReg) &&
         clock - setReg.clock <= longestHazard &&
         records[setReg.record].hardwareRegister == now.hardwareRegister &&
         tooEarly(setReg, 2, "s_setreg before an access to the same register",
                  sgprCount, true); // GetRegWaitStates
}

void HazardState::remember(uint32_t record, const CheckRecord &now) {
  bool vector = now.kind == CheckKind::Valu || now.kind == CheckKind::Mfma;
  if (vector || now.kind == CheckKind::Salu) {
    for (const RegisterRange &def : now.definitions()) {
      Event *events = def.isScalar ? scalarWrites : rowWrites;
      for (unsigned i = def.first; i < unsigned(def.first + def.count); ++i) {
        events[i] = {clock, record};
      }
    }
  } else if (now.is(checkLoad)) {
    // What a load writes is ordered by its wait.
    for (const RegisterRange &def : now.definitions()) {
      Event *events = def.isScalar ? scalarWrites : rowWrites;
      for (unsigned i = def.first; i < unsigned(def.first + def.count); ++i) {
        events[i].clock = clock - longestHazard - 1;
      }
    }
  }
  if (now.kind == CheckKind::Mfma && now.is(checkXdl)) {
    for (const RegisterRange &use : now.operands()) {
      for (unsigned i = 0; use.operand == 3 && !use.isScalar && i < use.count;
           ++i) {
        rowSourceC[use.first + i] = {clock, record};
      }
    }
  }
  if (now.is(checkDgemm)) {
    doubleProduct = {clock, record};
  }
  if (now.storeStates) {
    // With a scalar offset the first dword has left before the next
    // instruction.
    unsigned first = now.storeStates == 1 ? 1 : 0;
    for (const RegisterRange &use : now.operands()) {
      for (unsigned i = first; !use.isScalar && use.count > 2 && i < use.count;
           ++i) {
        rowWideStores[use.first + i] = {clock, record};
      }
    }
  }
  if (now.is(checkSetReg)) {
    setReg = {clock, record};
  }
}

bool HazardState::issue(uint32_t record, HazardFinding &finding) {
  const CheckRecord &now = records[record];
  out = &finding;
  bool found = checkExec(now) || checkM0(now) || checkModeRegister(now) ||
               checkDoubleUnit(now);
  for (const RegisterRange &use : now.operands()) {
    found = found || (use.isScalar ? checkScalarUse(now, use)
                                   : checkVectorUse(now, use));
  }
  if (now.is(checkTiedDst)) {
    RegisterRange tied = now.defs[0];
    tied.operand = RegisterRange::noOperand;
    found = found || checkVectorUse(now, tied);
  }
  bool writesVector = now.kind == CheckKind::Valu ||
                      now.kind == CheckKind::Mfma ||
                      now.kind == CheckKind::Vmem || now.kind == CheckKind::Lds;
  for (const RegisterRange &def : now.definitions()) {
    found =
        found || (writesVector && !def.isScalar && checkVectorDef(now, def));
  }
  remember(record, now);
  clock += now.waitStates;
  return found;
}

} // namespace tenon::sim
