//===- ExecControl.cpp - branches, waits, hardware registers ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HostRounding.h"
#include "Opcode.h"
#include "Program.h"
#include "Wave.h"

#include "llvm/ADT/Twine.h"

namespace tenon::sim {

static void jump(Wave &wave, uint32_t target) {
  if (target == ~0u) {
    return wave.fail("branch to an address that holds no code");
  }
  wave.pc = target;
}

template <auto condition>
static void execBranch(Wave &wave, const Instr &instr) {
  if (condition(wave)) {
    jump(wave, instr.target);
  }
}

/// Jump to an address in registers, which must lie in the same code object.
static void jumpToAddress(Wave &wave, uint64_t address) {
  uint64_t elfAddress = address - wave.loadAddress;
  std::optional<uint32_t> record = wave.program->recordAt(elfAddress);
  jump(wave, record.value_or(~0u));
}

static uint64_t nextAddress(const Wave &wave, const Instr &instr) {
  return wave.loadAddress + instr.address + instr.bytes;
}

static void execGetPc(Wave &wave, const Instr &instr) {
  wave.setPair(instr.dst, nextAddress(wave, instr));
}
static void execSetPc(Wave &wave, const Instr &instr) {
  jumpToAddress(wave, wave.readScalar64(instr.src[0]));
}
static void execSwapPc(Wave &wave, const Instr &instr) {
  uint64_t target = wave.readScalar64(instr.src[0]);
  wave.setPair(instr.dst, nextAddress(wave, instr));
  jumpToAddress(wave, target);
}
static void execCall(Wave &wave, const Instr &instr) {
  wave.setPair(instr.dst, nextAddress(wave, instr));
  jump(wave, instr.target);
}

static void execNothing(Wave &, const Instr &) {}
static void execEnd(Wave &wave, const Instr &) { wave.stop = WaveStop::Ended; }
static void execBarrier(Wave &wave, const Instr &) {
  wave.stop = WaveStop::Barrier;
}
static void execSleep(Wave &wave, const Instr &) {
  wave.stop = WaveStop::AwaitsOthers;
}

static void execWaitcnt(Wave &wave, const Instr &instr) {
  uint32_t bits = uint16_t(instr.imm);
  unsigned vmcnt = (bits & 15) | ((bits >> 14) << 4);
  unsigned lgkmcnt = (bits >> 8) & 15;
  if (vmcnt < 63) {
    wave.waits.waitVmem(vmcnt, wave);
  }
  if (lgkmcnt < 15) {
    wave.waits.waitLgkm(lgkmcnt);
  }
}

static void execTrap(Wave &wave, const Instr &instr) {
  // Trap 3 calls the debugger; without one it does nothing.
  if (unsigned id = instr.imm & 0xFF; id != 3) {
    wave.fail("trap " + llvm::Twine(id));
  }
}

static void execHalt(Wave &wave, const Instr &instr) {
  if (instr.imm & 1) {
    wave.fail("the wave halts and nothing would resume it");
  }
}
static void execKill(Wave &wave, const Instr &instr) {
  if (instr.imm & 1) {
    wave.stop = WaveStop::Ended;
  }
}

/// Messages to the host are not seen by the kernel; those of graphics stages
/// have no meaning in a compute kernel.
static void execSendMessage(Wave &wave, const Instr &instr) {
  constexpr unsigned interrupt = 1;
  if (unsigned id = instr.imm & 15; id != interrupt) {
    wave.fail("message " + llvm::Twine(id) + " is not one of compute kernels");
  }
}

namespace {
/// The operand of s_getreg and s_setreg.
struct HardwareRegister {
  unsigned id, offset;
  uint32_t mask; ///< of the field, at bit 0

