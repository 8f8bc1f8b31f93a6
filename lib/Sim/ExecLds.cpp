//===- ExecLds.cpp - DS instructions ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Atomic.h"
#include "LdsAccess.h"

namespace tenon::sim {

/// Whether all lanes are on and lane i is `bytes` behind lane i - 1, with all
/// of it inside the segment: then one copy does.
static bool isOneBlock(const Wave &wave, const uint32_t *address,
                       uint32_t offset, unsigned bytes) {
  uint32_t different = 0, first = address[0];
  for (unsigned i = 0; i < waveSize; ++i) {
    different |= address[i] ^ (first + i * bytes);
  }
  return different == 0 && wave.exec() == allLanes &&
         uint64_t(first) + offset + bytes * waveSize <=
             wave.workgroup->lds.size();
}

/// Loads one element per lane into `row`.
template <Format format>
static void loadElements(Wave &wave, unsigned row, const uint32_t *address,
                         uint32_t offset) {
  constexpr unsigned bytes = memoryBytes(format);
  const Workgroup &workgroup = *wave.workgroup;
  if constexpr (bytes >= 4) {
    if (isOneBlock(wave, address, offset, bytes)) {
      return loadAllLanes<format>(wave, row,
                                  workgroup.lds.data() + address[0] + offset);
    }
  }
  // The address register may be one of the destinations.
  Row addresses;
  std::memcpy(addresses.lane, address, sizeof(Row));
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t data[16];
    readLds(workgroup, addresses.lane[lane] + offset, data, bytes);
    loadLane<format>(wave, row, lane, data);
  }
}

template <Format format>
static void storeElements(Wave &wave, unsigned row, const uint32_t *address,
                          uint32_t offset) {
  constexpr unsigned bytes = memoryBytes(format);
  Workgroup &workgroup = *wave.workgroup;
  if constexpr (bytes >= 4) {
    if (isOneBlock(wave, address, offset, bytes)) {
      return storeAllLanes<format>(wave, row,
                                   workgroup.lds.data() + address[0] + offset);
    }
  }
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t data[16];
    storeLane<format>(wave, row, lane, data);
    writeLds(workgroup, address[lane] + offset, data, bytes);
  }
}

template <Format format> static void execRead(Wave &wave, const Instr &instr) {
  loadElements<format>(wave, instr.dst, wave.v[instr.addr], instr.imm);
  wave.waits.issueLds(instr.dst, formatDwords(format));
}

template <Format format> static void execWrite(Wave &wave, const Instr &instr) {
  storeElements<format>(wave, instr.data, wave.v[instr.addr], instr.imm);
  wave.waits.issueLds(0, 0);
}

template <Format format> static void execRead2(Wave &wave, const Instr &instr) {
  constexpr unsigned dwords = formatDwords(format);
  Row address;
  std::memcpy(address.lane, wave.v[instr.addr], sizeof(Row));
  loadElements<format>(wave, instr.dst, address.lane, instr.imm);
  loadElements<format>(wave, instr.dst + dwords, address.lane, instr.imm1);
  wave.waits.issueLds(instr.dst, 2 * dwords);
}

template <Format format>
static void execWrite2(Wave &wave, const Instr &instr) {
  storeElements<format>(wave, instr.data, wave.v[instr.addr], instr.imm);
  storeElements<format>(wave, instr.data1, wave.v[instr.addr], instr.imm1);
  wave.waits.issueLds(0, 0);
}

/// Replaces the element at `address` by what `update` makes of it and returns
/// the old one. Outside the segment it reads zero and writes nothing.
template <typename T, typename Update>
static T updateElement(Workgroup &workgroup, uint32_t address, Update update) {
  T old;
  readLds(workgroup, address, reinterpret_cast<uint8_t *>(&old), sizeof(T));
  T value = update(old);
  writeLds(workgroup, address, reinterpret_cast<const uint8_t *>(&value),
           sizeof(T));
  return old;
}

template <typename T>
static void putResult(Wave &wave, unsigned row, unsigned lane, T value) {
  for (unsigned d = 0; d < sizeof(T) / 4; ++d) {
    wave.v[row + d][lane] = uint32_t(uint64_t(value) >> (32 * d));
  }
}

