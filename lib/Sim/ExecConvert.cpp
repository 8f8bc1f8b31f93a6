//===- ExecConvert.cpp - conversions between number formats -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatMath.h"
#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

using u32 = uint32_t;
using i32 = int32_t;

// What a lane computes must be inlined, or the loop over lanes stays scalar.
#pragma clang attribute push(__attribute__((always_inline)),                   \
                             apply_to = function)

/// Truncation that saturates; NaN gives 0.
static i32 toInt(double a) {
  double bounded =
      a < -2147483648.0 ? -2147483648.0 : (a > 2147483647.0 ? 2147483647.0 : a);
  return a != a ? 0 : i32(bounded);
}
static u32 toUint(double a) {
  double bounded = a < 0 ? 0 : (a > 4294967295.0 ? 4294967295.0 : a);
  return a != a ? 0 : u32(bounded);
}
static i32 toInt16(double a) {
  return i32(std::clamp(a != a ? 0.0 : a, -32768.0, 32767.0));
}
static u32 toUint16(double a) {
  return u32(std::clamp(a != a ? 0.0 : a, 0.0, 65535.0));
}

// Compilers turn an unsigned zero into -0 where the host rounds downwards, so
// both are put together here: a double is exact, and a float rounded once.
static double doubleOf(u32 a) {
  uint64_t inLowBits = std::bit_cast<uint64_t>(0x1p52) | a;
  return std::fabs(std::bit_cast<double>(inLowBits) - 0x1p52);
}
static float floatOf(u32 a) {
  return __builtin_fmaf(float(i32(a >> 16)), 65536, float(i32(a & 0xFFFF)));
}

static u32 halfBits(float value) {
  return std::bit_cast<uint16_t>(Half(value));
}

/// Rounds towards zero to a half, as v_cvt_pkrtz does: no overflow to infinity.
static u32 halfBitsTowardZero(float value) {
  u32 bits = halfBits(value);
  if (value != value || std::isinf(value)) {
    return bits;
  }
  float back = std::bit_cast<Half>(uint16_t(bits));
  // Rounded away from zero: the neighbour towards zero is one below.
  return std::fabs(back) > std::fabs(value) ? bits - 1 : bits;
}

static u32 pack(u32 lo, u32 hi) { return (lo & 0xFFFF) | (hi << 16); }

static i32 normalised(float value, float scale) {
  return i32(__builtin_roundevenf(
      std::clamp(value != value ? 0.0f : value, -1.0f, 1.0f) * scale));
}
static u32 normalisedU(float value, float scale) {
  return u32(__builtin_roundevenf(
      std::clamp(value != value ? 0.0f : value, 0.0f, 1.0f) * scale));
}

/// v_cvt_pk_u8_f32: one byte of the third operand, chosen by the second.
static u32 packByte(float value, u32 index, u32 old) {
  float rounded = __builtin_roundevenf(value != value ? 0.0f : value);
  u32 byte = u32(std::clamp(rounded, 0.0f, 255.0f));
  u32 shift = 8 * (index & 3);
  return (old & ~(0xFFu << shift)) | (byte << shift);
}

#pragma clang attribute pop

/// Two halves in one register: rounding and denormals of half precision.
template <auto convert>
static void execPackHalves(Wave &wave, const Instr &instr) {
  if (instr.clamp || instr.omod) {
    return wave.fail("clamp on this operation is not implemented");
  }
  RoundingOf16And64<true> rounding(wave.mode);
  Row temp[2][2], halves[2];
  for (unsigned k = 0; k < 2; ++k) {
    Source source = fetch<float>(wave, instr, k, temp[k]);
    TENON_LANES
    for (unsigned i = 0; i < waveSize; ++i) {
      [[clang::always_inline]] halves[k].lane[i] =
          convert(laneValue<float>(source, i));
    }
    if (wave.mode.flushOutput16And64()) {
      flushHalfDenormals(halves[k].lane, halves[k]);
    }
  }
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    halves[0].lane[i] = pack(halves[0].lane[i], halves[1].lane[i]);
  }
  writeRow(wave, instr.dst, halves[0]);
}

