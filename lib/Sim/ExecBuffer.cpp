//===- ExecBuffer.cpp - MUBUF instructions ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Atomic.h"
#include "LdsAccess.h"
#include "MemoryAccess.h"

namespace tenon::sim {

namespace {

/// The fields of a buffer resource.
struct Resource {
  uint64_t base;
  uint32_t stride;
  uint32_t records; ///< bytes, or elements when there is a stride
  bool swizzled;
  bool addThreadId;
  uint32_t elementBytes; ///< of the swizzle
  uint32_t indexStride;  ///< of the swizzle

  Resource(const Wave &wave, unsigned sgpr) {
    const uint32_t *words = &wave.s[sgpr];
    base = words[0] | uint64_t(words[1] & 0xFFFF) << 32;
    stride = (words[1] >> 16) & 0x3FFF;
    swizzled = words[1] >> 31;
    records = words[2];
    elementBytes = 2u << ((words[3] >> 19) & 3);
    indexStride = 8u << ((words[3] >> 21) & 3);
    addThreadId = (words[3] >> 23) & 1;
    if (addThreadId) {
      // The data format field extends the stride then.
      stride |= ((words[3] >> 15) & 15) << 14;
    }
  }
};

/// What the lanes of a buffer instruction address.
struct BufferLanes {
  LaneAddresses lanes; ///< active: the first byte is in range
  /// Bytes from the address on that are in range, at most 16.
  uint8_t inRange[waveSize];
  bool partial = false; ///< some lane has some dwords in range but not all
};

} // namespace

/// Computes addresses and range checks. A raw buffer (no stride, or no index)
/// checks each dword: the bytes at offset + SOFFSET must lie below `records`.
static void bufferAddresses(const Wave &wave, const Instr &instr,
                            unsigned bytes, BufferLanes &out) {
  Resource resource(wave, instr.sbase);
  uint64_t soffset = wave.readScalar(instr.src[0]);
  const uint32_t *index = instr.indexUsed ? wave.v[instr.addr] : nullptr;
  const uint32_t *offsets =
      instr.addrUsed ? wave.v[instr.addr + instr.indexUsed] : nullptr;
  uint64_t exec = wave.exec();
  bool structured =
      resource.stride && (index || resource.swizzled || resource.addThreadId);
  if (!structured) {
    uint64_t fixed = uint64_t(instr.imm) + soffset;
    uint64_t records = resource.records;
    alignas(64) uint64_t within[waveSize];
    uint64_t outside = 0;
    TENON_LANES
    for (unsigned i = 0; i < waveSize; ++i) {
      uint64_t offset = fixed + (offsets ? offsets[i] : 0);
      out.lanes.address[i] = resource.base + offset;
      within[i] = offset + bytes;
      outside |= uint64_t(offset + bytes > records);
    }
    out.lanes.active = exec;
    if (!outside) [[likely]] {
      return;
    }
    for (unsigned i = 0; i < waveSize; ++i) {
      uint64_t offset = within[i] - bytes;
      uint64_t left = records > offset ? records - offset : 0;
      if (left >= bytes) {
        left = bytes;
      } else {
        // Whole dwords only; a byte or a short is in range or it is not.
        left &= ~uint64_t(3);
      }
      out.inRange[i] = uint8_t(left);
      out.partial |= left && left < bytes;
      if (!left) {
        out.lanes.active &= ~(uint64_t(1) << i);
      }
    }
    return;
  }
  out.lanes.active = 0;
  for (unsigned i = 0; i < waveSize; ++i) {
    uint64_t element =
        (index ? index[i] : 0) + (resource.addThreadId ? uint64_t(i) : 0);
    uint64_t offset = uint64_t(instr.imm) + (offsets ? offsets[i] : 0);
    uint64_t place = element * resource.stride + offset;
    if (resource.swizzled) {
      uint64_t major = element / resource.indexStride;
      uint64_t minor = element % resource.indexStride;
      uint64_t offsetMajor = offset / resource.elementBytes;
      uint64_t offsetMinor = offset % resource.elementBytes;
      place = (major * resource.stride + offsetMajor * resource.elementBytes) *
                  resource.indexStride +
              minor * resource.elementBytes + offsetMinor;
    }
    out.lanes.address[i] = resource.base + soffset + place;
    // The offset is not held against the stride: that check came with gfx10.
    bool valid = element < resource.records;
    out.inRange[i] = valid ? bytes : 0;
    out.lanes.active |= uint64_t(valid) << i;
  }
  out.lanes.active &= exec;
}

/// Tells the checks of the dwords that are in range.
static void notePartial(Wave &wave, const BufferLanes &buffer, unsigned bytes,
                        MemoryAccessKind kind) {
  for (unsigned size = 4; wave.checks && size <= bytes; size += 4) {
    LaneAddresses lanes = buffer.lanes;
    for (unsigned i = 0; i < waveSize; ++i) {
      lanes.active &= ~(uint64_t(buffer.inRange[i] != size) << i);
    }
    if (lanes.active) {
      noteMemoryAccess(wave, lanes, size, kind);
    }
  }
}

/// Lanes with only some of their dwords in range, one by one.
template <Format format>
static void loadPartial(Wave &wave, unsigned row, BufferLanes &buffer) {
  for (uint64_t rest = buffer.lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t bytes[16] = {};
    if (!copyAcrossPages(wave, lane, buffer.lanes.address[lane], bytes,
                         buffer.inRange[lane], /*isStore=*/false)) {
      return;
    }
    loadLane<format>(wave, row, lane, bytes);
  }
}

template <Format format>
static void execBufferLoad(Wave &wave, const Instr &instr) {
  BufferLanes buffer;
  bufferAddresses(wave, instr, memoryBytes(format), buffer);
  if (awaitsAtomics(wave, buffer.lanes, memoryBytes(format))) {
    return;
  }
  uint64_t missing = wave.exec() & ~buffer.lanes.active;
  if (buffer.partial) [[unlikely]] {
    checkLoadTarget(wave, instr.dst, formatDwords(format));
    notePartial(wave, buffer, memoryBytes(format), MemoryAccessKind::Load);
    wave.waits.issueVmem(instr.dst, formatDwords(format));
    loadPartial<format>(wave, instr.dst, buffer);
  } else {
    loadLanes<format>(wave, instr.dst, buffer.lanes);
  }
  static const uint8_t zeros[16] = {};
  for (uint64_t rest = missing; rest; rest &= rest - 1) {
    loadLane<format>(wave, instr.dst, std::countr_zero(rest), zeros);
  }
  endPoll(wave, instr, buffer.lanes);
}

template <Format format>
static void execBufferStore(Wave &wave, const Instr &instr) {
  BufferLanes buffer;
  bufferAddresses(wave, instr, memoryBytes(format), buffer);
  if (awaitsAtomics(wave, buffer.lanes, memoryBytes(format))) {
    return;
  }
  if (!buffer.partial) [[likely]] {
    return storeLanes<format>(wave, instr.data, buffer.lanes);
  }
  notePartial(wave, buffer, memoryBytes(format), MemoryAccessKind::Store);
  wave.waits.issueVmem(0, 0);
  for (uint64_t rest = buffer.lanes.active; rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint8_t bytes[16];
    storeLane<format>(wave, instr.data, lane, bytes);
    if (!copyAcrossPages(wave, lane, buffer.lanes.address[lane], bytes,
                         buffer.inRange[lane], /*isStore=*/true)) {
      return;
    }
  }
}

/// The old value is returned in the data registers; out of range it is zero.
static void zeroMissing(Wave &wave, const Instr &instr, uint64_t active,
                        unsigned dwords) {
  if (!instr.returns) {
    return;
  }
  for (uint64_t rest = wave.exec() & ~active; rest; rest &= rest - 1) {
    for (unsigned d = 0; d < dwords; ++d) {
      wave.v[instr.dst + d][std::countr_zero(rest)] = 0;
    }
  }
}

template <typename T>
static void atomicOfLanes(Wave &wave, const Instr &instr,
                          PendingAtomic::Update update, bool compares) {
  BufferLanes buffer;
  bufferAddresses(wave, instr, sizeof(T), buffer);
  atomicLanes<T>(wave, instr.dst, instr.returns, instr.data, buffer.lanes,
                 update, compares);
  zeroMissing(wave, instr, buffer.lanes.active, sizeof(T) / 4);
}

template <AtomicOp op, typename T>
static void execBufferAtomic(Wave &wave, const Instr &instr) {
  atomicOfLanes<T>(wave, instr, updateAtomic<op, T>, /*compares=*/false);
}

template <typename T>
static void execBufferCompareSwap(Wave &wave, const Instr &instr) {
  atomicOfLanes<T>(wave, instr, updateCompareSwap<T>, /*compares=*/true);
}

/// Out-of-range lanes write zeros into LDS.
template <unsigned bytes, bool isSigned = false>
static void execBufferLoadLds(Wave &wave, const Instr &instr) {
  BufferLanes buffer;
  bufferAddresses(wave, instr, bytes, buffer);
  if (buffer.partial) {
    return wave.fail("a load into LDS that is in range in part is not "
                     "implemented");
  }
  loadToLds(wave, buffer.lanes, wave.exec(),
            wave.s[sgprM0] + uint32_t(instr.imm), bytes, isSigned);
}

/// Write-back and invalidation: the simulated memory has no caches.
static void execCacheControl(Wave &, const Instr &) {}

namespace {

template <Format format>
void addLoad(OpcodeTable &table, const std::string &name) {
  OpcodeInfo info = {"", execBufferLoad<format>, formatType(format)};
  info.flags = opReturns;
  table.add("buffer_load_" + name, info);
}

template <Format format>
void addStore(OpcodeTable &table, const std::string &name) {
  OpcodeInfo info = {"",
                     execBufferStore<format>,
                     ValueType::None,
                     {formatType(format), ValueType::None, ValueType::None}};
  info.flags = opStores;
  table.add("buffer_store_" + name, info);
}

void addAtomic(OpcodeTable &table, const std::string &name, Handler handler,
               ValueType dst, ValueType data) {
  table.add("buffer_atomic_" + name, {"",
                                      handler,
                                      dst,
                                      {data, ValueType::None, ValueType::None},
                                      uint32_t(opAtomic | opStores)});
}

template <AtomicOp op>
void addAtomicPair(OpcodeTable &table, const std::string &name) {
  addAtomic(table, name, execBufferAtomic<op, uint32_t>, ValueType::I32,
            ValueType::I32);
  addAtomic(table, name + "_x2", execBufferAtomic<op, uint64_t>, ValueType::I64,
            ValueType::I64);
}

OpcodeTable buildBufferTable() {
  OpcodeTable table;
  addLoad<Format::U8>(table, "ubyte");
  addLoad<Format::I8>(table, "sbyte");
  addLoad<Format::U16>(table, "ushort");
  addLoad<Format::I16>(table, "sshort");
  addLoad<Format::B32>(table, "dword");
  addLoad<Format::B64>(table, "dwordx2");
  addLoad<Format::B96>(table, "dwordx3");
  addLoad<Format::B128>(table, "dwordx4");
  addLoad<Format::U8D16>(table, "ubyte_d16");
  addLoad<Format::U8D16Hi>(table, "ubyte_d16_hi");
  addLoad<Format::I8D16>(table, "sbyte_d16");
  addLoad<Format::I8D16Hi>(table, "sbyte_d16_hi");
  addLoad<Format::B16D16>(table, "short_d16");
  addLoad<Format::B16D16Hi>(table, "short_d16_hi");
  addStore<Format::U8>(table, "byte");
  addStore<Format::U8D16Hi>(table, "byte_d16_hi");
  addStore<Format::U16>(table, "short");
  addStore<Format::B16D16Hi>(table, "short_d16_hi");
  addStore<Format::B32>(table, "dword");
  addStore<Format::B64>(table, "dwordx2");
  addStore<Format::B96>(table, "dwordx3");
  addStore<Format::B128>(table, "dwordx4");
  addAtomicPair<AtomicOp::Swap>(table, "swap");
  addAtomicPair<AtomicOp::Add>(table, "add");
  addAtomicPair<AtomicOp::Sub>(table, "sub");
  addAtomicPair<AtomicOp::MinI>(table, "smin");
  addAtomicPair<AtomicOp::MinU>(table, "umin");
  addAtomicPair<AtomicOp::MaxI>(table, "smax");
  addAtomicPair<AtomicOp::MaxU>(table, "umax");
  addAtomicPair<AtomicOp::And>(table, "and");
  addAtomicPair<AtomicOp::Or>(table, "or");
  addAtomicPair<AtomicOp::Xor>(table, "xor");
  addAtomicPair<AtomicOp::Inc>(table, "inc");
  addAtomicPair<AtomicOp::Dec>(table, "dec");
  constexpr ValueType b32 = ValueType::I32, b64 = ValueType::I64;
  addAtomic(table, "add_f32", execBufferAtomic<AtomicOp::AddF, uint32_t>, b32,
            b32);
  addAtomic(table, "add_f64", execBufferAtomic<AtomicOp::AddF, uint64_t>, b64,
            b64);
  addAtomic(table, "min_f64", execBufferAtomic<AtomicOp::MinF, uint64_t>, b64,
            b64);
  addAtomic(table, "max_f64", execBufferAtomic<AtomicOp::MaxF, uint64_t>, b64,
            b64);
  addAtomic(table, "pk_add_f16",
            execBufferAtomic<AtomicOp::PackedAddHalf, uint32_t>, b32, b32);
  addAtomic(table, "pk_add_bf16",
            execBufferAtomic<AtomicOp::PackedAddBf16, uint32_t>, b32, b32);
  addAtomic(table, "cmpswap", execBufferCompareSwap<uint32_t>, b32, b64);
  addAtomic(table, "cmpswap_x2", execBufferCompareSwap<uint64_t>, b64,
            ValueType::B128);
  OpcodeInfo toLds;
  toLds.flags = opToLds;
  toLds.handler = execBufferLoadLds<1>;
  table.add("buffer_load_ubyte_lds", toLds);
  toLds.handler = execBufferLoadLds<1, true>;
  table.add("buffer_load_sbyte_lds", toLds);
  toLds.handler = execBufferLoadLds<2>;
  table.add("buffer_load_ushort_lds", toLds);
  toLds.handler = execBufferLoadLds<2, true>;
  table.add("buffer_load_sshort_lds", toLds);
  toLds.handler = execBufferLoadLds<4>;
  table.add("buffer_load_dword_lds", toLds);
  toLds.handler = execBufferLoadLds<12>;
  table.add("buffer_load_dwordx3_lds", toLds);
  toLds.handler = execBufferLoadLds<16>;
  table.add("buffer_load_dwordx4_lds", toLds);
  table.add("buffer_wbl2", {"", execCacheControl});
  table.add("buffer_inv", {"", execCacheControl});
  return table;
}

} // namespace

llvm::ArrayRef<OpcodeInfo> bufferMemoryTable() {
  static const OpcodeTable table = buildBufferTable();
  return table.all();
}

} // namespace tenon::sim
