//===- ExecTranscendental.cpp - exp, log, rcp, rsq, sqrt, sin ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hardware's last bits are not published. Here results are computed in
// double precision to about 1e-16 and rounded once, and moved by a perturbed
// launch; single-precision forms flush denormals on both sides whatever the
// MODE register says, as documented.
//
//===----------------------------------------------------------------------===//

#include "FloatMath.h"
#include "Lanes.h"
#include "Perturb.h"

#include <cmath>

namespace tenon::sim {

// What a lane computes must be inlined, or the loop over lanes stays scalar.
#pragma clang attribute push(__attribute__((always_inline)),                   \
                             apply_to = function)

static float flushed(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  return std::bit_cast<float>((bits & 0x7F800000) == 0 ? bits & 0x80000000
                                                       : bits);
}

/// Nearest integer of |x| < 2^51, as a double and in the low bits of `bits`.
static double roundByShift(double x, uint64_t &bits) {
  constexpr double shift = 0x1.8p52;
  double shifted = x + shift;
  bits = std::bit_cast<uint64_t>(shifted);
  return shifted - shift;
}

/// 2^x for |x| < 1000: a Taylor series in r * ln 2, |r| <= 1/2.
static double exp2Double(double x) {
  uint64_t bits;
  double r = (x - roundByShift(x, bits)) * 0x1.62e42fefa39efp-1;
  double p = 1.0 / 6227020800;
  p = __builtin_fma(p, r, 1.0 / 479001600);
  p = __builtin_fma(p, r, 1.0 / 39916800);
  p = __builtin_fma(p, r, 1.0 / 3628800);
  p = __builtin_fma(p, r, 1.0 / 362880);
  p = __builtin_fma(p, r, 1.0 / 40320);
  p = __builtin_fma(p, r, 1.0 / 5040);
  p = __builtin_fma(p, r, 1.0 / 720);
  p = __builtin_fma(p, r, 1.0 / 120);
  p = __builtin_fma(p, r, 1.0 / 24);
  p = __builtin_fma(p, r, 1.0 / 6);
  p = __builtin_fma(p, r, 0.5);
  p = __builtin_fma(p, r, 1.0);
  p = __builtin_fma(p, r, 1.0);
  return std::bit_cast<double>(std::bit_cast<uint64_t>(p) + (bits << 52));
}

static float exp2Float(float a) {
  double x = flushed(a);
  x = x > 200 ? 200 : (x < -200 ? -200 : x);
  float result = flushed(float(exp2Double(x)));
  return a != a ? quieted(a) : result;
}

/// log2 of a normal positive double, by atanh of (m - 1) / (m + 1).
static double log2Double(double x) {
  uint64_t bits = std::bit_cast<uint64_t>(x);
  // Subtracting sqrt(1/2) moves the exponent so that m is in [0.707, 1.414).
  uint64_t shifted = bits - 0x3FE6A09E667F3BCD;
  int32_t exponent = int32_t(uint32_t(shifted >> 32)) >> 20;
  double m = std::bit_cast<double>(bits - (shifted & 0xFFF0000000000000));
  double f = (m - 1) / (m + 1);
  double s = f * f;
  double p = 1.0 / 25;
  p = __builtin_fma(p, s, 1.0 / 23);
  p = __builtin_fma(p, s, 1.0 / 21);
  p = __builtin_fma(p, s, 1.0 / 19);
  p = __builtin_fma(p, s, 1.0 / 17);
  p = __builtin_fma(p, s, 1.0 / 15);
  p = __builtin_fma(p, s, 1.0 / 13);
  p = __builtin_fma(p, s, 1.0 / 11);
  p = __builtin_fma(p, s, 1.0 / 9);
  p = __builtin_fma(p, s, 1.0 / 7);
  p = __builtin_fma(p, s, 1.0 / 5);
  p = __builtin_fma(p, s, 1.0 / 3);
  p = __builtin_fma(p, s, 1.0);
  return __builtin_fma(p * f, 2.0 * 0x1.71547652b82fep+0, double(exponent));
}

static float log2Float(float a) {
  float x = flushed(a);
  float inf = __builtin_inff();
  float result = float(log2Double(x > 0 && x < inf ? x : 1.0f));
  result = x == inf ? inf : result;
  result = x == 0 ? -inf : result;
  result = x < 0 ? std::bit_cast<float>(FloatBits<float>::invalid) : result;
  return a != a ? quieted(a) : result;
}

