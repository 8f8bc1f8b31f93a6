//===- ExecInteger.cpp - 32-bit integer and bit operations ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lanes.h"

#include <algorithm>
#include <limits>

namespace tenon::sim {

using u32 = uint32_t;
using i32 = int32_t;

// What a lane computes must be inlined, or the loop over lanes stays scalar.
#pragma clang attribute push(__attribute__((always_inline)),                   \
                             apply_to = function)

static i32 signed24(u32 value) { return i32(value << 8) >> 8; }
static u32 unsigned24(u32 value) { return value & 0xFFFFFF; }

static u32 bitFieldU(u32 value, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  return (value >> offset) & ((1u << width) - 1);
}

static i32 bitFieldI(u32 value, u32 offset, u32 width) {
  offset &= 31;
  width &= 31;
  // A field that reaches beyond bit 31 ends there, with the sign in bit 31.
  u32 low = value >> offset;
  u32 bits = std::min(width, 32 - offset);
  u32 sign = bits ? 1u << (bits - 1) : 0;
  u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
  return i32(((low & mask) ^ sign) - sign);
}

/// One byte of v_perm: the selector picks a byte of {a, b}, a sign or a
/// constant.
static u32 permuteByte(u32 a, u32 b, u32 selector) {
  u32 word = selector & 4 ? a : b;
  u32 picked = (word >> (8 * (selector & 3))) & 0xFF;
  // 8 ... 11: the signs of the four halves.
  u32 half = (selector & 2 ? a : b) >> (selector & 1 ? 31 : 15);
  u32 sign = half & 1 ? 0xFF : 0;
  u32 constant = selector == 12 ? 0 : 0xFF;
  return selector < 8 ? picked : (selector < 12 ? sign : constant);
}

static u32 permute(u32 a, u32 b, u32 selectors) {
  return permuteByte(a, b, selectors & 0xFF) |
         permuteByte(a, b, (selectors >> 8) & 0xFF) << 8 |
         permuteByte(a, b, (selectors >> 16) & 0xFF) << 16 |
         permuteByte(a, b, selectors >> 24) << 24;
}

static i32 clampI32(int64_t value) {
  return i32(std::clamp<int64_t>(value, INT32_MIN, INT32_MAX));
}

static u32 leadingZeros(u32 a) { return a ? u32(__builtin_clz(a)) : ~0u; }
static u32 trailingZeros(u32 a) { return a ? u32(__builtin_ctz(a)) : ~0u; }
/// Bits equal to the sign at the top, without the sign's own count: -1 when
/// all bits are equal.
static u32 leadingSigns(u32 a) {
  u32 changes = i32(a) < 0 ? ~a : a;
  return changes ? u32(__builtin_clz(changes)) : ~0u;
}

#pragma clang attribute pop

/// Any function of three bits: the truth table's index is a, b, c from the top.
static void execBitop3(Wave &wave, const Instr &instr) {
  Row temp[3][2], result;
  Source a = fetch<u32>(wave, instr, 0, temp[0]);
  Source b = fetch<u32>(wave, instr, 1, temp[1]);
  Source c = fetch<u32>(wave, instr, 2, temp[2]);
  // The table hides in omod (7:6), abs (5:3) and neg (2:0).
  u32 table = (instr.omod << 6) | ((instr.imm & 7) << 3) | (instr.imm >> 3);
  u32 terms[8];
  for (unsigned i = 0; i < 8; ++i) {
    terms[i] = (table >> i) & 1 ? ~0u : 0;
  }
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    u32 x = a.lo[i], y = b.lo[i], z = c.lo[i];
    result.lane[i] = (~x & ((~y & ((~z & terms[0]) | (z & terms[1]))) |
                            (y & ((~z & terms[2]) | (z & terms[3]))))) |
                     (x & ((~y & ((~z & terms[4]) | (z & terms[5]))) |
                           (y & ((~z & terms[6]) | (z & terms[7])))));
  }
  writeRow(wave, instr.dst, result);
}

