//===- ExecSmem.cpp - scalar memory loads -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Opcode.h"
#include "Wave.h"

#include "llvm/Support/FormatVariadic.h"

namespace tenon::sim {

/// Reads dwords into scalar registers and puts them in flight.
static void loadScalars(Wave &wave, unsigned reg, uint64_t address,
                        unsigned dwords) {
  if (dwords == 0) {
    return;
  }
  uint32_t words[16] = {};
  if (const uint8_t *host =
          wave.memory->translate(address, 4 * dwords, /*forWrite=*/false)) {
    std::memcpy(words, host, 4 * dwords);
  } else {
    for (unsigned i = 0; i < dwords; ++i) {
      host = wave.memory->translate(address + 4 * i, 4, /*forWrite=*/false);
      if (!host) {
        return wave.fail(
            llvm::formatv("scalar load of {0} bytes at {1:x} is outside every "
                          "allocation: {2}",
                          4 * dwords, address,
                          wave.memory->describe(address + 4 * i))
                .str());
      }
      std::memcpy(&words[i], host, 4);
    }
  }
  std::memcpy(&wave.s[reg], words, 4 * dwords);
}

static uint64_t offsetOf(const Wave &wave, const Instr &instr) {
  uint64_t offset = uint64_t(int64_t(instr.imm));
  return instr.saddrUsed ? offset + wave.readScalar(instr.src[0]) : offset;
}

static void execLoad(Wave &wave, const Instr &instr) {
  // The two lowest bits of the address are ignored.
  uint64_t address = (wave.pair(instr.sbase) + offsetOf(wave, instr)) & ~3ull;
  loadScalars(wave, instr.dst, address, instr.dwords);
  wave.waits.issueSmem(instr.dst, instr.dwords);
}

/// Dwords beyond the records of the resource read zero.
static void execBufferLoad(Wave &wave, const Instr &instr) {
  const uint32_t *resource = &wave.s[instr.sbase];
  uint64_t base = resource[0] | uint64_t(resource[1] & 0xFFFF) << 32;
  uint64_t stride = (resource[1] >> 16) & 0x3FFF;
  uint64_t size = stride ? stride * resource[2] : resource[2];
  uint64_t offset = offsetOf(wave, instr) & ~3ull;
  unsigned inRange = 0;
  while (inRange < instr.dwords && offset + 4 * inRange + 4 <= size) {
    ++inRange;
  }
  uint64_t address = base + offset;
  for (unsigned i = inRange; i < instr.dwords; ++i) {
    wave.s[instr.dst + i] = 0;
  }
  loadScalars(wave, instr.dst, address, inRange);
  wave.waits.issueSmem(instr.dst, instr.dwords);
}

/// Clocks: the wave's own instruction count, which only ever grows.
static void execTime(Wave &wave, const Instr &instr) {
  wave.setPair(instr.dst, wave.executed);
  wave.waits.issueSmem(instr.dst, 2);
}

static void execCacheControl(Wave &, const Instr &) {}

llvm::ArrayRef<OpcodeInfo> scalarMemoryTable() {
  constexpr ValueType none = ValueType::None, address = ValueType::I64,
                      resource = ValueType::B128;
  static const OpcodeInfo table[] = {
      {"s_load_dword", execLoad, ValueType::I32, {address, none, none}},
      {"s_load_dwordx2", execLoad, ValueType::I64, {address, none, none}},
      {"s_load_dwordx4", execLoad, ValueType::B128, {address, none, none}},
      {"s_load_dwordx8", execLoad, ValueType::B256, {address, none, none}},
      {"s_load_dwordx16", execLoad, ValueType::B512, {address, none, none}},
      {"s_buffer_load_dword",
       execBufferLoad,
       ValueType::I32,
       {resource, none, none}},
      {"s_buffer_load_dwordx2",
       execBufferLoad,
       ValueType::I64,
       {resource, none, none}},
      {"s_buffer_load_dwordx4",
       execBufferLoad,
       ValueType::B128,
       {resource, none, none}},
      {"s_buffer_load_dwordx8",
       execBufferLoad,
       ValueType::B256,
       {resource, none, none}},
      {"s_buffer_load_dwordx16",
       execBufferLoad,
       ValueType::B512,
       {resource, none, none}},
      {"s_memtime", execTime, ValueType::I64},
      {"s_memrealtime", execTime, ValueType::I64},
      {"s_dcache_inv", execCacheControl},
      {"s_dcache_wb", execCacheControl},
      {"s_dcache_inv_vol", execCacheControl},
      {"s_dcache_wb_vol", execCacheControl},
  };
  return table;
}

} // namespace tenon::sim