static float rcpFloat(float a) {
  return withNan(flushed(float(1.0 / double(flushed(a)))), a);
}
static float sqrtFloat(float a) {
  return withNan(flushed(float(__builtin_sqrt(double(flushed(a))))), a);
}
static float rsqFloat(float a) {
  return withNan(flushed(float(1.0 / __builtin_sqrt(double(flushed(a))))), a);
}

/// sin(2 pi r) for |r| <= 1/4.
static double sinTurns(double r) {
  double x = r * 0x1.921fb54442d18p+2;
  double s = x * x;
  double p = 1.0 / 51090942171709440000.0;
  p = __builtin_fma(p, s, -1.0 / 121645100408832000.0);
  p = __builtin_fma(p, s, 1.0 / 355687428096000.0);
  p = __builtin_fma(p, s, -1.0 / 1307674368000.0);
  p = __builtin_fma(p, s, 1.0 / 6227020800.0);
  p = __builtin_fma(p, s, -1.0 / 39916800.0);
  p = __builtin_fma(p, s, 1.0 / 362880.0);
  p = __builtin_fma(p, s, -1.0 / 5040.0);
  p = __builtin_fma(p, s, 1.0 / 120.0);
  p = __builtin_fma(p, s, -1.0 / 6.0);
  return __builtin_fma(x * s, p, x);
}

// The argument counts turns; beyond 256 turns the hardware gives sin 0, cos 1.
static float sinFloat(float a) {
  double x = flushed(a);
  bool inRange = x >= -256 && x <= 256;
  x = inRange ? x : 0;
  uint64_t bits;
  double r = x - roundByShift(x, bits);
  r = r > 0.25 ? 0.5 - r : (r < -0.25 ? -0.5 - r : r);
  float result = flushed(float(sinTurns(r)));
  return withNan(a - a != 0 ? a - a : result, a);
}
static float cosFloat(float a) {
  double x = flushed(a);
  bool inRange = x >= -256 && x <= 256;
  x = inRange ? x : 0;
  uint64_t bits;
  double r = x - roundByShift(x, bits);
  float result = flushed(float(sinTurns(0.25 - __builtin_fabs(r))));
  return withNan(a - a != 0 ? a - a : result, a);
}

// Half precision goes through the double-precision functions as well; float
// holds every half, and the rounding to odd keeps the second one exact.
static Half rcpHalf(Half a) {
  return Half(withNan(roundToOdd(1.0 / double(float(a))), float(a)));
}
static Half sqrtHalf(Half a) {
  return Half(withNan(roundToOdd(__builtin_sqrt(double(float(a)))), float(a)));
}
static Half rsqHalf(Half a) {
  return Half(
      withNan(roundToOdd(1.0 / __builtin_sqrt(double(float(a)))), float(a)));
}
static Half exp2Half(Half a) {
  double x = float(a);
  double bounded = x > 100 ? 100 : (x < -100 ? -100 : x);
  return Half(a != a ? quieted(float(a)) : roundToOdd(exp2Double(bounded)));
}
static Half log2Half(Half a) {
  float x = a;
  float inf = __builtin_inff();
  float result = roundToOdd(log2Double(x > 0 && x < inf ? x : 1.0f));
  result = x == inf ? inf : (x == 0 ? -inf : result);
  result = x < 0 ? std::bit_cast<float>(FloatBits<float>::invalid) : result;
  return Half(x != x ? quieted(x) : result);
}
static Half sinHalf(Half a) { return Half(sinFloat(float(a))); }
static Half cosHalf(Half a) { return Half(cosFloat(float(a))); }

#pragma clang attribute pop

// What rounding alone separates from the results of the reciprocals and roots.
static double rcpExact(double a) { return 1.0 / a; }
static double sqrtExact(double a) { return __builtin_sqrt(a); }
static double rsqExact(double a) { return 1.0 / __builtin_sqrt(a); }