llvm::ArrayRef<OpcodeInfo> vectorConvertTable() {
  static const OpcodeInfo table[] = {
      valu<[](i32 a) { return float(a); }>("v_cvt_f32_i32"),
      valu<[](u32 a) { return floatOf(a); }>("v_cvt_f32_u32"),
      valu<[](float a) { return toInt(a); }>("v_cvt_i32_f32"),
      valu<[](float a) { return toUint(a); }>("v_cvt_u32_f32"),
      valu<[](float a) { return toInt(__builtin_floor(double(a) + 0.5)); }>(
          "v_cvt_rpi_i32_f32"),
      valu<[](float a) { return toInt(__builtin_floor(double(a))); }>(
          "v_cvt_flr_i32_f32"),
      valu<[](u32 a) { return float(a & 0xFF); }>("v_cvt_f32_ubyte0"),
      valu<[](u32 a) { return float((a >> 8) & 0xFF); }>("v_cvt_f32_ubyte1"),
      valu<[](u32 a) { return float((a >> 16) & 0xFF); }>("v_cvt_f32_ubyte2"),
      valu<[](u32 a) { return float(a >> 24); }>("v_cvt_f32_ubyte3"),
      valu<[](u32 a) { return float(i32(a << 28) >> 28) * 0.0625f; }>(
          "v_cvt_off_f32_i4"),
      valu<[](double a) { return toInt(a); }>("v_cvt_i32_f64"),
      valu<[](double a) { return toUint(a); }>("v_cvt_u32_f64"),
      valu<[](i32 a) { return double(a); }>("v_cvt_f64_i32"),
      valu<[](u32 a) { return doubleOf(a); }>("v_cvt_f64_u32"),
      valu<[](double a) {
        return a != a ? std::bit_cast<float>(std::bit_cast<u32>(float(a)) |
                                             0x400000)
                      : float(a);
      }>("v_cvt_f32_f64"),
      valu<[](float a) { return a != a ? quieted(double(a)) : double(a); }>(
          "v_cvt_f64_f32"),
      valu<[](float a) { return Half(a); }>("v_cvt_f16_f32"),
      valu<[](Half a) { return float(a); }>("v_cvt_f32_f16"),
      valu<[](Bf16 a) { return bf16ToFloat(a.bits); }>("v_cvt_f32_bf16"),
      valu<[](uint16_t a) { return Half(float(a)); }>("v_cvt_f16_u16"),
      valu<[](int16_t a) { return Half(float(a)); }>("v_cvt_f16_i16"),
      valu<[](Half a) { return uint16_t(toUint16(float(a))); }>(
          "v_cvt_u16_f16"),
      valu<[](Half a) { return int16_t(toInt16(float(a))); }>("v_cvt_i16_f16"),
      {"v_cvt_pkrtz_f16_f32",
       execPackHalves<[](float a) { return halfBitsTowardZero(a); }>,
       ValueType::I32,
       {ValueType::F32, ValueType::F32}},
      {"v_cvt_pk_f16_f32",
       execPackHalves<[](float a) { return halfBits(a); }>,
       ValueType::I32,
       {ValueType::F32, ValueType::F32}},
      valu<[](float a, float b) {
        return roundToBf16(a) | roundToBf16(b) << 16;
      }>("v_cvt_pk_bf16_f32"),
      valu<[](float a, float b) {
        return pack(normalised(a, 32767), normalised(b, 32767));
      }>("v_cvt_pknorm_i16_f32"),
      valu<[](float a, float b) {
        return pack(normalisedU(a, 65535), normalisedU(b, 65535));
      }>("v_cvt_pknorm_u16_f32"),
      valu<[](u32 a, u32 b) {
        return pack(std::min(a, 65535u), std::min(b, 65535u));
      }>("v_cvt_pk_u16_u32"),
      valu<[](i32 a, i32 b) {
        return pack(std::clamp(a, -32768, 32767), std::clamp(b, -32768, 32767));
      }>("v_cvt_pk_i16_i32"),
      valu<[](float a, u32 b, u32 c) { return packByte(a, b, c); }>(
          "v_cvt_pk_u8_f32"),
      valu<[](float a, u32 b, u32 c) { return packByte(a, b, c); },
           opAccumulates>("v_cvt_pkaccum_u8_f32"),
  };
  return table;
}

} // namespace tenon::sim
