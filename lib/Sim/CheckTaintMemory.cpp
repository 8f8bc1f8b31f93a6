//===- CheckTaintMemory.cpp - undefined data in memory ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckTaint.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon::sim {

void TaintState::load(const CheckRecord &record, unsigned row, unsigned lane,
                      const uint8_t *undefined) {
  for (unsigned at = 0; at < record.bytes; at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, undefined + at,
                std::min<unsigned>(record.bytes - at, 4));
    if (record.bytes < 4) {
      unsigned bits = 8 * record.bytes;
      if (record.extendsSign && (word >> (bits - 1)) & 1) {
        word |= ~0u << bits;
      }
      word = record.part == 0xFFFF0000 ? word << 16 : word & record.part;
    }
    unsigned to = row + at / 4;
    if (!word && !isUndefined(to)) {
      continue;
    }
    uint32_t &mask = masksOf(to)[lane];
    mask = (mask & ~record.part) | word;
    settle(to);
  }
}

void TaintState::stored(const CheckRecord &record, unsigned row, unsigned lane,
                        uint8_t *undefined) const {
  for (unsigned at = 0; at < record.bytes; at += 4) {
    uint32_t word = bits(row + at / 4)[lane];
    word = record.part >= 0xFF0000 && record.bytes < 4 ? word >> 16 : word;
    std::memcpy(undefined + at, &word,
                std::min<unsigned>(record.bytes - at, 4));
  }
}

/// Whether the bits of its data that an instruction stores are all defined;
/// otherwise the first lane in which they are not.
static int firstUndefined(const uint32_t *masks, uint32_t part,
                          uint64_t lanes) {
  for (uint64_t rest = lanes; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    if (masks[lane] & part) {
      return int(lane);
    }
  }
  return -1;
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
    // What goes to the private segment is followed there: spilling a register
    // that is undefined is no use of it.
    if (isData && (record.is(checkScratch) || record.is(checkFlat))) {
      continue;
    }
    for (unsigned i = 0; i < use.count; ++i) {
      if (!isUndefined(use.first + i)) {
        continue;
      }
      int lane =
          firstUndefined(bits(use.first + i), isData ? record.part : ~0u, exec);
      if (lane >= 0) {
        fault = {isData ? "undefined data are stored"
                        : "the address depends on undefined data",
                 lane};
      }
    }
  }
  if (record.is(checkScratch)) {
    stepScratch(wave, record, instr);
  } else if (!record.is(checkToLds)) {
    for (const RegisterRange &def : record.definitions()) {
      for (unsigned i = 0; i < def.count; ++i) {
        if (record.part == ~0u) {
          defineRow(def.first + i, exec);
        } else if (isUndefined(def.first + i)) {
          Row kept;
          const uint32_t *old = bits(def.first + i);
          for (unsigned lane = 0; lane < waveSize; ++lane) {
            kept.lane[lane] = old[lane] & ~record.part;
          }
          setRow(def.first + i, kept, exec);
        }
      }
    }
  }
  return fault;
}

/// Loads and stores of the private segment.
void TaintState::stepScratch(const Wave &wave, const CheckRecord &record,
                             const Instr &instr) {
  uint64_t exec = wave.exec();
  unsigned dwords = record.bytes / 4u;
  int64_t uniform = scratchAddress(wave, instr, 0);
  if (!instr.addrUsed && exec == allLanes && dwords && uniform >= 0 &&
      uniform % 4 == 0 && uniform + record.bytes <= scratchSize) {
    // The dwords of all lanes lie side by side.
    for (unsigned d = 0; d < dwords; ++d) {
      uint32_t *at = scratch.data() + (uniform / 4 + d) * waveSize;
      if (record.is(checkStore)) {
        std::memcpy(at, bits(instr.data + d), sizeof(Row));
        continue;
      }
      std::memcpy(masksOf(instr.dst + d), at, sizeof(Row));
      settle(instr.dst + d);
    }
    return;
  }
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    uint64_t address = uint64_t(scratchAddress(wave, instr, lane));
    uint8_t undefined[16] = {};
    if (record.is(checkStore)) {
      stored(record, instr.data, lane, undefined);
    }
    for (unsigned i = 0; i < record.bytes; ++i) {
      if (uint8_t *byte = scratchByte(lane, address + i)) {
        std::swap(*byte, undefined[i]);
        *byte = record.is(checkStore) ? *byte : undefined[i];
      }
    }
    if (record.is(checkLoad)) {
      load(record, instr.dst, lane, undefined);
    }
  }
}