/// Counts mask bits of the lanes below: lo looks at lanes 0-31, hi at 32-63.
template <bool high> static void execMbcnt(Wave &wave, const Instr &instr) {
  Row temp[2][2], result;
  Source mask = fetch<u32>(wave, instr, 0, temp[0]);
  Source sum = fetch<u32>(wave, instr, 1, temp[1]);
  for (unsigned i = 0; i < waveSize; ++i) {
    uint64_t below = (uint64_t(1) << i) - 1;
    u32 half = u32(high ? below >> 32 : below);
    result.lane[i] = sum.lo[i] + __builtin_popcount(mask.lo[i] & half);
  }
  writeRow(wave, instr.dst, result);
}

/// Additions with carries in lane masks.
template <auto function, bool carryIn, bool isSum>
static void execCarry(Wave &wave, const Instr &instr) {
  Row temp[2][2], result, carry, carryOut;
  Source a = fetch<u32>(wave, instr, 0, temp[0]);
  Source b = fetch<u32>(wave, instr, 1, temp[1]);
  if (carryIn) {
    Wave::expandMask(wave.readScalar64(instr.src[2]), carry.lane);
  } else {
    broadcast(carry, 0);
  }
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    uint64_t sum = function(a.lo[i], b.lo[i], carry.lane[i] & 1);
    result.lane[i] = u32(sum);
    carryOut.lane[i] = u32(sum >> 32);
  }
  if (instr.clamp) { // a sum stays at the top, a difference at zero
    uint32_t limit = isSum ? ~0u : 0;
    for (unsigned i = 0; i < waveSize; ++i) {
      result.lane[i] = carryOut.lane[i] ? limit : result.lane[i];
    }
  }
  uint64_t mask = maskOf(carryOut) & wave.exec();
  writeRow(wave, instr.dst, result);
  wave.setPair(instr.sdst, mask);
}

template <auto function, bool carryIn, bool isSum>
static constexpr OpcodeInfo carry(llvm::StringLiteral name) {
  return {name,
          execCarry<function, carryIn, isSum>,
          ValueType::I32,
          {ValueType::I32, ValueType::I32, ValueType::None},
          uint32_t(opCarryOut | (carryIn ? opCarryIn : opNone))};
}

static void execCndmask(Wave &wave, const Instr &instr) {
  Row temp[2][2], select, result;
  Source a = fetch<u32>(wave, instr, 0, temp[0]);
  Source b = fetch<u32>(wave, instr, 1, temp[1]);
  // Modifiers act on the bits alone; denormals pass.
  if (instr.src[0].mods) {
    applyModifiers(a.lo, temp[0][0], instr.src[0].mods, 0x80000000);
    a.lo = temp[0][0].lane;
  }
  if (instr.src[1].mods) {
    applyModifiers(b.lo, temp[1][0], instr.src[1].mods, 0x80000000);
    b.lo = temp[1][0].lane;
  }
  Wave::expandMask(wave.readScalar64(instr.src[2]), select.lane);
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    result.lane[i] = (b.lo[i] & select.lane[i]) | (a.lo[i] & ~select.lane[i]);
  }
  writeRow(wave, instr.dst, result);
}

/// 32 x 32 + 64 bits; the carry out of the 64 bits goes to the mask.
template <typename T> static void execMad64(Wave &wave, const Instr &instr) {
  using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  Row temp[3][2], lo, hi;
  Source a = fetch<T>(wave, instr, 0, temp[0]);
  Source b = fetch<T>(wave, instr, 1, temp[1]);
  Source c = fetch<Wide>(wave, instr, 2, temp[2]);
  uint64_t mask = 0;
  for (unsigned i = 0; i < waveSize; ++i) {
    Wide product = Wide(laneValue<T>(a, i)) * Wide(laneValue<T>(b, i));
    Wide sum;
    bool carried = __builtin_add_overflow(product, laneValue<Wide>(c, i), &sum);
    mask |= uint64_t(carried) << i;
    if (instr.clamp && carried) {
      sum = laneValue<Wide>(c, i) < 0 ? std::numeric_limits<Wide>::min()
                                      : std::numeric_limits<Wide>::max();
    }
    lo.lane[i] = u32(sum);
    hi.lane[i] = u32(uint64_t(sum) >> 32);
  }
  mask &= wave.exec();
  writeRow(wave, instr.dst, lo);
  writeRow(wave, instr.dst + 1, hi);
  wave.setPair(instr.sdst, mask);
}

static void execVectorNop(Wave &, const Instr &) {}