/// Moves the results of active lanes by one unit in the last place or none.
/// Zeros, infinities and NaNs stay, and no result leaves the normal numbers.
/// With `exact` a moved result is the value on the other side of the exact one:
/// code such as integer division relies on an error below one unit.
template <typename T, auto exact>
static void perturbResults(Wave &wave, const Instr &instr, const Row *input) {
  constexpr bool isHalf = std::is_same_v<T, Half>;
  using Bits = std::conditional_t<
      isHalf, uint16_t, std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>>;
  constexpr unsigned mantissaBits = isHalf ? 10 : (sizeof(T) == 8 ? 52 : 23);
  constexpr Bits exponentMask = Bits(Bits(~Bits(0)) >> (mantissaBits + 1))
                                << mantissaBits;
  unsigned shift = isHalf && (instr.opSel & 8) ? 16 : 0;
  for (uint64_t rest = wave.exec(); rest; rest &= rest - 1) {
    unsigned lane = std::countr_zero(rest);
    uint32_t *lo = &wave.v[instr.dst][lane], *hi = &wave.v[instr.dst + 1][lane];
    uint64_t bits = uint64_t(*lo) >> shift;
    if (sizeof(T) == 8) {
      bits |= uint64_t(*hi) << 32;
    }
    uint64_t in = input[0].lane[lane] | uint64_t(input[1].lane[lane]) << 32;
    auto isNormal = [](Bits value) {
      Bits exponent = value & exponentMask;
      return exponent != 0 && exponent != exponentMask;
    };
    int step = perturbation(wave, instr, lane, in);
    if constexpr (!std::is_null_pointer_v<decltype(exact)>) {
      static_assert(std::is_same_v<T, float>);
      double truth = exact(std::bit_cast<float>(input[0].lane[lane]));
      double rounded = std::bit_cast<float>(uint32_t(bits));
      double excess = std::fabs(rounded) - std::fabs(truth);
      step = step == 0 || excess == 0 ? 0 : (excess > 0 ? -1 : 1);
    }
    Bits moved = Bits(Bits(bits) + Bits(step));
    if (!isNormal(Bits(bits)) || !isNormal(moved)) {
      continue;
    }
    if constexpr (isHalf) {
      *lo = (*lo & ~(0xFFFFu << shift)) | uint32_t(moved) << shift;
    } else {
      *lo = uint32_t(moved);
      if constexpr (sizeof(T) == 8) {
        *hi = uint32_t(moved >> 32);
      }
    }
  }
}

template <auto function, auto exact>
static void execInexact(Wave &wave, const Instr &instr) {
  using T = typename LambdaTraits<decltype(function)>::Result;
  if (!wave.perturb || instr.clamp || instr.omod) [[likely]] {
    return execValu<function, opNone>(wave, instr);
  }
  Row temp[2], input[2] = {};
  Source source = fetch<T>(wave, instr, 0, temp);
  std::memcpy(input[0].lane, source.lo, sizeof(Row));
  if constexpr (sizeof(T) == 8) {
    std::memcpy(input[1].lane, source.hi, sizeof(Row));
  }
  execValu<function, opNone>(wave, instr);
  perturbResults<T, exact>(wave, instr, input);
}

/// Table entry of an operation whose last bit the hardware does not publish.
template <auto function, auto exact = nullptr>
static constexpr OpcodeInfo inexact(llvm::StringLiteral name) {
  OpcodeInfo info = valu<function>(name);
  info.handler = execInexact<function, exact>;
  return info;
}

llvm::ArrayRef<OpcodeInfo> transcendentalTable() {
  static const OpcodeInfo table[] = {
      inexact<[](float a) { return exp2Float(a); }>("v_exp_f32"),
      inexact<[](float a) { return exp2Float(a); }>("v_exp_legacy_f32"),
      inexact<[](float a) { return log2Float(a); }>("v_log_f32"),
      inexact<[](float a) { return log2Float(a); }>("v_log_legacy_f32"),
      inexact<[](float a) { return rcpFloat(a); }, rcpExact>("v_rcp_f32"),
      inexact<[](float a) { return rcpFloat(a); }, rcpExact>("v_rcp_iflag_f32"),
      inexact<[](float a) { return rsqFloat(a); }, rsqExact>("v_rsq_f32"),
      inexact<[](float a) { return sqrtFloat(a); }, sqrtExact>("v_sqrt_f32"),
      inexact<[](float a) { return sinFloat(a); }>("v_sin_f32"),
      inexact<[](float a) { return cosFloat(a); }>("v_cos_f32"),
      inexact<[](double a) { return withNan(1.0 / a, a); }>("v_rcp_f64"),
      inexact<[](double a) { return withNan(1.0 / __builtin_sqrt(a), a); }>(
          "v_rsq_f64"),
      inexact<[](double a) { return withNan(__builtin_sqrt(a), a); }>(
          "v_sqrt_f64"),
      inexact<[](Half a) { return rcpHalf(a); }>("v_rcp_f16"),
      inexact<[](Half a) { return sqrtHalf(a); }>("v_sqrt_f16"),
      inexact<[](Half a) { return rsqHalf(a); }>("v_rsq_f16"),
      inexact<[](Half a) { return exp2Half(a); }>("v_exp_f16"),
      inexact<[](Half a) { return log2Half(a); }>("v_log_f16"),
      inexact<[](Half a) { return sinHalf(a); }>("v_sin_f16"),
      inexact<[](Half a) { return cosHalf(a); }>("v_cos_f16"),
  };
  return table;
}

} // namespace tenon::sim
