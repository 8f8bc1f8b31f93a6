//===- CheckTaintVector.cpp - undefined data in vector ALU ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CheckTaint.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tenon::sim {

/// What the sources of a vector instruction have undefined, after DPP, SDWA and
/// the choice of halves.
struct TaintState::Sources {
  Row undefined[3] = {}; ///< of the first register of each
  Row upper[3] = {};     ///< of the second
  Row value[3] = {};
  /// Lanes in which any register of any source is undefined, as all ones.
  Row any = {};
  uint64_t mask = 0; ///< undefined bits of a mask of lanes
  uint64_t written = 0;
};

namespace {

/// A word of which some bits are undefined.
struct Bits {
  uint32_t value, undefined;
};

Bits bitAnd(Bits a, Bits b) {
  uint32_t zeros = (~a.value & ~a.undefined) | (~b.value & ~b.undefined);
  return {a.value & b.value, (a.undefined | b.undefined) & ~zeros};
}
Bits bitNot(Bits a) { return {~a.value, a.undefined}; }
Bits bitOr(Bits a, Bits b) { return bitNot(bitAnd(bitNot(a), bitNot(b))); }

/// All bits from the lowest undefined one on.
uint32_t upwards(uint32_t undefined) { return undefined | -undefined; }

Bits sum(Bits a, Bits b) {
  return {a.value + b.value, upwards(a.undefined | b.undefined)};
}

/// All ones when the five bits that say how far are undefined.
uint32_t spoilt(Bits amount) { return amount.undefined & 31 ? ~0u : 0; }

Bits shiftLeft(Bits a, Bits by) {
  unsigned n = by.value & 31;
  return {a.value << n, (a.undefined << n) | spoilt(by)};
}
Bits shiftRight(Bits a, Bits by) {
  unsigned n = by.value & 31;
  return {a.value >> n, (a.undefined >> n) | spoilt(by)};
}
Bits shiftRightSigned(Bits a, Bits by) {
  unsigned n = by.value & 31;
  return {uint32_t(int32_t(a.value) >> n),
          uint32_t(int32_t(a.undefined) >> n) | spoilt(by)};
}

Bits extract(Bits a, Bits offset, Bits width, bool isSigned) {
  unsigned bits = width.value & 31;
  uint32_t field = (1u << bits) - 1;
  Bits part = shiftRight(a, offset);
  part.undefined = (part.undefined & field) | spoilt(width) | spoilt(offset);
  if (isSigned && bits && (part.undefined >> (bits - 1)) & 1) {
    part.undefined |= ~field;
  }
  return part;
}

/// A part of 64 bits: `high` above `low`, from bit `from` on.
uint32_t window(uint32_t high, uint32_t low, unsigned from) {
  return uint32_t((uint64_t(high) << 32 | low) >> from);
}

/// v_perm: each byte of the selector picks one of eight bytes, a sign or a
/// constant.
uint32_t permuted(Bits a, Bits b, Bits selector) {
  uint64_t undefined = uint64_t(a.undefined) << 32 | b.undefined;
  uint32_t result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    unsigned select = (selector.value >> (8 * i)) & 0xFF;
    uint32_t byte = 0;
    if ((selector.undefined >> (8 * i)) & 0xFF) {
      byte = 0xFF;
    } else if (select < 8) {
      byte = uint32_t(undefined >> (8 * select)) & 0xFF;
    } else if (select < 12) { // the sign of an odd byte
      byte = (undefined >> (16 * (select - 8) + 15)) & 1 ? 0xFF : 0;
    }
    result |= byte << (8 * i);
  }
  return result;
}

/// Byte or word `select` of undefined bits, extended to 32.
uint32_t selected(uint32_t undefined, unsigned select, bool isSigned) {
  unsigned bits = select < 4 ? 8 : select < 6 ? 16 : 32;
  unsigned low = select < 4 ? 8 * select : select < 6 ? 16 * (select - 4) : 0;
  uint32_t atTop = undefined >> low << (32 - bits);
  return isSigned ? uint32_t(int32_t(atTop) >> (32 - bits))
                  : atTop >> (32 - bits);
}

uint32_t allOrNone(uint32_t undefined) { return undefined ? ~0u : 0; }

} // namespace

