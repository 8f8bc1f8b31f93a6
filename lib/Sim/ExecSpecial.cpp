//===- ExecSpecial.cpp - byte sums, cube maps, rare halves ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that belong to no large family: sums of absolute differences of
// bytes, cube map coordinates, the argument reduction of v_trig_preop, and
// 16-bit operations that are no plain arithmetic.
//
//===----------------------------------------------------------------------===//

#include "FloatMath.h"
#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

using u8 = uint8_t;
using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;

static u32 byteOf(u64 value, unsigned index) {
  return u32(value >> (8 * index)) & 0xFF;
}
static u32 difference(u32 a, u32 b) { return a > b ? a - b : b - a; }

/// Sum of the differences of four bytes; bytes of `b` that are zero do not
/// count when `masked`.
template <bool masked> static u32 byteDifferences(u32 a, u32 b) {
  u32 sum = 0;
  for (unsigned i = 0; i < 4; ++i) {
    u32 reference = byteOf(b, i);
    sum += masked && reference == 0 ? 0 : difference(byteOf(a, i), reference);
  }
  return sum;
}

static u32 saturatedAdd(u32 a, u32 b) { return a + b < a ? ~0u : a + b; }

/// Four sums at the four places where four bytes of `a` begin, each added to a
/// 16-bit part of `c`.
template <bool masked, bool saturates>
static u64 quadDifferences(u64 a, u32 b, u64 c) {
  u64 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    u32 sum = byteDifferences<masked>(u32(a >> (8 * i)), b) +
              (u32(c >> (16 * i)) & 0xFFFF);
    sum = saturates ? std::min(sum, 0xFFFFu) : sum & 0xFFFF;
    result |= u64(sum) << (16 * i);
  }
  return result;
}

/// v_mqsad_u32_u8: the same with 32-bit sums in four registers.
static void execMaskedQuad32(Wave &wave, const Instr &instr) {
  Row temp[2][2], results[4];
  Source a = fetch<u64>(wave, instr, 0, temp[0]);
  Source b = fetch<u32>(wave, instr, 1, temp[1]);
  const Operand &c = instr.src[2];
  for (unsigned i = 0; i < waveSize; ++i) {
    for (unsigned d = 0; d < 4; ++d) {
      u32 sum =
          byteDifferences<true>(u32(laneValue<u64>(a, i) >> (8 * d)), b.lo[i]);
      u32 addend = c.kind == OperandKind::Vgpr ? wave.v[c.reg + d][i]
                                               : wave.readScalar(c);
      results[d].lane[i] =
          instr.clamp ? saturatedAdd(sum, addend) : sum + addend;
    }
  }
  for (unsigned d = 0; d < 4; ++d) {
    writeRow(wave, instr.dst + d, results[d]);
  }
}

/// Averages of bytes; a bit of `c` rounds each up.
static u32 lerpBytes(u32 a, u32 b, u32 c) {
  u32 result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    u32 sum = byteOf(a, i) + byteOf(b, i) + (byteOf(c, i) & 1);
    result |= (sum >> 1) << (8 * i);
  }
  return result;
}

static u32 halfDifferences(u32 a, u32 b) {
  return difference(a & 0xFFFF, b & 0xFFFF) + difference(a >> 16, b >> 16);
}

static u8 saturateU8(i32 value) { return u8(std::clamp(value, 0, 255)); }
static u8 saturateI8(i32 value) { return u8(std::clamp(value, -128, 127)); }

// Cube maps: the face that a direction hits, twice its major axis, and the
// other two coordinates.
static bool zIsMajor(float x, float y, float z) {
  return std::fabs(z) >= std::fabs(x) && std::fabs(z) >= std::fabs(y);
}
static bool yIsMajor(float x, float y) { return std::fabs(y) >= std::fabs(x); }

static float cubeId(float x, float y, float z) {
  if (zIsMajor(x, y, z)) {
    return z < 0 ? 5.0f : 4.0f;
  }
  if (yIsMajor(x, y)) {
    return y < 0 ? 3.0f : 2.0f;
  }
  return x < 0 ? 1.0f : 0.0f;
}
static float cubeMajor(float x, float y, float z) {
  return 2.0f * (zIsMajor(x, y, z) ? z : (yIsMajor(x, y) ? y : x));
}
static float cubeS(float x, float y, float z) {
  if (zIsMajor(x, y, z)) {
    return z < 0 ? -x : x;
  }
  if (yIsMajor(x, y)) {
    return x;
  }
  return x < 0 ? z : -z;
}
static float cubeT(float x, float y, float z) {
  if (zIsMajor(x, y, z)) {
    return -y;
  }
  if (yIsMajor(x, y)) {
    return y < 0 ? -z : z;
  }
  return -y;
}

