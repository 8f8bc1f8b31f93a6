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
  wave.stop = WaveStop::Yield;
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
  wave.fail("trap " + llvm::Twine(instr.imm & 0xFF));
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
enum : unsigned { registerMode = 1, registerXccId = 20 };
} // namespace

static void execGetReg(Wave &wave, const Instr &instr) {
  HardwareRegister reg(instr.imm);
  uint32_t value;
  switch (reg.id) {
  case registerMode:
    value = wave.mode.bits;
    break;
  case registerXccId:
    // Workgroups go round the eight dies of an MI300 or MI355 in turn.
    value = uint32_t(wave.workgroup->linearId % 8);
    break;
  default:
    return wave.fail("reading this hardware register is not implemented");
  }
  wave.s[instr.dst] = (value >> reg.offset) & reg.mask;
}

static void setReg(Wave &wave, const Instr &instr, uint32_t value) {
  HardwareRegister reg(instr.imm);
  if (reg.id != registerMode) {
    return wave.fail("writing this hardware register is not implemented");
  }
  uint32_t mask = reg.mask << reg.offset;
  wave.mode.bits = (wave.mode.bits & ~mask) | ((value << reg.offset) & mask);
  if (const char *problem = unsupportedMode(wave.mode)) {
    return wave.fail(problem);
  }
  setHostRounding(wave.mode);
}
static void execSetReg(Wave &wave, const Instr &instr) {
  setReg(wave, instr, wave.s[instr.dst]);
}
static void execSetRegImm(Wave &wave, const Instr &instr) {
  setReg(wave, instr, uint32_t(instr.imm1));
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
      {"s_sethalt", execNothing},
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