/// The lane that a lane reads under a DPP control, or -1 for none.
static int dppSource(unsigned control, int lane) {
  int inRow = lane & 15, row = lane & ~15;
  int n = int(control & 15);
  if (control < 0x100) {
    return (lane & ~3) | int((control >> (2 * (lane & 3))) & 3);
  }
  switch (control >> 4) {
  case 0x10: // row_shl
    return inRow + n < 16 ? lane + n : -1;
  case 0x11: // row_shr
    return inRow >= n ? lane - n : -1;
  case 0x12: // row_ror
    return row | ((inRow - n) & 15);
  case 0x15: // row_newbcast
    return row | n;
  default:
    break;
  }
  switch (control) {
  case 0x130: // wave_shl
    return lane < 63 ? lane + 1 : -1;
  case 0x134: // wave_rol
    return (lane + 1) & 63;
  case 0x138: // wave_shr
    return lane - 1;
  case 0x13C: // wave_ror
    return (lane - 1) & 63;
  case 0x140: // row_mirror
    return row | (15 - inRow);
  case 0x141: // row_half_mirror
    return (lane & ~7) | (7 - (lane & 7));
  case 0x142: // row_bcast:15
    return lane >= 16 ? row - 1 : -1;
  case 0x143: // row_bcast:31
    return lane >= 32 ? 31 : -1;
  default:
    return lane;
  }
}

/// Lanes that DPP writes, and the lane that each reads.
static uint64_t dppLanes(const Instr &instr, uint64_t exec, int *from) {
  unsigned control = (instr.modifiers >> 8) & 0x1FF;
  bool zeros = (instr.modifiers >> 19) & 1;
  uint64_t written = 0;
  for (int lane = 0; lane < int(waveSize); ++lane) {
    from[lane] = dppSource(control, lane);
    bool valid = from[lane] >= 0 && (exec >> from[lane]) & 1;
    from[lane] = valid ? from[lane] : -1;
    bool isOn = ((instr.modifiers >> (28 + lane / 16)) & 1) &&
                ((instr.modifiers >> (24 + lane / 4 % 4)) & 1);
    written |= uint64_t(isOn && (valid || zeros)) << lane;
  }
  return written;
}

void TaintState::fetch(const Wave &wave, const CheckRecord &record,
                       const Instr &instr, Sources &sources) const {
  sources.written = wave.exec();
  Row rest = {}; // of what is no source by position
  for (const RegisterRange &use : record.operands()) {
    unsigned k = unsigned(use.operand) - record.firstSource;
    bool isMask = use.isScalar && use.count == 2 &&
                  (record.taintRule == TaintRule::CarryIn ||
                   record.taintRule == TaintRule::SelectByMask);
    if (isMask) {
      sources.mask |= pairTaint(use.first);
      continue;
    }
    for (unsigned r = 0; r < use.count; ++r) {
      Row &to = k > 2 ? rest : r ? sources.upper[k] : sources.undefined[k];
      if (use.isScalar) {
        for (uint32_t &lane : to.lane) {
          lane |= scalars[use.first + r];
        }
        continue;
      }
      const uint32_t *from = bits(use.first + r);
      for (unsigned i = 0; i < waveSize; ++i) {
        to.lane[i] |= from[i];
      }
    }
  }
  for (unsigned k = 0; k < 3; ++k) {
    const Operand &operand = instr.src[k];
    if (operand.kind == OperandKind::Vgpr) {
      std::memcpy(sources.value[k].lane, wave.v[operand.reg], sizeof(Row));
    } else {
      std::fill_n(sources.value[k].lane, waveSize, wave.readScalar(operand));
    }
  }
  if (record.is(checkDpp)) {
    int from[waveSize];
    sources.written &= dppLanes(instr, wave.exec(), from);
    for (Row *row :
         {&sources.undefined[0], &sources.upper[0], &sources.value[0]}) {
      Row old = *row;
      for (unsigned i = 0; i < waveSize; ++i) {
        row->lane[i] = from[i] < 0 ? 0 : old.lane[from[i]];
      }
    }
  }
  for (unsigned k = 0; k < 2 && record.is(checkSdwa); ++k) {
    unsigned fields = instr.modifiers >> (16 + 8 * k);
    for (Row *row : {&sources.undefined[k], &sources.value[k]}) {
      for (uint32_t &lane : row->lane) {
        lane = selected(lane, fields & 7, (fields >> 3) & 1);
      }
    }
  }
  for (unsigned k = 0; k < 3; ++k) {
    bool isHalf = (record.halfSources >> k) & 1;
    unsigned shift = 0;
    uint32_t part = k == 0 && !record.is(checkSdwa) ? record.part : ~0u;
    if (record.taintRule == TaintRule::MixedHalves) {
      isHalf = (instr.opSelHi >> k) & 1;
    }
    if (isHalf && !record.is(checkSdwa)) {
      shift = (instr.opSel >> k) & 1 ? 16 : 0;
    }
    for (unsigned i = 0; i < waveSize; ++i) {
      uint32_t &lane = sources.undefined[k].lane[i];
      lane = (lane >> shift) & (isHalf ? 0xFFFF : ~0u) & part;
      sources.any.lane[i] |= lane | sources.upper[k].lane[i];
    }
  }
  for (unsigned i = 0; i < waveSize; ++i) {
    uint32_t mask = (sources.mask >> i) & 1;
    sources.any.lane[i] = allOrNone(sources.any.lane[i] | rest.lane[i] | mask);
  }
}

