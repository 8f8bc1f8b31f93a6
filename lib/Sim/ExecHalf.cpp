//===- ExecHalf.cpp - 16-bit vector arithmetic ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatMath.h"
#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;

// What a lane computes must be inlined, or the loop over lanes stays scalar.
#pragma clang attribute push(__attribute__((always_inline)),                   \
                             apply_to = function)

// Sums and products of halves are exact or safely double-rounded in float; a
// fused multiply-add needs double and a rounding to odd in between.
static Half addHalf(Half a, Half b) {
  return Half(addFloat(float(a), float(b)));
}
static Half subHalf(Half a, Half b) {
  return Half(subFloat(float(a), float(b)));
}
static Half mulHalf(Half a, Half b) {
  return Half(mulFloat(float(a), float(b)));
}
static Half fmaHalf(Half a, Half b, Half c) {
  float x = a, y = b, z = c;
  double sum = double(x) * double(y) + double(z);
  return Half(withNan(roundToOdd(sum), x, y, z));
}

static u16 saturatedU16(int64_t value) {
  return u16(std::clamp<int64_t>(value, 0, 0xFFFF));
}
static i16 saturatedI16(int64_t value) {
  return i16(std::clamp<int64_t>(value, -0x8000, 0x7FFF));
}

static Half ldexpHalf(Half a, i16 exponent) {
  int bounded = std::clamp<int>(exponent, -100, 100);
  double scale = std::bit_cast<double>(uint64_t(1023 + bounded) << 52);
  return Half(withNan(roundToOdd(double(float(a)) * scale), float(a)));
}

static i16 frexpExponent(Half a) {
  float value = a;
  if (value == 0 || !std::isfinite(value)) {
    return 0;
  }
  int exponent;
  std::frexp(value, &exponent);
  return i16(exponent);
}

static Half frexpMantissa(Half a) {
  float value = a;
  if (!std::isfinite(value)) {
    return Half(withNan(value, value));
  }
  int exponent;
  return Half(std::frexp(value, &exponent));
}

static Half fractHalf(Half a) {
  float value = a;
  float below = float(std::bit_cast<Half>(u16(0x3BFF)));
  float part = value - std::floor(value);
  float result = part > below ? below : part;
  return Half(withNan(std::isinf(value) ? value - value : result, value));
}

#pragma clang attribute pop

void finishHalf(Wave &wave, const Instr &instr, Row &result) {
  static constexpr float factors[] = {1.0f, 2.0f, 4.0f, 0.5f};
  bool modifies =
      usesOutputModifier(instr, wave.mode, wave.mode.flushOutput16And64());
  for (uint32_t &lane : result.lane) {
    float value = std::bit_cast<Half>(u16(lane));
    if (modifies) {
      value = withNan(value * factors[instr.omod], value);
      value = std::fabs(value) < 0x1p-14f ? 0 : value;
    }
    if (instr.clamp) {
      value = value != value ? (wave.mode.dx10Clamp() ? 0.0f : value)
                             : std::clamp(value, 0.0f, 1.0f);
    }
    lane = std::bit_cast<u16>(Half(value));
  }
  if (wave.mode.flushOutput16And64()) {
    flushHalfDenormals(result.lane, result);
  }
}

void mergeHalf(Wave &wave, const Instr &instr, Row &result, bool keepsOther) {
  const uint32_t *old = wave.v[instr.dst];
  if (instr.opSel & 8) {
    TENON_LANES
    for (unsigned i = 0; i < waveSize; ++i) {
      result.lane[i] = (old[i] & 0xFFFF) | (result.lane[i] << 16);
    }
  } else if (keepsOther) {
    TENON_LANES
    for (unsigned i = 0; i < waveSize; ++i) {
      result.lane[i] = (old[i] & 0xFFFF0000) | (result.lane[i] & 0xFFFF);
    }
  }
}