llvm::ArrayRef<OpcodeInfo> vectorIntegerTable() {
  static const OpcodeInfo table[] = {
      {"v_nop", execVectorNop},
      valu<[](u32 a) { return a; }>("v_mov_b32"),
      valu<[](u32 a) { return ~a; }>("v_not_b32"),
      valu<[](u32 a) { return __builtin_bitreverse32(a); }>("v_bfrev_b32"),
      valu<[](u32 a) { return leadingZeros(a); }>("v_ffbh_u32"),
      valu<[](u32 a) { return leadingSigns(a); }>("v_ffbh_i32"),
      valu<[](u32 a) { return trailingZeros(a); }>("v_ffbl_b32"),
      valu<[](u32 a, u32 b) { return a & b; }>("v_and_b32"),
      valu<[](u32 a, u32 b) { return a | b; }>("v_or_b32"),
      valu<[](u32 a, u32 b) { return a ^ b; }>("v_xor_b32"),
      valu<[](u32 a, u32 b) { return ~(a ^ b); }>("v_xnor_b32"),
      valu<[](u32 a, u32 b) { return b >> (a & 31); }>("v_lshrrev_b32"),
      valu<[](u32 a, i32 b) { return b >> (a & 31); }>("v_ashrrev_i32"),
      valu<[](u32 a, u32 b) { return b << (a & 31); }>("v_lshlrev_b32"),
      valu<[](u32 a, u32 b) { return std::min(a, b); }>("v_min_u32"),
      valu<[](u32 a, u32 b) { return std::max(a, b); }>("v_max_u32"),
      valu<[](i32 a, i32 b) { return std::min(a, b); }>("v_min_i32"),
      valu<[](i32 a, i32 b) { return std::max(a, b); }>("v_max_i32"),
      clampable<[](u32 a, u32 b) { return a + b; },
                [](u32 a, u32 b) { return a + b < a ? ~0u : a + b; }>(
          "v_add_u32"),
      clampable<[](u32 a, u32 b) { return a - b; },
                [](u32 a, u32 b) { return a < b ? 0u : a - b; }>("v_sub_u32"),
      clampable<[](u32 a, u32 b) { return b - a; },
                [](u32 a, u32 b) { return b < a ? 0u : b - a; }>(
          "v_subrev_u32"),
      clampable<[](u32 a, u32 b) { return a + b; },
                [](i32 a, i32 b) { return clampI32(int64_t(a) + b); }>(
          "v_add_i32"),
      clampable<[](u32 a, u32 b) { return a - b; },
                [](i32 a, i32 b) { return clampI32(int64_t(a) - b); }>(
          "v_sub_i32"),
      carry<[](u32 a, u32 b, u32) { return uint64_t(a) + b; }, false, true>(
          "v_add_co_u32"),
      carry<[](u32 a, u32 b, u32) { return uint64_t(a) - b; }, false, false>(
          "v_sub_co_u32"),
      carry<[](u32 a, u32 b, u32) { return uint64_t(b) - a; }, false, false>(
          "v_subrev_co_u32"),
      carry<[](u32 a, u32 b, u32 c) { return uint64_t(a) + b + c; }, true,
            true>("v_addc_co_u32"),
      carry<[](u32 a, u32 b, u32 c) { return uint64_t(a) - b - c; }, true,
            false>("v_subb_co_u32"),
      carry<[](u32 a, u32 b, u32 c) { return uint64_t(b) - a - c; }, true,
            false>("v_subbrev_co_u32"),
      {"v_cndmask_b32",
       execCndmask,
       ValueType::I32,
       {ValueType::F32, ValueType::F32, ValueType::None},
       opCarryIn},
      valu<[](u32 a, u32 b) { return u32(signed24(a)) * u32(signed24(b)); }>(
          "v_mul_i32_i24"),
      valu<[](u32 a, u32 b) {
        return i32((int64_t(signed24(a)) * signed24(b)) >> 32);
      }>("v_mul_hi_i32_i24"),
      valu<[](u32 a, u32 b) { return unsigned24(a) * unsigned24(b); }>(
          "v_mul_u32_u24"),
      valu<[](u32 a, u32 b) {
        return u32((uint64_t(unsigned24(a)) * unsigned24(b)) >> 32);
      }>("v_mul_hi_u32_u24"),
      valu<[](u32 a, u32 b) { return a * b; }>("v_mul_lo_u32"),
      valu<[](u32 a, u32 b) { return u32((uint64_t(a) * b) >> 32); }>(
          "v_mul_hi_u32"),
      valu<[](i32 a, i32 b) { return i32((int64_t(a) * b) >> 32); }>(
          "v_mul_hi_i32"),
      clampable<[](u32 a, u32 b, u32 c) {
        return u32(signed24(a)) * u32(signed24(b)) + c;
      },
                [](u32 a, u32 b, i32 c) {
                  return clampI32(int64_t(signed24(a)) * signed24(b) + c);
                }>("v_mad_i32_i24"),
      clampable<[](u32 a, u32 b, u32 c) {
        return unsigned24(a) * unsigned24(b) + c;
      },
                [](u32 a, u32 b, u32 c) {
                  uint64_t sum = uint64_t(unsigned24(a)) * unsigned24(b) + c;
                  return sum >> 32 ? ~0u : u32(sum);
                }>("v_mad_u32_u24"),
      {"v_mad_u64_u32",
       execMad64<u32>,
       ValueType::I64,
       {ValueType::I32, ValueType::I32, ValueType::I64},
       opCarryOut},
      {"v_mad_i64_i32",
       execMad64<i32>,
       ValueType::I64,
       {ValueType::I32, ValueType::I32, ValueType::I64},
       opCarryOut},
      valu<[](u32 a, u32 b, u32 c) { return a + b + c; }>("v_add3_u32"),
      valu<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>(
          "v_lshl_add_u32"),
      valu<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>(
          "v_add_lshl_u32"),
      valu<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>(
          "v_lshl_or_b32"),
      valu<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>("v_and_or_b32"),
      valu<[](u32 a, u32 b, u32 c) { return a | b | c; }>("v_or3_b32"),
      valu<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>("v_xad_u32"),
      valu<[](u32 a, u32 b, u32 c) { return bitFieldU(a, b, c); }>("v_bfe_u32"),
      valu<[](u32 a, u32 b, u32 c) { return bitFieldI(a, b, c); }>("v_bfe_i32"),
      valu<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>("v_bfi_b32"),
      valu<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>(
          "v_bfm_b32"),
      valu<[](u32 a, u32 b, u32 c) {
        return u32((uint64_t(a) << 32 | b) >> (c & 31));
      }>("v_alignbit_b32"),
      valu<[](u32 a, u32 b, u32 c) {
        return u32((uint64_t(a) << 32 | b) >> (8 * (c & 3)));
      }>("v_alignbyte_b32"),
      valu<[](u32 a, u32 b, u32 c) { return permute(a, b, c); }>("v_perm_b32"),
      valu<[](u32 a, u32 b, u32 c) { return std::min(std::min(a, b), c); }>(
          "v_min3_u32"),
      valu<[](u32 a, u32 b, u32 c) { return std::max(std::max(a, b), c); }>(
          "v_max3_u32"),
      valu<[](u32 a, u32 b, u32 c) {
        return std::max(std::min(a, b), std::min(std::max(a, b), c));
      }>("v_med3_u32"),
      valu<[](i32 a, i32 b, i32 c) { return std::min(std::min(a, b), c); }>(
          "v_min3_i32"),
      valu<[](i32 a, i32 b, i32 c) { return std::max(std::max(a, b), c); }>(
          "v_max3_i32"),
      valu<[](i32 a, i32 b, i32 c) {
        return std::max(std::min(a, b), std::min(std::max(a, b), c));
      }>("v_med3_i32"),
      valu<[](u32 a, u32 b) { return u32(__builtin_popcount(a)) + b; }>(
          "v_bcnt_u32_b32"),
      {"v_mbcnt_lo_u32_b32",
       execMbcnt<false>,
       ValueType::I32,
       {ValueType::I32, ValueType::I32, ValueType::None}},
      {"v_mbcnt_hi_u32_b32",
       execMbcnt<true>,
       ValueType::I32,
       {ValueType::I32, ValueType::I32, ValueType::None}},
      {"v_bitop3_b32",
       execBitop3,
       ValueType::I32,
       {ValueType::I32, ValueType::I32, ValueType::I32}},
  };
  return table;
}

} // namespace tenon::sim