/// Instructions that move data between lanes; false for all others.
bool TaintState::stepCrossLane(const Wave &wave, const CheckRecord &record,
                               const Instr &instr) {
  uint64_t exec = wave.exec();
  auto ofLane = [&](unsigned lane) -> uint32_t {
    if (!record.useCount || record.uses[0].isScalar) {
      return record.useCount ? scalars[record.uses[0].first] : 0;
    }
    return bits(record.uses[0].first)[lane];
  };
  switch (record.taintRule) {
  case TaintRule::ReadFirstLane:
    setScalar(record.defs[0].first,
              ofLane(exec ? unsigned(std::countr_zero(exec)) : 0));
    return true;
  case TaintRule::ReadLane:
    setScalar(record.defs[0].first, ofLane(wave.readScalar(instr.src[1]) & 63));
    return true;
  case TaintRule::WriteLane: {
    unsigned lane = wave.readScalar(instr.src[1]) & 63;
    unsigned row = record.defs[0].first;
    uint32_t undefined =
        instr.src[0].kind == OperandKind::Sgpr ? scalars[instr.src[0].reg] : 0;
    masksOf(row)[lane] = undefined;
    settle(row);
    return true;
  }
  case TaintRule::Swap:
  case TaintRule::SwapHalves:
  case TaintRule::SwapRows: {
    unsigned first = record.defs[0].first, second = record.defs[1].first;
    if (first == second) {
      return true;
    }
    uint32_t *a = masksOf(first), *b = masksOf(second);
    unsigned size = record.taintRule == TaintRule::SwapRows     ? 16
                    : record.taintRule == TaintRule::SwapHalves ? 32
                                                                : 0;
    for (unsigned i = 0; i < waveSize; ++i) {
      if (!size && (exec >> i) & 1) {
        std::swap(a[i], b[i]);
      } else if (size && i / size % 2) {
        std::swap(a[i], b[i - size]);
      }
    }
    settle(first);
    settle(second);
    return true;
  }
  default:
    return false;
  }
}

/// Two results, each from one register of every source.
void TaintState::stepPacked(const Wave &wave, const CheckRecord &record,
                            const Instr &instr) {
  bool isMove = record.taintRule == TaintRule::PackedMove;
  Row result[2] = {};
  for (unsigned half = 0; half < 2; ++half) {
    for (unsigned k = 0; k < 3; ++k) {
      const Operand &source = instr.src[k];
      if (isMove && k != half) {
        continue;
      }
      unsigned high =
          ((half && !isMove ? instr.opSelHi : instr.opSel) >> k) & 1;
      for (unsigned i = 0; i < waveSize; ++i) {
        uint32_t undefined = source.kind == OperandKind::Vgpr
                                 ? bits(source.reg + high)[i]
                             : source.kind == OperandKind::Sgpr
                                 ? scalars[(source.reg + high) % sgprCount]
                                 : 0;
        result[half].lane[i] |= isMove ? undefined : allOrNone(undefined);
      }
    }
  }
  for (unsigned half = 0; half < 2; ++half) {
    setRow(record.defs[0].first + half, result[half], wave.exec());
  }
}

