//===- ExecFloat32.cpp - single-precision vector arithmetic -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatMath.h"
#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

// What a lane computes must be inlined, or the loop over lanes stays scalar.
#pragma clang attribute push(__attribute__((always_inline)),                   \
                             apply_to = function)

static float mulLegacy(float a, float b) {
  return a == 0 || b == 0 ? 0.0f : mulFloat(a, b);
}

static float fract(float a) {
  // Below 1 also where a - floor(a) would round up to it.
  float part = a - std::floor(a);
  float below = std::bit_cast<float>(0x3F7FFFFFu);
  float result = part > below ? below : part;
  return withNan(std::isinf(a) ? a - a : result, a);
}

static float ldexpFloat(float a, int32_t exponent) {
  // In double precision the scaling is exact until the one rounding at the end.
  int32_t bounded = std::clamp(exponent, -400, 400);
  double scale = std::bit_cast<double>(uint64_t(1023 + bounded) << 52);
  return withNan(float(double(a) * scale), a);
}

static int32_t frexpExponent(float a) {
  uint32_t bits = std::bit_cast<uint32_t>(a) & 0x7FFFFFFF;
  if (bits == 0 || bits >= 0x7F800000) {
    return 0;
  }
  int exponent;
  std::frexp(a, &exponent);
  return exponent;
}

static float frexpMantissa(float a) {
  if (!std::isfinite(a)) {
    return withNan(a, a);
  }
  int exponent;
  return std::frexp(a, &exponent);
}

// v_minimum3 and v_maximum3 propagate NaNs and order zeros.
static float minimum(float a, float b) {
  return a != a || b != b ? withNan(a + b, a, b) : minFloat(a, b);
}
static float maximum(float a, float b) {
  return a != a || b != b ? withNan(a + b, a, b) : maxFloat(a, b);
}

#pragma clang attribute pop

/// v_div_fixup: the special cases of a quotient b / c computed in `a`.
template <typename T> static T divFixup(T a, T denominator, T numerator) {
  bool negative = std::signbit(numerator) != std::signbit(denominator);
  T one = negative ? T(-1) : T(1);
  if (numerator != numerator) {
    return quieted(numerator);
  }
  if (denominator != denominator) {
    return quieted(denominator);
  }
  if ((denominator == 0 && numerator == 0) ||
      (std::isinf(denominator) && std::isinf(numerator))) {
    // The hardware's default NaN of a division is negative.
    return std::bit_cast<T>(typename FloatBits<T>::Bits(
        FloatBits<T>::invalid |
        (typename FloatBits<T>::Bits(1) << (sizeof(T) * 8 - 1))));
  }
  if (denominator == 0 || std::isinf(numerator)) {
    return std::copysign(std::numeric_limits<T>::infinity(), one);
  }
  if (std::isinf(denominator) || numerator == 0) {
    return std::copysign(T(0), one);
  }
  int numeratorExponent = std::ilogb(numerator);
  int denominatorExponent = std::ilogb(denominator);
  constexpr int minimumExponent = sizeof(T) == 4 ? -150 : -1075;
  constexpr int maximumExponent = sizeof(T) == 4 ? 129 : 1025;
  if (numeratorExponent - denominatorExponent < minimumExponent) {
    return std::copysign(T(0), one);
  }
  if (numeratorExponent - denominatorExponent >= maximumExponent || a != a) {
    return std::copysign(std::numeric_limits<T>::infinity(), one);
  }
  return std::copysign(a, one);
}

/// v_div_scale: brings numerator and denominator into the range in which the
/// Newton iteration neither overflows nor loses bits, and tells v_div_fmas.
template <typename T>
static std::pair<T, bool> divScale(T value, T denominator, T numerator) {
  constexpr int scaleBits = sizeof(T) == 4 ? 64 : 128;
  constexpr int bias = sizeof(T) == 4 ? 127 : 1023;
  constexpr int farApart = sizeof(T) == 4 ? 96 : 768;
  constexpr int tinyNumerator = sizeof(T) == 4 ? 23 : 53;
  using Bits = typename FloatBits<T>::Bits;
  constexpr int mantissaBits = sizeof(T) == 4 ? 23 : 52;
  auto exponentField = [](T a) {
    return int((std::bit_cast<Bits>(a) >> mantissaBits) & (2 * bias + 1));
  };
  auto isDenormal = [](T a) { return std::fpclassify(a) == FP_SUBNORMAL; };
  bool isNumerator =
      std::bit_cast<Bits>(value) == std::bit_cast<Bits>(numerator);
  bool isDenominator =
      std::bit_cast<Bits>(value) == std::bit_cast<Bits>(denominator);
  T up = std::ldexp(value, scaleBits);
  if (numerator == 0 || denominator == 0) {
    return {std::numeric_limits<T>::quiet_NaN(), false};
  }
  if (exponentField(numerator) - exponentField(denominator) >= farApart) {
    return {isDenominator ? up : value, true};
  }
  if (isDenormal(denominator)) {
    return {up, false};
  }
  bool quotientTiny = isDenormal(numerator / denominator);
  if (isDenormal(T(1) / denominator) && quotientTiny) {
    return {isDenominator ? up : value, true};
  }
  if (isDenormal(T(1) / denominator)) {
    return {std::ldexp(value, -scaleBits), false};
  }
  if (quotientTiny) {
    return {isNumerator ? up : value, true};
  }
  if (exponentField(numerator) <= tinyNumerator) {
    return {up, false};
  }
  return {value, false};
}

