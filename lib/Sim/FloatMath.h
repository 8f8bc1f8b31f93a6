//===- FloatMath.h - float operations as the hardware does them -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host computes the same IEEE results except for NaNs: the hardware returns
// the first NaN operand, made quiet, and a positive NaN for invalid operations.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_SIM_FLOATMATH_H
#define TENON_LIB_SIM_FLOATMATH_H

#include <bit>
#include <cmath>
#include <cstdint>

namespace tenon::sim {

template <typename T> struct FloatBits;
template <> struct FloatBits<float> {
  using Bits = uint32_t;
  static constexpr Bits quiet = 0x00400000, invalid = 0x7FC00000;
};
template <> struct FloatBits<double> {
  using Bits = uint64_t;
  static constexpr Bits quiet = Bits(1) << 51, invalid = Bits(0xFFF) << 51;
};

template <> struct FloatBits<_Float16> {
  using Bits = uint16_t;
  static constexpr Bits quiet = 0x0200, invalid = 0x7E00;
};

// What a lane computes must be inlined, or the loop over lanes stays scalar.
#pragma clang attribute push(__attribute__((always_inline)),                   \
                             apply_to = function)

template <typename T> inline T quieted(T value) {
  using Bits = typename FloatBits<T>::Bits;
  return std::bit_cast<T>(
      Bits(std::bit_cast<Bits>(value) | FloatBits<T>::quiet));
}

/// `result`, unless it is a NaN: then the NaN the hardware would return.
template <typename T> inline T withNan(T result, T a) {
  T nan = a != a ? quieted(a) : std::bit_cast<T>(FloatBits<T>::invalid);
  return result != result ? nan : result;
}
template <typename T> inline T withNan(T result, T a, T b) {
  T nan = std::bit_cast<T>(FloatBits<T>::invalid);
  nan = b != b ? quieted(b) : nan;
  nan = a != a ? quieted(a) : nan;
  return result != result ? nan : result;
}
template <typename T> inline T withNan(T result, T a, T b, T c) {
  T nan = std::bit_cast<T>(FloatBits<T>::invalid);
  nan = c != c ? quieted(c) : nan;
  nan = b != b ? quieted(b) : nan;
  nan = a != a ? quieted(a) : nan;
  return result != result ? nan : result;
}

template <typename T> inline T addFloat(T a, T b) {
  return withNan(a + b, a, b);
}
template <typename T> inline T subFloat(T a, T b) {
  return withNan(a - b, a, b);
}
template <typename T> inline T mulFloat(T a, T b) {
  return withNan(a * b, a, b);
}
inline float fmaFloat(float a, float b, float c) {
  return withNan(__builtin_fmaf(a, b, c), a, b, c);
}
inline double fmaFloat(double a, double b, double c) {
  return withNan(__builtin_fma(a, b, c), a, b, c);
}

template <typename T> inline bool isSignalling(T value) {
  using Bits = typename FloatBits<T>::Bits;
  return value != value &&
         (std::bit_cast<Bits>(value) & FloatBits<T>::quiet) == 0;
}

/// Of a minimum or maximum: a NaN loses against a number, the first of two
/// against the second. In IEEE mode signalling ones come before all else.
template <bool ieee, typename T> inline T pickNan(T result, T a, T b) {
  result = b != b ? a : result;
  result = a != a ? b : result;
  if constexpr (ieee) {
    result = isSignalling(b) ? quieted(b) : result;
    result = isSignalling(a) ? quieted(a) : result;
  }
  return result;
}

/// Minimum and maximum as V_MIN_F32 and V_MAX_F32 of the CDNA3 ISA have them;
/// -0 is below +0.
template <bool ieee = true, typename T> inline T minFloat(T a, T b) {
  using Bits = typename FloatBits<T>::Bits;
  // Of two zeros the OR of the bits has the sign if any has.
  T equal =
      std::bit_cast<T>(Bits(std::bit_cast<Bits>(a) | std::bit_cast<Bits>(b)));
  return pickNan<ieee>(a < b ? a : (a == b ? equal : b), a, b);
}
template <bool ieee = true, typename T> inline T maxFloat(T a, T b) {
  using Bits = typename FloatBits<T>::Bits;
  T equal =
      std::bit_cast<T>(Bits(std::bit_cast<Bits>(a) & std::bit_cast<Bits>(b)));
  return pickNan<ieee>(a > b ? a : (a == b ? equal : b), a, b);
}

/// Middle of three; with a NaN among them the minimum, as v_med3 does.
template <bool ieee = true, typename T> inline T medFloat(T a, T b, T c) {
  T low = minFloat<ieee>(minFloat<ieee>(a, b), c);
  T high = maxFloat(maxFloat(a, b), c);
  T middle = high == a ? maxFloat(b, c)
                       : (high == b ? maxFloat(a, c) : maxFloat(a, b));
  bool anyNan = (a != a) | (b != b) | (c != c);
  return anyNan ? low : middle;
}

/// Rounds to bfloat16, to nearest even.
inline uint32_t roundToBf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  return value != value ? (bits >> 16) | 0x40 : rounded;
}
inline float bf16ToFloat(uint32_t bits) {
  return std::bit_cast<float>(bits << 16);
}

/// A double rounded to a float so that a second rounding to fewer bits still
/// gives the correctly rounded result (sticky last bit).
inline float roundToOdd(double value) {
  float rounded = float(value);
  double back = rounded;
  uint32_t bits = std::bit_cast<uint32_t>(rounded);
  bool inexact = back != value && value == value;
  bool tooFar = std::fabs(back) > std::fabs(value);
  uint32_t truncated = tooFar ? bits - 1 : bits;
  return std::bit_cast<float>(inexact ? truncated | 1 : bits);
}

#pragma clang attribute pop

} // namespace tenon::sim

#endif // TENON_LIB_SIM_FLOATMATH_H