TaintFault TaintState::stepValu(const Wave &wave, const CheckRecord &record,
                                const Instr &instr) {
  if (stepCrossLane(wave, record, instr)) {
    return {};
  }
  if (record.taintRule == TaintRule::Packed32 ||
      record.taintRule == TaintRule::PackedMove) {
    stepPacked(wave, record, instr);
    return {};
  }
  Sources in;
  fetch(wave, record, instr, in);
  // The destination as a row, a second row, and the bits of it that are
  // written.
  Row result, second = in.any;
  uint32_t field = ~0u;
  unsigned place = 0;
  auto each = [&](auto function) {
    for (unsigned i = 0; i < waveSize; ++i) {
      Bits a = {in.value[0].lane[i], in.undefined[0].lane[i]};
      Bits b = {in.value[1].lane[i], in.undefined[1].lane[i]};
      Bits c = {in.value[2].lane[i], in.undefined[2].lane[i]};
      result.lane[i] = function(a, b, c);
    }
  };
  auto half = [](uint32_t word, bool high) {
    return (high ? word >> 16 : word) & 0xFFFF;
  };
  TaintRule rule = record.taintRule;
  if (rule == TaintRule::Sum && instr.clamp) {
    rule = TaintRule::All; // saturation looks at everything
  }
  switch (rule) {
  case TaintRule::Bitwise:
    each([](Bits a, Bits b, Bits c) {
      return a.undefined | b.undefined | c.undefined;
    });
    second = in.upper[0];
    break;
  case TaintRule::BitwiseAnd:
    each([](Bits a, Bits b, Bits) { return bitAnd(a, b).undefined; });
    break;
  case TaintRule::BitwiseOr:
    each([](Bits a, Bits b, Bits) { return bitOr(a, b).undefined; });
    break;
  case TaintRule::AndOr:
    each([](Bits a, Bits b, Bits c) {
      return bitOr(bitAnd(a, b), c).undefined;
    });
    break;
  case TaintRule::Or3:
    each(
        [](Bits a, Bits b, Bits c) { return bitOr(bitOr(a, b), c).undefined; });
    break;
  case TaintRule::BitSelect:
    each([](Bits a, Bits b, Bits c) {
      return bitOr(bitAnd(a, b), bitAnd(bitNot(a), c)).undefined;
    });
    break;
  case TaintRule::ShiftLeft:
    each([](Bits a, Bits b, Bits) { return shiftLeft(b, a).undefined; });
    break;
  case TaintRule::ShiftRight:
    each([](Bits a, Bits b, Bits) { return shiftRight(b, a).undefined; });
    break;
  case TaintRule::ShiftRightSigned:
    each([](Bits a, Bits b, Bits) { return shiftRightSigned(b, a).undefined; });
    break;
  case TaintRule::ShiftLeftOr:
    each([](Bits a, Bits b, Bits c) {
      return bitOr(shiftLeft(a, b), c).undefined;
    });
    break;
  case TaintRule::ShiftLeftAdd:
    each([](Bits a, Bits b, Bits c) {
      return sum(shiftLeft(a, b), c).undefined;
    });
    break;
  case TaintRule::AddShiftLeft:
    each([](Bits a, Bits b, Bits c) {
      return shiftLeft(sum(a, b), c).undefined;
    });
    break;
  case TaintRule::Sum:
    each([](Bits a, Bits b, Bits c) {
      return upwards(a.undefined | b.undefined | c.undefined);
    });
    break;
  case TaintRule::Product24:
    each([](Bits a, Bits b, Bits c) {
      return upwards(((a.undefined | b.undefined) & 0xFFFFFF) | c.undefined);
    });
    break;
  case TaintRule::Extract:
  case TaintRule::ExtractSigned:
    each([&](Bits a, Bits b, Bits c) {
      return extract(a, b, c, rule == TaintRule::ExtractSigned).undefined;
    });
    break;
  case TaintRule::Align:
  case TaintRule::AlignByte:
    each([&](Bits a, Bits b, Bits c) {
      unsigned from =
          rule == TaintRule::Align ? c.value & 31 : 8 * (c.value & 3);
      return window(a.undefined, b.undefined, from) | spoilt(c);
    });
    break;
  case TaintRule::PermuteBytes:
    each([](Bits a, Bits b, Bits c) { return permuted(a, b, c); });
    break;
  case TaintRule::PackPair:
    each([&](Bits a, Bits b, Bits) {
      return half(allOrNone(a.undefined), false) |
             (b.undefined ? 0xFFFF0000 : 0);
    });
    break;
  case TaintRule::PackedHalves:
    each([&](Bits a, Bits b, Bits c) {
      uint32_t low = 0, high = 0;
      const uint32_t words[] = {a.undefined, b.undefined, c.undefined};
      for (unsigned k = 0; k < 3; ++k) {
        low |= half(words[k], (instr.opSel >> k) & 1);
        high |= half(words[k], (instr.opSelHi >> k) & 1);
      }
      return (low ? 0xFFFFu : 0) | (high ? 0xFFFF0000u : 0);
    });
    break;
  case TaintRule::NarrowPair:
    each([&](Bits a, Bits b, Bits c) {
      // Without scale the third source is nothing; halves are in the first.
      uint32_t low = a.undefined, high = b.undefined, scale = c.undefined;
      if (record.wideIsHalf) {
        low = half(a.undefined, false);
        high = half(a.undefined, true);
        scale = b.undefined;
      }
      uint32_t element = (1u << record.elementBits) - 1;
      return (low | scale ? element : 0) |
             (high | scale ? element << record.elementBits : 0);
    });
    [[fallthrough]];
  case TaintRule::Narrow: {
    if (rule == TaintRule::Narrow) {
      result = in.any;
    }
    unsigned bits = record.elementBits * record.elements;
    field = (1u << bits) - 1;
    place =
        bits == 16 ? (instr.opSel & 8 ? 16 : 0) : 8 * ((instr.opSel >> 2) & 3);
    break;
  }
  case TaintRule::Widen: {
    unsigned bits = record.elementBits, count = record.elements;
    unsigned first =
        bits * count == 16 ? 16 * (instr.opSel & 1) : 8 * (instr.opSel & 3);
    auto element = [&](unsigned i, unsigned lane) {
      uint32_t code = in.undefined[0].lane[lane] >> (first + i * bits);
      return allOrNone((code & ((1u << bits) - 1)) |
                       in.undefined[1].lane[lane]);
    };
    for (unsigned i = 0; i < waveSize; ++i) {
      second.lane[i] = element(1, i);
      result.lane[i] = element(0, i);
      if (record.wideIsHalf && count == 2) {
        result.lane[i] =
            half(result.lane[i], false) | (second.lane[i] & 0xFFFF0000);
      }
    }
    if (record.wideIsHalf && count == 1) {
      field = 0xFFFF;
      place = instr.opSel & 8 ? 16 : 0;
    }
    break;
  }
  case TaintRule::WideSum:
    for (unsigned i = 0; i < waveSize; ++i) {
      result.lane[i] =
          allOrNone(in.undefined[0].lane[i] | in.undefined[1].lane[i] |
                    in.undefined[2].lane[i]);
    }
    break;
  case TaintRule::SelectByMask: {
    // Only the source that is chosen counts.
    const Operand &mask = instr.src[2];
    uint64_t chosen =
        mask.kind == OperandKind::Sgpr ? wave.pair(mask.reg) : mask.value;
    for (unsigned i = 0; i < waveSize; ++i) {
      uint32_t which =
          (chosen >> i) & 1 ? in.undefined[1].lane[i] : in.undefined[0].lane[i];
      result.lane[i] = (in.mask >> i) & 1 ? ~0u : which;
    }
    break;
  }
  default:
    result = in.any;
    break;
  }

  bool keepsOther = field != ~0u;
  if (record.halfResult) {
    // The other half becomes zero unless it is kept.
    bool isHigh = instr.opSel & 8 || record.highResult;
    keepsOther = isHigh || record.keepsOther;
    field = 0xFFFF;
    place = isHigh ? 16 : 0;
  }
  if (record.is(checkSdwa) && record.defCount && !record.defs[0].isScalar &&
      record.defs[0].count == 1) {
    unsigned select = (instr.modifiers >> 8) & 7;
    unsigned unused = (instr.modifiers >> 11) & 3;
    unsigned width = select < 4 ? 8 : select < 6 ? 16 : 32;
    place = select < 4 ? 8 * select : select < 6 ? 16 * (select - 4) : 0;
    field = width == 32 ? ~0u : (1u << width) - 1;
    keepsOther = unused == 2;
    if (unused == 1) { // sign extension
      for (uint32_t &lane : result.lane) {
        lane |= (lane >> (width - 1)) & 1 ? ~0u << (width - 1) : 0;
      }
      field = ~0u;
    }
  }
  for (const RegisterRange &def : record.definitions()) {
    if (def.isScalar) {
      // A mask: lanes that are off give zeros.
      uint64_t lanes = 0;
      for (unsigned i = 0; i < waveSize; ++i) {
        lanes |= uint64_t(in.any.lane[i] & 1) << i;
      }
      lanes &= in.written;
      if (def.count == 2) {
        setPair(def.first, lanes);
      } else {
        setScalar(def.first, lanes ? ~0u : 0);
      }
      continue;
    }
    Row first;
    const uint32_t *old = bits(def.first);
    for (unsigned i = 0; i < waveSize; ++i) {
      uint32_t kept = keepsOther ? old[i] & ~(field << place) : 0;
      first.lane[i] = (result.lane[i] & field) << place | kept;
    }
    setRow(def.first, first, in.written);
    for (unsigned r = 1; r < def.count; ++r) {
      setRow(def.first + r, r == 1 ? second : in.any, in.written);
    }
  }
  return checkExec();
}

} // namespace tenon::sim
