//===- ExecLdsSpecial.cpp - DS instructions out of the ordinary -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read-modify-write operations with two operands, exchanges of two elements,
// addressing by lane number, and the counters of ds_append and ds_consume.
//
//===----------------------------------------------------------------------===//

#include "LdsAccess.h"

namespace tenon::sim {

/// Replaces the element at `address` by what `update` makes of it; the old one
/// goes to `row` when `returns`.
template <typename T, typename Update>
static void updateElement(Wave &wave, uint32_t address, unsigned row,
                          unsigned lane, bool returns, Update update) {
  T old;
  readLds(*wave.workgroup, address, reinterpret_cast<uint8_t *>(&old),
          sizeof(T));
  T value = update(old);
  writeLds(*wave.workgroup, address, reinterpret_cast<const uint8_t *>(&value),
           sizeof(T));
  if (returns) {
    for (unsigned d = 0; d < sizeof(T) / 4; ++d) {
      wave.v[row + d][lane] = uint32_t(uint64_t(old) >> (32 * d));
    }
  }
}

/// An operation on memory and two data operands.
template <auto function, typename T, bool returns>
static void execTwoOperands(Wave &wave, const Instr &instr) {
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    T first = laneData<T>(wave, instr.data, lane);
    T second =
        instr.data1 == noRow ? T(0) : laneData<T>(wave, instr.data1, lane);
    updateElement<T>(wave, wave.v[instr.addr][lane] + instr.imm, instr.dst,
                     lane, returns,
                     [&](T old) { return function(old, first, second); });
  }
  wave.waits.issueLds(returns ? instr.dst : 0, returns ? sizeof(T) / 4 : 0);
}

/// Two elements exchanged, at two offsets.
template <typename T>
static void execExchange2(Wave &wave, const Instr &instr) {
  constexpr unsigned dwords = sizeof(T) / 4;
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint32_t address = wave.v[instr.addr][lane];
    T first = laneData<T>(wave, instr.data, lane);
    T second = laneData<T>(wave, instr.data1, lane);
    updateElement<T>(wave, address + instr.imm, instr.dst, lane, true,
                     [=](T) { return first; });
    updateElement<T>(wave, address + instr.imm1, instr.dst + dwords, lane, true,
                     [=](T) { return second; });
  }
  wave.waits.issueLds(instr.dst, 2 * dwords);
}

/// Address of the forms without an address register.
static uint32_t addressOfLane(const Wave &wave, const Instr &instr,
                              unsigned lane) {
  return wave.s[sgprM0] + uint32_t(instr.imm) + 4 * lane;
}

static void execReadByLane(Wave &wave, const Instr &instr) {
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    readLds(*wave.workgroup, addressOfLane(wave, instr, lane),
            reinterpret_cast<uint8_t *>(&wave.v[instr.dst][lane]), 4);
  }
  wave.waits.issueLds(instr.dst, 1);
}

static void execWriteByLane(Wave &wave, const Instr &instr) {
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    writeLds(*wave.workgroup, addressOfLane(wave, instr, lane),
             reinterpret_cast<const uint8_t *>(&wave.v[instr.data][lane]), 4);
  }
  wave.waits.issueLds(0, 0);
}

/// ds_append and ds_consume: the number of active lanes is added to (taken
/// from) a counter at M0 + offset, once; every active lane gets the old value.
template <int sign> static void execCounter(Wave &wave, const Instr &instr) {
  uint64_t exec = wave.exec();
  uint32_t address = wave.s[sgprM0] + uint32_t(instr.imm), counter;
  readLds(*wave.workgroup, address, reinterpret_cast<uint8_t *>(&counter), 4);
  uint32_t next = counter + uint32_t(sign * std::popcount(exec));
  writeLds(*wave.workgroup, address, reinterpret_cast<uint8_t *>(&next), 4);
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    wave.v[instr.dst][std::countr_zero(rest)] = counter;
  }
  wave.waits.issueLds(instr.dst, 1);
}

static void execGlobalWaveSync(Wave &wave, const Instr &) {
  wave.fail("global wave sync (ds_gws_*) needs a resource that the driver "
            "allocates and is not simulated");
}