TaintFault TaintState::stepSmem(const CheckRecord &record) {
  TaintFault fault;
  for (const RegisterRange &use : record.operands()) {
    if (!use.isScalar || !scalarTaint(use)) {
      continue;
    }
    bool isData = record.is(checkStore) && use.operand == 0;
    fault = {isData ? "undefined data are stored"
                    : "the address depends on undefined data"};
  }
  define(record, allLanes);
  return fault;
}

void TaintState::readLds(const Wave &wave, const CheckRecord &record,
                         const Instr &instr,
                         const std::vector<uint8_t> &undefined) {
  uint64_t exec = wave.exec();
  const uint32_t *address = wave.v[instr.addr];
  unsigned bytes = record.bytes, dwords = (bytes + 3u) / 4;
  unsigned parts = record.is(checkTwoAddress) ? 2 : 1;
  // Mostly everything is defined, and lies side by side.
  bool isDefined = exec == allLanes && record.part == ~0u;
  for (unsigned part = 0; part < parts && isDefined; ++part) {
    uint32_t offset = uint32_t(part ? instr.imm1 : instr.imm);
    isDefined = isOneLdsBlock(*wave.workgroup, address, offset, bytes);
    if (isDefined) {
      const uint8_t *from = undefined.data() + address[0] + offset;
      uint8_t any = 0;
      for (unsigned i = 0; i < bytes * waveSize; ++i) {
        any |= from[i];
      }
      isDefined = !any;
    }
  }
  if (isDefined) {
    for (unsigned d = 0; d < parts * dwords; ++d) {
      defineRow(instr.dst + d, allLanes);
    }
    return;
  }
  Row addresses; // the register may be one of the destinations
  std::memcpy(addresses.lane, address, sizeof(Row));
  for (uint64_t rest = exec; rest; rest &= rest - 1) {
    unsigned lane = unsigned(std::countr_zero(rest));
    for (unsigned part = 0; part < parts; ++part) {
      uint64_t at =
          addresses.lane[lane] + uint32_t(part ? instr.imm1 : instr.imm);
      uint8_t masks[16] = {};
      for (unsigned i = 0; i < bytes && at + i < undefined.size(); ++i) {
        masks[i] = undefined[at + i];
      }
      load(record, instr.dst + part * dwords, lane, masks);
    }
  }
}

/// The bits that 16 lanes read are a matrix of 16 columns; each lane receives
/// one.
void TaintState::readTransposed(const Wave &wave, const CheckRecord &record,
                                const Instr &instr,
                                const std::vector<uint8_t> &undefined) {
  unsigned bytes = record.bytes, size = record.elementBits;
  uint8_t source[waveSize][16] = {};
  uint8_t any = 0;
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    uint64_t at = wave.v[instr.addr][lane] + uint32_t(instr.imm);
    for (unsigned i = 0; i < bytes && at + i < undefined.size(); ++i) {
      source[lane][i] = undefined[at + i];
      any |= source[lane][i];
    }
  }
  Row result[4] = {};
  for (unsigned lane = 0; lane < waveSize && any; ++lane) {
    for (unsigned bit = 0; bit < 8 * bytes; ++bit) {
      unsigned from = (16 * (bit / size) + lane % 16) * size + bit % size;
      unsigned lender = (lane & ~15u) + from / (8 * bytes);
      unsigned at = from % (8 * bytes);
      uint32_t isSet = (source[lender][at / 8] >> (at % 8)) & 1;
      result[bit / 32].lane[lane] |= isSet << (bit % 32);
    }
  }
  for (unsigned d = 0; d < bytes / 4; ++d) {
    if (any) {
      setRow(instr.dst + d, result[d], allLanes);
    } else {
      defineRow(instr.dst + d, allLanes);
    }
  }
}

void TaintState::writeLds(const Wave &wave, const CheckRecord &record,
                          const Instr &instr,
                          std::vector<uint8_t> &undefined) const {
  uint64_t exec = wave.exec();
  unsigned parts = record.is(checkTwoAddress) ? 2 : 1;
  unsigned dwords = (record.bytes + 3u) / 4;
  const uint32_t *address = wave.v[instr.addr];
  for (unsigned part = 0; part < parts; ++part) {
    unsigned data = part ? instr.data1 : instr.data;
    uint32_t offset = uint32_t(part ? instr.imm1 : instr.imm);
    bool isDefined = true;
    for (unsigned d = 0; d < dwords && data != noRow; ++d) {
      isDefined &= !isUndefined(data + d);
    }
    if (isDefined && exec == allLanes && !record.is(checkAtomic) &&
        isOneLdsBlock(*wave.workgroup, address, offset, record.bytes)) {
      std::memset(undefined.data() + address[0] + offset, 0,
                  record.bytes * waveSize);
      continue;
    }
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
      unsigned lane = unsigned(std::countr_zero(rest));
      uint64_t at = address[lane] + offset;
      uint8_t masks[16] = {};
      if (!isDefined) {
        stored(record, data, lane, masks);
      }
      for (unsigned i = 0; i < record.bytes && at + i < undefined.size(); ++i) {
        // An atomic leaves what was undefined as it was.
        uint8_t kept = record.is(checkAtomic) ? undefined[at + i] : 0;
        undefined[at + i] = masks[i] | kept;
      }
    }
  }
}