template <AtomicOp op, typename T, bool returns>
static void execLdsAtomic(Wave &wave, const Instr &instr) {
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    T data = laneData<T>(wave, instr.data, lane);
    T old = updateElement<T>(
        *wave.workgroup, wave.v[instr.addr][lane] + instr.imm,
        [&](T value) { return atomicResult<op>(value, data); });
    if (returns) {
      putResult(wave, instr.dst, lane, old);
    }
  }
  wave.waits.issueLds(returns ? instr.dst : 0, returns ? sizeof(T) / 4 : 0);
}

/// ds_cmpst: the first data operand is compared with, the second stored.
template <typename T, bool returns>
static void execLdsCompareStore(Wave &wave, const Instr &instr) {
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    T compare = laneData<T>(wave, instr.data, lane);
    T data = laneData<T>(wave, instr.data1, lane);
    T old = updateElement<T>(
        *wave.workgroup, wave.v[instr.addr][lane] + instr.imm,
        [&](T value) { return value == compare ? data : value; });
    if (returns) {
      putResult(wave, instr.dst, lane, old);
    }
  }
  wave.waits.issueLds(returns ? instr.dst : 0, returns ? sizeof(T) / 4 : 0);
}

/// The lane whose data lane `lane` receives in ds_swizzle.
static unsigned swizzleSource(unsigned lane, unsigned offset) {
  unsigned group = lane & 32, inGroup = lane & 31;
  if (offset >= 0xE000) { // FFT: the bits outside the mask reversed
    unsigned mask = offset & 31;
    unsigned reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit) {
      reversed |= ((inGroup >> bit) & 1) << (4 - bit);
    }
    return group | (reversed >> std::popcount(mask)) | (inGroup & mask);
  }
  if (offset >= 0xC000) { // rotate
    unsigned mask = offset & 31;
    unsigned distance = (offset >> 5) & 31;
    bool right = (offset >> 10) & 1;
    unsigned moved = right ? inGroup - distance : inGroup + distance;
    return group | (inGroup & mask) | (moved & ~mask & 31);
  }
  if (offset & 0x8000) { // quad permutation
    return (lane & ~3u) | ((offset >> (2 * (lane & 3))) & 3);
  }
  unsigned andMask = offset & 31, orMask = (offset >> 5) & 31,
           xorMask = (offset >> 10) & 31;
  return group | (((inGroup & andMask) | orMask) ^ xorMask);
}

static void execSwizzle(Wave &wave, const Instr &instr) {
  Row result;
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    unsigned source = swizzleSource(lane, uint32_t(instr.imm));
    result.lane[lane] = (exec >> source) & 1 ? wave.v[instr.addr][source] : 0;
  }
  writeRow(wave, instr.dst, result);
  wave.waits.issueLds(instr.dst, 1);
}

static void execBpermute(Wave &wave, const Instr &instr) {
  Row result;
  uint64_t exec = wave.exec();
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    unsigned source = ((wave.v[instr.addr][lane] + instr.imm) / 4) & 63;
    result.lane[lane] = (exec >> source) & 1 ? wave.v[instr.data][source] : 0;
  }
  writeRow(wave, instr.dst, result);
  wave.waits.issueLds(instr.dst, 1);
}

/// The push form; of several lanes with one target the last wins.
static void execPermute(Wave &wave, const Instr &instr) {
  Row result = {};
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    unsigned target = ((wave.v[instr.addr][lane] + instr.imm) / 4) & 63;
    result.lane[target] = wave.v[instr.data][lane];
  }
  writeRow(wave, instr.dst, result);
  wave.waits.issueLds(instr.dst, 1);
}