namespace {

template <auto function, typename T>
void addTwoOperands(OpcodeTable &table, const std::string &name,
                    const std::string &type, bool plainToo = true,
                    bool oneOperand = false) {
  constexpr ValueType data = sizeof(T) == 8 ? ValueType::I64 : ValueType::I32;
  ValueType second = oneOperand ? ValueType::None : data;
  if (plainToo) {
    table.add("ds_" + name + "_" + type, {"",
                                          execTwoOperands<function, T, false>,
                                          ValueType::None,
                                          {data, second, ValueType::None},
                                          opStores});
  }
  table.add("ds_" + name + "_rtn_" + type, {"",
                                            execTwoOperands<function, T, true>,
                                            data,
                                            {data, second, ValueType::None},
                                            opStores});
}

/// ds_cmpst of floats: equal as numbers, not as bits.
template <typename T, typename Real> T compareStore(T old, T compare, T data) {
  return std::bit_cast<Real>(old) == std::bit_cast<Real>(compare) ? data : old;
}
template <typename T> T maskedOr(T old, T mask, T data) {
  return (old & ~mask) | data;
}
/// Each dword is replaced when the top bit of its data says so.
uint64_t conditionalExchange(uint64_t old, uint64_t data, uint64_t) {
  uint64_t result = old;
  for (unsigned shift = 0; shift < 64; shift += 32) {
    uint64_t word = (data >> shift) & 0xFFFFFFFF;
    if (word >> 31) {
      result &= ~(uint64_t(0xFFFFFFFF) << shift);
      result |= (word & 0x7FFFFFFF) << shift;
    }
  }
  return result;
}
uint32_t wrap(uint32_t old, uint32_t limit, uint32_t base) {
  return old >= limit ? old - limit : old + base;
}

template <typename T>
void addExchange2(OpcodeTable &table, const std::string &type) {
  constexpr ValueType data = sizeof(T) == 8 ? ValueType::I64 : ValueType::I32;
  for (int stride : {1, 64}) {
    OpcodeInfo info = {"",
                       execExchange2<T>,
                       sizeof(T) == 8 ? ValueType::B128 : ValueType::I64,
                       {data, data, ValueType::None},
                       uint32_t(opStores | opTwoAddress),
                       int(sizeof(T)) * stride};
    table.add(std::string("ds_wrxchg2") + (stride == 64 ? "st64" : "") +
                  "_rtn_" + type,
              info);
  }
}

OpcodeTable buildLdsSpecialTable() {
  OpcodeTable table;
  addTwoOperands<compareStore<uint32_t, float>, uint32_t>(table, "cmpst",
                                                          "f32");
  addTwoOperands<compareStore<uint64_t, double>, uint64_t>(table, "cmpst",
                                                           "f64");
  addTwoOperands<maskedOr<uint32_t>, uint32_t>(table, "mskor", "b32");
  addTwoOperands<maskedOr<uint64_t>, uint64_t>(table, "mskor", "b64");
  addTwoOperands<wrap, uint32_t>(table, "wrap", "b32", /*plainToo=*/false);
  addTwoOperands<conditionalExchange, uint64_t>(
      table, "condxchg32", "b64", /*plainToo=*/false, /*oneOperand=*/true);
  addExchange2<uint32_t>(table, "b32");
  addExchange2<uint64_t>(table, "b64");
  constexpr ValueType b32 = ValueType::I32, none = ValueType::None;
  uint32_t noAddress = opNoAddress;
  table.add(
      "ds_read_addtid_b32",
      {"", execReadByLane, b32, {none, none, none}, opReturns | noAddress});
  table.add(
      "ds_write_addtid_b32",
      {"", execWriteByLane, none, {b32, none, none}, opStores | noAddress});
  table.add("ds_append",
            {"", execCounter<1>, b32, {none, none, none}, noAddress});
  table.add("ds_consume",
            {"", execCounter<-1>, b32, {none, none, none}, noAddress});
  for (const char *name :
       {"ds_gws_init", "ds_gws_barrier", "ds_gws_sema_v", "ds_gws_sema_p",
        "ds_gws_sema_br", "ds_gws_sema_release_all"}) {
    table.add(name,
              {"", execGlobalWaveSync, none, {none, none, none}, noAddress});
  }
  return table;
}

} // namespace

llvm::ArrayRef<OpcodeInfo> ldsSpecialTable() {
  static const OpcodeTable table = buildLdsSpecialTable();
  return table.all();
}

} // namespace tenon::sim