/// 2 / pi, 1201 bits behind the point and zeros, from the top.
static constexpr u32 twoOverPi[] = {
    0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041,
    0xFE5163AB, 0xDEBBC561, 0xB7246E3A, 0x424DD2E0, 0x06492EEA, 0x09D1921C,
    0xFE1DEB1C, 0xB129A73E, 0xE88235F5, 0x2EBB4484, 0xE99C7026, 0xB45F7E41,
    0x3991D639, 0x835339F4, 0x9C845F8B, 0xBDF9283B, 0x1FF897FF, 0xDE05980F,
    0xEF2F118B, 0x5A0A6D1F, 0x6D367ECF, 0x27CB09B7, 0x4F463F66, 0x9E5FEA2D,
    0x7527BAC7, 0xEBE5F17B, 0x3D0739F7, 0x8A5292EA, 0x6BFB5FB1, 0x1F8D5D08,
    0x56033046, 0xFC7B0000};

/// v_trig_preop: the 53 bits of 2 / pi that matter for an argument of this
/// exponent, and for the segment that the second operand counts.
static double trigPreop(double a, u32 segment) {
  int exponent = int((std::bit_cast<u64>(a) >> 52) & 0x7FF);
  unsigned shift = (segment & 31) * 53;
  if (exponent > 1077) {
    shift += unsigned(exponent - 1077);
  }
  u64 mantissa = 0;
  for (unsigned i = 0; i < 53; ++i) {
    unsigned at = shift + i;
    u32 bit = at < 1201 ? (twoOverPi[at / 32] >> (31 - at % 32)) & 1 : 0;
    mantissa = mantissa << 1 | bit;
  }
  int scale = -53 - int(shift) + (exponent >= 1968 ? 128 : 0);
  return std::ldexp(double(mantissa), scale);
}

/// v_div_fixup_f16: the special cases of a quotient; `a` is the quotient.
static Half divFixupHalf(Half a, Half denominator, Half numerator) {
  float d = denominator, n = numerator;
  bool negative = std::signbit(n) != std::signbit(d);
  auto signedHalf = [=](u16 magnitude) {
    return std::bit_cast<Half>(u16(magnitude | (negative ? 0x8000 : 0)));
  };
  if (n != n) {
    return Half(quieted(n));
  }
  if (d != d) {
    return Half(quieted(d));
  }
  if ((d == 0 && n == 0) || (std::isinf(d) && std::isinf(n))) {
    return std::bit_cast<Half>(u16(0xFE00));
  }
  if (d == 0 || std::isinf(n)) {
    return signedHalf(0x7C00);
  }
  if (std::isinf(d) || n == 0) {
    return signedHalf(0);
  }
  return signedHalf(std::bit_cast<u16>(a) & 0x7FFF);
}

/// A product rounded to half precision before the addition.
static Half madHalf(Half a, Half b, Half c) {
  Half product = Half(mulFloat(float(a), float(b)));
  return Half(addFloat(float(product), float(c)));
}

static i32 normalised(Half value, float scale, float lowest) {
  float x = value;
  return i32(__builtin_roundevenf(std::clamp(x != x ? 0.0f : x, lowest, 1.0f) *
                                  scale));
}
static u32 packHalves(u32 lo, u32 hi) { return (lo & 0xFFFF) | hi << 16; }

/// v_bitop3_b16: any function of three bits, on halves that op_sel chooses.
static void execBitop3Half(Wave &wave, const Instr &instr) {
  Row temp[3][2], result;
  Source a = fetch<u16>(wave, instr, 0, temp[0]);
  Source b = fetch<u16>(wave, instr, 1, temp[1]);
  Source c = fetch<u16>(wave, instr, 2, temp[2]);
  // The table hides in omod (7:6), abs (5:3) and neg (2:0).
  u32 table = (instr.omod << 6) | ((instr.imm & 7) << 3) | (instr.imm >> 3);
  for (unsigned i = 0; i < waveSize; ++i) {
    u32 bits = 0;
    for (unsigned bit = 0; bit < 16; ++bit) {
      u32 index = ((a.lo[i] >> bit) & 1) << 2 | ((b.lo[i] >> bit) & 1) << 1 |
                  ((c.lo[i] >> bit) & 1);
      bits |= ((table >> index) & 1) << bit;
    }
    result.lane[i] = bits;
  }
  mergeHalf(wave, instr, result, /*keepsOther=*/true);
  writeRow(wave, instr.dst, result);
}

static void execClearExceptions(Wave &, const Instr &) {}