/// The lane that a lane reads in ds_swizzle.
static unsigned swizzleSource(unsigned lane, unsigned pattern) {
  unsigned half = lane & 32, within = lane & 31;
  if (pattern >= 0xE000) { // FFT
    unsigned mask = pattern & 31, reversed = 0;
    for (unsigned bit = 0; bit < 5; ++bit) {
      reversed |= ((within >> bit) & 1) << (4 - bit);
    }
    return half | reversed >> std::popcount(mask) | (within & mask);
  }
  if (pattern >= 0xC000) { // rotation
    unsigned mask = pattern & 31, by = (pattern >> 5) & 31;
    unsigned from = (pattern >> 10) & 1 ? within - by : within + by;
    return half | (within & mask) | (from & ~mask & 31);
  }
  if (pattern & 0x8000) { // within quads
    return (lane & ~3u) | ((pattern >> (2 * (lane & 3))) & 3);
  }
  return half | ((((within & pattern) | pattern >> 5) ^ pattern >> 10) & 31);
}

/// ds_permute, ds_bpermute and ds_swizzle, which touch no memory.
void TaintState::stepPermute(const Wave &wave, const CheckRecord &record,
                             const Instr &instr) {
  uint64_t exec = wave.exec();
  Row result = {};
  const uint32_t *to = wave.v[instr.addr];
  if (record.taintRule == TaintRule::LdsBackwardPermute) {
    const uint32_t *from = bits(instr.data);
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      unsigned source = (to[lane] + uint32_t(instr.imm)) / 4 & 63;
      result.lane[lane] = (exec >> source) & 1 ? from[source] : 0;
    }
  } else if (record.taintRule == TaintRule::LdsPermute) {
    const uint32_t *from = bits(instr.data);
    for (uint64_t rest = exec; rest; rest &= rest - 1) {
      unsigned lane = unsigned(std::countr_zero(rest));
      result.lane[(to[lane] + uint32_t(instr.imm)) / 4 & 63] = from[lane];
    }
  } else if (record.taintRule == TaintRule::LdsSwizzle) {
    const uint32_t *from = bits(instr.addr);
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      unsigned source = swizzleSource(lane, uint32_t(instr.imm));
      result.lane[lane] = (exec >> source) & 1 ? from[source] : 0;
    }
  } else {
    return define(record, exec);
  }
  setRow(instr.dst, result, exec);
}

TaintFault TaintState::stepLds(const Wave &wave, const CheckRecord &record,
                               const Instr &instr,
                               std::vector<uint8_t> &undefined) {
  uint64_t exec = wave.exec();
  if (instr.addr == noRow) { // counters, and addresses by lane number
    define(record, exec);
    return {};
  }
  bool isSwizzle = record.taintRule == TaintRule::LdsSwizzle;
  if (uint64_t taint = isSwizzle ? 0 : lanesUndefined(instr.addr) & exec) {
    define(record, exec);
    return {"the address depends on undefined data", std::countr_zero(taint)};
  }
  if (!record.bytes) {
    if (touchesUndefined(record)) {
      stepPermute(wave, record, instr);
    }
    return {};
  }
  if (record.is(checkTransposed)) {
    readTransposed(wave, record, instr, undefined);
    return {};
  }
  if (record.is(checkAtomic) && record.is(checkLoad)) {
    // The old value is read first, unless that would overwrite the data.
    unsigned dwords = record.bytes / 4u;
    bool overlaps = instr.data != noRow && instr.dst < instr.data + dwords &&
                    instr.data < instr.dst + dwords;
    if (!overlaps) {
      readLds(wave, record, instr, undefined);
    }
    writeLds(wave, record, instr, undefined);
    if (overlaps) {
      readLds(wave, record, instr, undefined);
    }
    return {};
  }
  if (record.is(checkStore)) {
    writeLds(wave, record, instr, undefined);
  } else if (record.is(checkLoad)) {
    readLds(wave, record, instr, undefined);
  }
  return {};
}

} // namespace tenon::sim