/// Transposing reads: in each group of 16 lanes the bits read by the lanes are
/// a row-major matrix of 16 columns; lane t of the group receives column t.
template <unsigned elementBits, unsigned totalBits>
static void execReadTransposed(Wave &wave, const Instr &instr) {
  constexpr unsigned bytes = totalBits / 8;
  uint8_t source[waveSize][bytes];
  if (wave.exec() != allLanes) {
    return wave.fail("a transposing LDS read with lanes switched off");
  }
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    readLds(*wave.workgroup, wave.v[instr.addr][lane] + instr.imm, source[lane],
            bytes);
  }
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    const uint8_t *group = source[lane & ~15u];
    uint32_t result[totalBits / 32] = {};
    for (unsigned j = 0; j < totalBits / elementBits; ++j) {
      unsigned from = (16 * j + lane % 16) * elementBits;
      for (unsigned bit = 0; bit < elementBits; ++bit) {
        unsigned at = from + bit, to = j * elementBits + bit;
        result[to / 32] |= uint32_t((group[at / 8] >> (at % 8)) & 1)
                           << (to % 32);
      }
    }
    for (unsigned d = 0; d < totalBits / 32; ++d) {
      wave.v[instr.dst + d][lane] = result[d];
    }
  }
  wave.waits.issueLds(instr.dst, totalBits / 32);
}

static void execLdsNop(Wave &, const Instr &) {}