llvm::ArrayRef<OpcodeInfo> vectorSpecialTable() {
  static const OpcodeInfo table[] = {
      {"v_clrexcp", execClearExceptions},
      clampable<[](u32 a, u32 b, u32 c) {
        return byteDifferences<false>(a, b) + c;
      },
                [](u32 a, u32 b, u32 c) {
                  return saturatedAdd(byteDifferences<false>(a, b), c);
                }>("v_sad_u8"),
      clampable<[](u32 a, u32 b, u32 c) {
        return (byteDifferences<false>(a, b) << 16) + c;
      },
                [](u32 a, u32 b, u32 c) {
                  return saturatedAdd(byteDifferences<false>(a, b) << 16, c);
                }>("v_sad_hi_u8"),
      clampable<[](u32 a, u32 b, u32 c) { return halfDifferences(a, b) + c; },
                [](u32 a, u32 b, u32 c) {
                  return saturatedAdd(halfDifferences(a, b), c);
                }>("v_sad_u16"),
      clampable<[](u32 a, u32 b, u32 c) { return difference(a, b) + c; },
                [](u32 a, u32 b, u32 c) {
                  return saturatedAdd(difference(a, b), c);
                }>("v_sad_u32"),
      clampable<[](u32 a, u32 b, u32 c) {
        return byteDifferences<true>(a, b) + c;
      },
                [](u32 a, u32 b, u32 c) {
                  return saturatedAdd(byteDifferences<true>(a, b), c);
                }>("v_msad_u8"),
      clampable<[](u64 a, u32 b, u64 c) {
        return quadDifferences<false, false>(a, b, c);
      },
                [](u64 a, u32 b, u64 c) {
                  return quadDifferences<false, true>(a, b, c);
                }>("v_qsad_pk_u16_u8"),
      clampable<[](u64 a, u32 b, u64 c) {
        return quadDifferences<true, false>(a, b, c);
      },
                [](u64 a, u32 b, u64 c) {
                  return quadDifferences<true, true>(a, b, c);
                }>("v_mqsad_pk_u16_u8"),
      {"v_mqsad_u32_u8",
       execMaskedQuad32,
       ValueType::B128,
       {ValueType::I64, ValueType::I32, ValueType::B128}},
      valu<[](u32 a, u32 b, u32 c) { return lerpBytes(a, b, c); }>("v_lerp_u8"),
      valu<[](u32 a) {
        return u32(saturateU8(i16(a))) | u32(saturateU8(i16(a >> 16))) << 8;
      }>("v_sat_pk_u8_i16"),
      valu<[](i32 a, i32 b, u32 c) {
        return u16(saturateI8(a >> (c & 31)) | saturateI8(b >> (c & 31)) << 8);
      },
           opReadsDst>("v_ashr_pk_i8_i32"),
      valu<[](i32 a, i32 b, u32 c) {
        return u16(saturateU8(a >> (c & 31)) | saturateU8(b >> (c & 31)) << 8);
      },
           opReadsDst>("v_ashr_pk_u8_i32"),
      // A linear feedback shift register.
      valu<[](u32 a) { return a << 1 ^ (a >> 31 ? 197u : 0u); }>("v_prng_b32"),
      valu<[](float x, float y, float z) { return cubeId(x, y, z); }>(
          "v_cubeid_f32"),
      valu<[](float x, float y, float z) { return cubeMajor(x, y, z); }>(
          "v_cubema_f32"),
      valu<[](float x, float y, float z) { return cubeS(x, y, z); }>(
          "v_cubesc_f32"),
      valu<[](float x, float y, float z) { return cubeT(x, y, z); }>(
          "v_cubetc_f32"),
      valu<[](double a, u32 b) { return trigPreop(a, b); }>("v_trig_preop_f64"),
      valu<[](Half a, Half b, Half c) { return divFixupHalf(a, b, c); },
           opReadsDst>("v_div_fixup_f16"),
      valu<[](Half a, Half b, Half c) { return divFixupHalf(a, b, c); }>(
          "v_div_fixup_legacy_f16"),
      valu<[](Half a, Half b, Half c) { return madHalf(a, b, c); }, opReadsDst>(
          "v_mad_f16"),
      valu<[](Half a, Half b, Half c) { return madHalf(a, b, c); }>(
          "v_mad_legacy_f16"),
      valu<[](Half a, Half b, Half c) { return madHalf(a, b, c); },
           opAccumulates>("v_mac_f16"),
      valu<[](Half a, Half b, Half c) { return madHalf(a, b, c); },
           opLiteralMid>("v_madmk_f16"),
      valu<[](Half a, Half b, Half c) { return madHalf(a, b, c); },
           opLiteralEnd>("v_madak_f16"),
      valu<[](Half a) { return i16(normalised(a, 32767, -1)); }>(
          "v_cvt_norm_i16_f16"),
      valu<[](Half a) { return u16(normalised(a, 65535, 0)); }>(
          "v_cvt_norm_u16_f16"),
      valu<[](Half a, Half b) {
        return packHalves(u32(normalised(a, 32767, -1)),
                          u32(normalised(b, 32767, -1)));
      }>("v_cvt_pknorm_i16_f16"),
      valu<[](Half a, Half b) {
        return packHalves(u32(normalised(a, 65535, 0)),
                          u32(normalised(b, 65535, 0)));
      }>("v_cvt_pknorm_u16_f16"),
      valu<[](u16 a, u16 b, u16 c) {
        return std::max(std::min(a, b), std::min(std::max(a, b), c));
      },
           opReadsDst>("v_med3_u16"),
      valu<[](i16 a, i16 b, i16 c) {
        return std::max(std::min(a, b), std::min(std::max(a, b), c));
      },
           opReadsDst>("v_med3_i16"),
      {"v_bitop3_b16",
       execBitop3Half,
       ValueType::I16,
       {ValueType::I16, ValueType::I16, ValueType::I16},
       opReadsDst},
  };
  return table;
}

} // namespace tenon::sim