llvm::ArrayRef<OpcodeInfo> vectorHalfTable() {
  static const OpcodeInfo table[] = {
      valu<[](Half a, Half b) { return addHalf(a, b); }>("v_add_f16"),
      valu<[](Half a, Half b) { return subHalf(a, b); }>("v_sub_f16"),
      valu<[](Half a, Half b) { return subHalf(b, a); }>("v_subrev_f16"),
      valu<[](Half a, Half b) { return mulHalf(a, b); }>("v_mul_f16"),
      byIeeeMode<[](Half a, Half b) { return minFloat(a, b); },
                 [](Half a, Half b) { return minFloat<false>(a, b); }>(
          "v_min_f16"),
      byIeeeMode<[](Half a, Half b) { return maxFloat(a, b); },
                 [](Half a, Half b) { return maxFloat<false>(a, b); }>(
          "v_max_f16"),
      valu<[](Half a, i16 b) { return ldexpHalf(a, b); }>("v_ldexp_f16"),
      valu<[](Half a, Half b, Half c) { return fmaHalf(a, b, c); }, opReadsDst>(
          "v_fma_f16"),
      byIeeeMode<[](Half a, Half b, Half c) {
        return minFloat(minFloat(a, b), c);
      },
                 [](Half a, Half b, Half c) {
                   return minFloat<false>(minFloat<false>(a, b), c);
                 },
                 opReadsDst>("v_min3_f16"),
      byIeeeMode<[](Half a, Half b, Half c) {
        return maxFloat(maxFloat(a, b), c);
      },
                 [](Half a, Half b, Half c) {
                   return maxFloat<false>(maxFloat<false>(a, b), c);
                 },
                 opReadsDst>("v_max3_f16"),
      byIeeeMode<[](Half a, Half b, Half c) { return medFloat(a, b, c); },
                 [](Half a, Half b, Half c) {
                   return medFloat<false>(a, b, c);
                 },
                 opReadsDst>("v_med3_f16"),
      valu<[](Half a) { return fractHalf(a); }>("v_fract_f16"),
      valu<[](Half a) { return Half(__builtin_truncf(a)); }>("v_trunc_f16"),
      valu<[](Half a) { return Half(__builtin_ceilf(a)); }>("v_ceil_f16"),
      valu<[](Half a) { return Half(__builtin_floorf(a)); }>("v_floor_f16"),
      valu<[](Half a) { return Half(__builtin_roundevenf(a)); }>("v_rndne_f16"),
      valu<[](Half a) { return frexpExponent(a); }>("v_frexp_exp_i16_f16"),
      valu<[](Half a) { return frexpMantissa(a); }>("v_frexp_mant_f16"),
      clampable<[](u16 a, u16 b) { return u16(a + b); },
                [](u16 a, u16 b) { return saturatedU16(int(a) + b); }>(
          "v_add_u16"),
      clampable<[](u16 a, u16 b) { return u16(a - b); },
                [](u16 a, u16 b) { return saturatedU16(int(a) - b); }>(
          "v_sub_u16"),
      clampable<[](u16 a, u16 b) { return u16(b - a); },
                [](u16 a, u16 b) { return saturatedU16(int(b) - a); }>(
          "v_subrev_u16"),
      valu<[](u16 a, u16 b) { return u16(u32(a) * b); }>("v_mul_lo_u16"),
      valu<[](u16 a, u16 b) { return u16(b << (a & 15)); }>("v_lshlrev_b16"),
      valu<[](u16 a, u16 b) { return u16(b >> (a & 15)); }>("v_lshrrev_b16"),
      valu<[](u16 a, i16 b) { return i16(b >> (a & 15)); }>("v_ashrrev_i16"),
      valu<[](u16 a, u16 b) { return std::min(a, b); }>("v_min_u16"),
      valu<[](u16 a, u16 b) { return std::max(a, b); }>("v_max_u16"),
      valu<[](i16 a, i16 b) { return std::min(a, b); }>("v_min_i16"),
      valu<[](i16 a, i16 b) { return std::max(a, b); }>("v_max_i16"),
      clampable<[](i16 a, i16 b) { return i16(a + b); },
                [](i16 a, i16 b) { return saturatedI16(int(a) + b); },
                opReadsDst>("v_add_i16"),
      clampable<[](i16 a, i16 b) { return i16(a - b); },
                [](i16 a, i16 b) { return saturatedI16(int(a) - b); },
                opReadsDst>("v_sub_i16"),
      clampable<[](u16 a, u16 b, u16 c) { return u16(u32(a) * b + c); },
                [](u16 a, u16 b, u16 c) {
                  return saturatedU16(int64_t(a) * b + c);
                },
                opReadsDst>("v_mad_u16"),
      clampable<[](i16 a, i16 b, i16 c) { return i16(int(a) * b + c); },
                [](i16 a, i16 b, i16 c) {
                  return saturatedI16(int64_t(a) * b + c);
                },
                opReadsDst>("v_mad_i16"),
      // The legacy forms clear the upper half.
      clampable<[](u16 a, u16 b, u16 c) { return u16(u32(a) * b + c); },
                [](u16 a, u16 b, u16 c) {
                  return saturatedU16(int64_t(a) * b + c);
                }>("v_mad_legacy_u16"),
      clampable<[](i16 a, i16 b, i16 c) { return i16(int(a) * b + c); },
                [](i16 a, i16 b, i16 c) {
                  return saturatedI16(int64_t(a) * b + c);
                }>("v_mad_legacy_i16"),
      valu<[](Half a, Half b, Half c) { return fmaHalf(a, b, c); }>(
          "v_fma_legacy_f16"),
      clampable<[](u16 a, u16 b, u32 c) { return u32(a) * b + c; },
                [](u16 a, u16 b, u32 c) {
                  return u32(std::min<uint64_t>(uint64_t(a) * b + c, ~0u));
                }>("v_mad_u32_u16"),
      clampable<[](i16 a, i16 b, u32 c) { return u32(int(a) * b) + c; },
                [](i16 a, i16 b, u32 c) {
                  int64_t sum = int64_t(a) * b + int32_t(c);
                  return u32(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
                }>("v_mad_i32_i16"),
      valu<[](u16 a, u16 b, u16 c) { return std::min(std::min(a, b), c); },
           opReadsDst>("v_min3_u16"),
      valu<[](u16 a, u16 b, u16 c) { return std::max(std::max(a, b), c); },
           opReadsDst>("v_max3_u16"),
      valu<[](i16 a, i16 b, i16 c) { return std::min(std::min(a, b), c); },
           opReadsDst>("v_min3_i16"),
      valu<[](i16 a, i16 b, i16 c) { return std::max(std::max(a, b), c); },
           opReadsDst>("v_max3_i16"),
      valu<[](u16 a, u16 b) { return u32(a) | u32(b) << 16; }>(
          "v_pack_b32_f16"),
  };
  return table;
}

} // namespace tenon::sim