namespace {

template <Format format> void addRead(OpcodeTable &table, const char *name) {
  OpcodeInfo info = {"", execRead<format>, formatType(format)};
  info.flags = opReturns;
  table.add(std::string("ds_read_") + name, info);
}

template <Format format> void addWrite(OpcodeTable &table, const char *name) {
  OpcodeInfo info = {"",
                     execWrite<format>,
                     ValueType::None,
                     {formatType(format), ValueType::None, ValueType::None}};
  info.flags = opStores;
  table.add(std::string("ds_write_") + name, info);
}

template <Format format>
void addPair(OpcodeTable &table, const std::string &type) {
  constexpr int size = memoryBytes(format);
  for (int stride : {1, 64}) {
    std::string st = stride == 64 ? "st64_" : "_";
    OpcodeInfo read = {"", execRead2<format>,
                       size == 4 ? ValueType::I64 : ValueType::B128};
    read.flags = opReturns | opTwoAddress;
    read.param = size * stride;
    table.add("ds_read2" + st + type, read);
    OpcodeInfo write = {
        "",
        execWrite2<format>,
        ValueType::None,
        {formatType(format), formatType(format), ValueType::None}};
    write.flags = opStores | opTwoAddress;
    write.param = size * stride;
    table.add("ds_write2" + st + type, write);
  }
}

template <AtomicOp op, typename T>
void addAtomic(OpcodeTable &table, const std::string &name,
               const std::string &type, const char *returning = nullptr) {
  constexpr ValueType data = sizeof(T) == 8 ? ValueType::I64 : ValueType::I32;
  if (op != AtomicOp::Swap) {
    table.add("ds_" + name + "_" + type,
              {"",
               execLdsAtomic<op, T, false>,
               ValueType::None,
               {data, ValueType::None, ValueType::None},
               opStores});
  }
  table.add("ds_" + std::string(returning ? returning : name) + "_rtn_" + type,
            {"",
             execLdsAtomic<op, T, true>,
             data,
             {data, ValueType::None, ValueType::None},
             opStores});
}

template <typename T>
void addAtomics(OpcodeTable &table, const std::string &bits) {
  addAtomic<AtomicOp::Add, T>(table, "add", "u" + bits);
  addAtomic<AtomicOp::Sub, T>(table, "sub", "u" + bits);
  addAtomic<AtomicOp::ReverseSub, T>(table, "rsub", "u" + bits);
  addAtomic<AtomicOp::Inc, T>(table, "inc", "u" + bits);
  addAtomic<AtomicOp::Dec, T>(table, "dec", "u" + bits);
  addAtomic<AtomicOp::MinI, T>(table, "min", "i" + bits);
  addAtomic<AtomicOp::MaxI, T>(table, "max", "i" + bits);
  addAtomic<AtomicOp::MinU, T>(table, "min", "u" + bits);
  addAtomic<AtomicOp::MaxU, T>(table, "max", "u" + bits);
  addAtomic<AtomicOp::And, T>(table, "and", "b" + bits);
  addAtomic<AtomicOp::Or, T>(table, "or", "b" + bits);
  addAtomic<AtomicOp::Xor, T>(table, "xor", "b" + bits);
  addAtomic<AtomicOp::AddF, T>(table, "add", "f" + bits);
  addAtomic<AtomicOp::MinF, T>(table, "min", "f" + bits);
  addAtomic<AtomicOp::MaxF, T>(table, "max", "f" + bits);
  addAtomic<AtomicOp::Swap, T>(table, "wrxchg", "b" + bits);
  constexpr ValueType data = sizeof(T) == 8 ? ValueType::I64 : ValueType::I32;
  table.add("ds_cmpst_b" + bits, {"",
                                  execLdsCompareStore<T, false>,
                                  ValueType::None,
                                  {data, data, ValueType::None},
                                  opStores});
  table.add("ds_cmpst_rtn_b" + bits, {"",
                                      execLdsCompareStore<T, true>,
                                      data,
                                      {data, data, ValueType::None},
                                      opStores});
}

void addTransposed(OpcodeTable &table, const char *name, Handler handler,
                   ValueType dst) {
  OpcodeInfo info = {"", handler, dst};
  info.flags = opReturns;
  table.add(name, info);
}

OpcodeTable buildLdsTable() {
  OpcodeTable table;
  addRead<Format::U8>(table, "u8");
  addRead<Format::I8>(table, "i8");
  addRead<Format::U16>(table, "u16");
  addRead<Format::I16>(table, "i16");
  addRead<Format::B32>(table, "b32");
  addRead<Format::B64>(table, "b64");
  addRead<Format::B96>(table, "b96");
  addRead<Format::B128>(table, "b128");
  addRead<Format::U8D16>(table, "u8_d16");
  addRead<Format::U8D16Hi>(table, "u8_d16_hi");
  addRead<Format::I8D16>(table, "i8_d16");
  addRead<Format::I8D16Hi>(table, "i8_d16_hi");
  addRead<Format::B16D16>(table, "u16_d16");
  addRead<Format::B16D16Hi>(table, "u16_d16_hi");
  addWrite<Format::U8>(table, "b8");
  addWrite<Format::U16>(table, "b16");
  addWrite<Format::U8D16Hi>(table, "b8_d16_hi");
  addWrite<Format::B16D16Hi>(table, "b16_d16_hi");
  addWrite<Format::B32>(table, "b32");
  addWrite<Format::B64>(table, "b64");
  addWrite<Format::B96>(table, "b96");
  addWrite<Format::B128>(table, "b128");
  addPair<Format::B32>(table, "b32");
  addPair<Format::B64>(table, "b64");
  addAtomics<uint32_t>(table, "32");
  addAtomics<uint64_t>(table, "64");
  addAtomic<AtomicOp::PackedAddHalf, uint32_t>(table, "pk_add", "f16");
  addAtomic<AtomicOp::PackedAddBf16, uint32_t>(table, "pk_add", "bf16");
  constexpr ValueType b32 = ValueType::I32, none = ValueType::None;
  table.add("ds_swizzle_b32",
            {"", execSwizzle, b32, {none, none, none}, opReturns});
  table.add("ds_bpermute_b32",
            {"", execBpermute, b32, {b32, none, none}, opReturns});
  table.add("ds_permute_b32",
            {"", execPermute, b32, {b32, none, none}, opReturns});
  addTransposed(table, "ds_read_b64_tr_b16", execReadTransposed<16, 64>,
                ValueType::I64);
  addTransposed(table, "ds_read_b64_tr_b8", execReadTransposed<8, 64>,
                ValueType::I64);
  addTransposed(table, "ds_read_b64_tr_b4", execReadTransposed<4, 64>,
                ValueType::I64);
  addTransposed(table, "ds_read_b96_tr_b6", execReadTransposed<6, 96>,
                ValueType::B96);
  OpcodeInfo nop = {"", execLdsNop};
  nop.flags = opNoAddress;
  table.add("ds_nop", nop);
  return table;
}

} // namespace

llvm::ArrayRef<OpcodeInfo> ldsTable() {
  static const OpcodeTable table = buildLdsTable();
  return table.all();
}

} // namespace tenon::sim