/// Writes results of v_div_scale and v_div_fmas.
template <typename T>
static void finishAndWrite(Wave &wave, const Instr &instr, Row (&result)[2]) {
  if constexpr (sizeof(T) == 8) {
    finishFloat64(wave, instr, result[0], result[1]);
    writeRow(wave, instr.dst + 1, result[1]);
  } else {
    finishFloat32(wave, instr, result[0]);
  }
  writeRow(wave, instr.dst, result[0]);
}

template <typename T> static void execDivScale(Wave &wave, const Instr &instr) {
  RoundingOf16And64<sizeof(T) == 8> rounding(wave.mode);
  Row temp[3][2], result[2];
  Source value = fetch<T>(wave, instr, 0, temp[0]);
  Source denominator = fetch<T>(wave, instr, 1, temp[1]);
  Source numerator = fetch<T>(wave, instr, 2, temp[2]);
  uint64_t mask = 0;
  for (unsigned i = 0; i < waveSize; ++i) {
    auto [scaled, flag] =
        divScale(laneValue<T>(value, i), laneValue<T>(denominator, i),
                 laneValue<T>(numerator, i));
    mask |= uint64_t(flag) << i;
    if constexpr (sizeof(T) == 8) {
      uint64_t bits = std::bit_cast<uint64_t>(scaled);
      result[0].lane[i] = uint32_t(bits);
      result[1].lane[i] = uint32_t(bits >> 32);
    } else {
      result[0].lane[i] = std::bit_cast<uint32_t>(scaled);
    }
  }
  finishAndWrite<T>(wave, instr, result);
  wave.setPair(instr.sdst, mask & wave.exec());
}

template <typename T> static void execDivFmas(Wave &wave, const Instr &instr) {
  RoundingOf16And64<sizeof(T) == 8> rounding(wave.mode);
  Row temp[3][2], result[2];
  Source a = fetch<T>(wave, instr, 0, temp[0]);
  Source b = fetch<T>(wave, instr, 1, temp[1]);
  Source c = fetch<T>(wave, instr, 2, temp[2]);
  uint64_t scaled = wave.vcc();
  constexpr int scaleBits = sizeof(T) == 4 ? 32 : 64;
  for (unsigned i = 0; i < waveSize; ++i) {
    T value =
        fmaFloat(laneValue<T>(a, i), laneValue<T>(b, i), laneValue<T>(c, i));
    if ((scaled >> i) & 1) {
      // A quotient too small was scaled up before, one too large down.
      bool large = std::ilogb(laneValue<T>(c, i)) >= 0;
      value = std::ldexp(value, large ? 2 * scaleBits : -2 * scaleBits);
    }
    if constexpr (sizeof(T) == 8) {
      uint64_t bits = std::bit_cast<uint64_t>(value);
      result[0].lane[i] = uint32_t(bits);
      result[1].lane[i] = uint32_t(bits >> 32);
    } else {
      result[0].lane[i] = std::bit_cast<uint32_t>(value);
    }
  }
  finishAndWrite<T>(wave, instr, result);
}

void finishFloat32(Wave &wave, const Instr &instr, Row &result) {
  static constexpr float factors[] = {1.0f, 2.0f, 4.0f, 0.5f};
  float factor = factors[instr.omod];
  bool nanToZero = wave.mode.dx10Clamp();
  bool modifies =
      usesOutputModifier(instr, wave.mode, wave.mode.flushOutput32());
  if (modifies || instr.clamp) {
    for (uint32_t &lane : result.lane) {
      float value = std::bit_cast<float>(lane);
      if (modifies) {
        value = withNan(value * factor, value);
        value = std::fabs(value) < 0x1p-126f ? 0 : value;
      }
      if (instr.clamp) {
        value = value != value
                    ? (nanToZero ? 0.0f : value)
                    : (value > 1.0f ? 1.0f : (value > 0 ? value : 0));
      }
      lane = std::bit_cast<uint32_t>(value);
    }
  }
  if (wave.mode.flushOutput32()) {
    flushDenormals(result.lane, result);
  }
}