  explicit HardwareRegister(int32_t imm)
      : id(imm & 63), offset((imm >> 6) & 31),
        mask(uint32_t((uint64_t(1) << (((imm >> 11) & 31) + 1)) - 1)) {}
};
enum : unsigned {
  registerMode = 1,
  registerStatus = 2,
  registerTrapStatus = 3,
  registerHardwareId = 4,
  registerGprAlloc = 5,
  registerLdsAlloc = 6,
  registerMemoryBases = 15,
  registerXccId = 20,
  registerFirstSnapshot = 21, ///< of the performance counters, up to 24
  registerLastSnapshot = 24,
};
} // namespace

/// STATUS: SCC, EXECZ, VCCZ and VALID; the rest is of no use to a kernel.
static uint32_t statusRegister(const Wave &wave) {
  return wave.scc | uint32_t(wave.exec() == 0) << 9 |
         uint32_t(wave.vcc() == 0) << 10 | 1u << 16;
}

static void execGetReg(Wave &wave, const Instr &instr) {
  HardwareRegister reg(instr.imm);
  uint32_t value = 0;
  switch (reg.id) {
  case registerMode:
    value = wave.mode.bits;
    break;
  case registerStatus:
    value = statusRegister(wave);
    break;
  case registerHardwareId:
    // Wave slot and SIMD within the compute unit; the rest says where.
    value = (wave.waveIndex / 4 & 15) | (wave.waveIndex & 3) << 4;
    break;
  case registerMemoryBases:
    value = privateAperture >> 16 | (sharedAperture >> 16) << 16;
    break;
  case registerXccId:
    // Workgroups go round the eight dies of an MI300 or MI355 in turn.
    value = uint32_t(wave.workgroup->linearId % 8);
    break;
  case registerLdsAlloc:
    // Size in units of 64 dwords, in bits 12 and up.
    value = uint32_t(wave.workgroup->lds.size() / 256) << 12;
    break;
  case registerTrapStatus:
  case registerGprAlloc:
    break; // no exception was raised; the allocation starts at zero
  default:
    if (reg.id < registerFirstSnapshot || reg.id > registerLastSnapshot) {
      return wave.fail("reading this hardware register is not implemented");
    }
  }
  wave.s[instr.dst] = (value >> reg.offset) & reg.mask;
}

/// Bits of MODE that have instructions of their own (ExecModal.cpp).
static constexpr uint32_t modeOfInstructions = 3u << 27;

static void setReg(Wave &wave, const Instr &instr, uint32_t value) {
  HardwareRegister reg(instr.imm);
  if (reg.id == registerTrapStatus) {
    return; // clears exceptions, of which there are none
  }
  if (reg.id != registerMode) {
    return wave.fail("writing this hardware register is not implemented");
  }
  uint32_t mask = reg.mask << reg.offset;
  if ((mask & modeOfInstructions) != 0) {
    return wave.fail("s_setreg may not switch vector skipping and indexing");
  }
  wave.mode.bits = (wave.mode.bits & ~mask) | ((value << reg.offset) & mask);
  setHostRounding(wave.mode);
}
static void execSetReg(Wave &wave, const Instr &instr) {
  setReg(wave, instr, wave.s[instr.dst]);
}
static void execSetRegImm(Wave &wave, const Instr &instr) {
  setReg(wave, instr, uint32_t(instr.imm1));
}

/// s_movrel: the register is M0 behind the one that is named.
static unsigned relativeRegister(Wave &wave, unsigned reg, unsigned count) {
  uint64_t moved = uint64_t(reg) + wave.s[sgprM0];
  if (moved + count > sgprFlatScratch) {
    wave.fail("the register that M0 chooses does not exist");
    return reg;
  }
  return unsigned(moved);
}
template <unsigned count>
static void execMoveRelativeSource(Wave &wave, const Instr &instr) {
  unsigned from = relativeRegister(wave, instr.src[0].reg, count);
  for (unsigned i = 0; i < count; ++i) {
    wave.s[instr.dst + i] = wave.s[from + i];
  }
}
template <unsigned count>
static void execMoveRelativeDst(Wave &wave, const Instr &instr) {
  unsigned to = relativeRegister(wave, instr.dst, count);
  uint64_t value = wave.readScalar64(instr.src[0]);
  for (unsigned i = 0; i < count; ++i) {
    wave.s[to + i] = uint32_t(value >> (32 * i));
  }
}

void execUnimplemented(Wave &wave, const Instr &) {
  wave.fail("this instruction is not implemented");
}

llvm::ArrayRef<OpcodeInfo> scalarControlTable() {
  constexpr ValueType b32 = ValueType::I32, b64 = ValueType::I64,
                      none = ValueType::None;
  auto branch = [](llvm::StringLiteral name, Handler handler) {
    OpcodeInfo info = {name, handler};
    info.flags = opBranch;
    return info;
  };
  static const OpcodeInfo table[] = {
      branch("s_branch", execBranch<[](const Wave &) { return true; }>),
      branch("s_cbranch_scc0",
             execBranch<[](const Wave &wave) { return wave.scc == 0; }>),
      branch("s_cbranch_scc1",
             execBranch<[](const Wave &wave) { return wave.scc != 0; }>),
      branch("s_cbranch_vccz",
             execBranch<[](const Wave &wave) { return wave.vcc() == 0; }>),
      branch("s_cbranch_vccnz",
             execBranch<[](const Wave &wave) { return wave.vcc() != 0; }>),
      branch("s_cbranch_execz",
             execBranch<[](const Wave &wave) { return wave.exec() == 0; }>),
      branch("s_cbranch_execnz",
             execBranch<[](const Wave &wave) { return wave.exec() != 0; }>),
      // The conditions of a debugger, which is never there.
      branch("s_cbranch_cdbgsys",
             execBranch<[](const Wave &) { return false; }>),
      branch("s_cbranch_cdbguser",
             execBranch<[](const Wave &) { return false; }>),
      branch("s_cbranch_cdbgsys_or_user",
             execBranch<[](const Wave &) { return false; }>),
      branch("s_cbranch_cdbgsys_and_user",
             execBranch<[](const Wave &) { return false; }>),
      {"s_movrels_b32", execMoveRelativeSource<1>, b32, {b32, none, none}},
      {"s_movrels_b64", execMoveRelativeSource<2>, b64, {b64, none, none}},
      {"s_movreld_b32", execMoveRelativeDst<1>, b32, {b32, none, none}},
      {"s_movreld_b64", execMoveRelativeDst<2>, b64, {b64, none, none}},
      {"s_call_b64", execCall, b64, {none, none, none}, opBranch},
      {"s_getpc_b64", execGetPc, b64},
      {"s_setpc_b64", execSetPc, none, {b64, none, none}},
      {"s_swappc_b64", execSwapPc, b64, {b64, none, none}},
      {"s_nop", execNothing},
      {"s_endpgm", execEnd},
      {"s_barrier", execBarrier},
      {"s_waitcnt", execWaitcnt},
      {"s_sleep", execSleep},
      {"s_trap", execTrap},
      {"s_setprio", execNothing},
      {"s_sethalt", execHalt},
      {"s_setkill", execKill},
      {"s_wakeup", execNothing},
      {"s_sendmsg", execSendMessage},
      {"s_sendmsghalt", execSendMessage},
      {"s_endpgm_saved", execEnd},
      {"s_endpgm_ordered_ps_done", execEnd},
      {"s_icache_inv", execNothing},
      {"s_incperflevel", execNothing},
      {"s_decperflevel", execNothing},
      {"s_ttracedata", execNothing},
      {"s_getreg_b32", execGetReg, b32},
      {"s_setreg_b32", execSetReg, b32, {b32, none, none}},
      {"s_setreg_imm32_b32", execSetRegImm},
  };
  return table;
}

} // namespace tenon::sim