void finishFloat64(Wave &wave, const Instr &instr, Row &lo, Row &hi) {
  static constexpr double factors[] = {1.0, 2.0, 4.0, 0.5};
  bool modifies =
      usesOutputModifier(instr, wave.mode, wave.mode.flushOutput16And64());
  for (unsigned i = 0; i < waveSize; ++i) {
    double value = laneValue<double>({lo.lane, hi.lane}, i);
    if (modifies) {
      value = withNan(value * factors[instr.omod], value);
      value = std::fabs(value) < 0x1p-1022 ? 0 : value;
    }
    if (instr.clamp) {
      value = value != value ? (wave.mode.dx10Clamp() ? 0.0 : value)
                             : std::clamp(value, 0.0, 1.0);
    }
    uint64_t bits = std::bit_cast<uint64_t>(value);
    lo.lane[i] = uint32_t(bits);
    hi.lane[i] = uint32_t(bits >> 32);
  }
  if (wave.mode.flushOutput16And64()) {
    flushDoubleDenormals(lo.lane, hi.lane, lo, hi);
  }
}

llvm::ArrayRef<OpcodeInfo> vectorFloat32Table() {
  static const OpcodeInfo table[] = {
      valu<[](float a, float b) { return addFloat(a, b); }>("v_add_f32"),
      valu<[](float a, float b) { return subFloat(a, b); }>("v_sub_f32"),
      valu<[](float a, float b) { return subFloat(b, a); }>("v_subrev_f32"),
      valu<[](float a, float b) { return mulFloat(a, b); }>("v_mul_f32"),
      valu<[](float a, float b) { return mulLegacy(a, b); }>(
          "v_mul_legacy_f32"),
      byIeeeMode<[](float a, float b) { return minFloat(a, b); },
                 [](float a, float b) { return minFloat<false>(a, b); }>(
          "v_min_f32"),
      byIeeeMode<[](float a, float b) { return maxFloat(a, b); },
                 [](float a, float b) { return maxFloat<false>(a, b); }>(
          "v_max_f32"),
      valu<[](float a, float b, float c) { return fmaFloat(a, b, c); }>(
          "v_fma_f32"),
      valu<[](float a, float b, float c) { return fmaFloat(a, b, c); },
           opAccumulates>("v_fmac_f32"),
      valu<[](float a, float b, float c) { return fmaFloat(a, b, c); },
           opLiteralMid>("v_fmamk_f32"),
      valu<[](float a, float b, float c) { return fmaFloat(a, b, c); },
           opLiteralEnd>("v_fmaak_f32"),
      byIeeeMode<[](float a, float b, float c) {
        return minFloat(minFloat(a, b), c);
      },
                 [](float a, float b, float c) {
                   return minFloat<false>(minFloat<false>(a, b), c);
                 }>("v_min3_f32"),
      byIeeeMode<[](float a, float b, float c) {
        return maxFloat(maxFloat(a, b), c);
      },
                 [](float a, float b, float c) {
                   return maxFloat<false>(maxFloat<false>(a, b), c);
                 }>("v_max3_f32"),
      byIeeeMode<[](float a, float b, float c) { return medFloat(a, b, c); },
                 [](float a, float b, float c) {
                   return medFloat<false>(a, b, c);
                 }>("v_med3_f32"),
      valu<[](float a, float b, float c) { return minimum(minimum(a, b), c); }>(
          "v_minimum3_f32"),
      valu<[](float a, float b, float c) { return maximum(maximum(a, b), c); }>(
          "v_maximum3_f32"),
      valu<[](float a) { return fract(a); }>("v_fract_f32"),
      valu<[](float a) { return withNan(__builtin_truncf(a), a); }>(
          "v_trunc_f32"),
      valu<[](float a) { return withNan(__builtin_ceilf(a), a); }>(
          "v_ceil_f32"),
      valu<[](float a) { return withNan(__builtin_floorf(a), a); }>(
          "v_floor_f32"),
      valu<[](float a) { return withNan(__builtin_roundevenf(a), a); }>(
          "v_rndne_f32"),
      valu<[](float a, int32_t b) { return ldexpFloat(a, b); }>("v_ldexp_f32"),
      valu<[](float a) { return frexpExponent(a); }>("v_frexp_exp_i32_f32"),
      valu<[](float a) { return frexpMantissa(a); }>("v_frexp_mant_f32"),
      valu<[](float a, float b, float c) { return divFixup(a, b, c); }>(
          "v_div_fixup_f32"),
      valu<[](double a, double b, double c) { return divFixup(a, b, c); }>(
          "v_div_fixup_f64"),
      {"v_div_scale_f32",
       execDivScale<float>,
       ValueType::F32,
       {ValueType::F32, ValueType::F32, ValueType::F32},
       opCarryOut},
      {"v_div_scale_f64",
       execDivScale<double>,
       ValueType::F64,
       {ValueType::F64, ValueType::F64, ValueType::F64},
       opCarryOut},
      {"v_div_fmas_f32",
       execDivFmas<float>,
       ValueType::F32,
       {ValueType::F32, ValueType::F32, ValueType::F32}},
      {"v_div_fmas_f64",
       execDivFmas<double>,
       ValueType::F64,
       {ValueType::F64, ValueType::F64, ValueType::F64}},
  };
  return table;
}

} // namespace tenon::sim
