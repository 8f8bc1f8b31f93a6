//===- ExecWide.cpp - 64-bit vector arithmetic ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatMath.h"
#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

static double ldexpDouble(double a, i32 exponent) {
  return withNan(std::ldexp(a, std::clamp(exponent, -3000, 3000)), a);
}

static i32 frexpExponent(double a) {
  if (a == 0 || !std::isfinite(a)) {
    return 0;
  }
  int exponent;
  std::frexp(a, &exponent);
  return exponent;
}

static double frexpMantissa(double a) {
  if (!std::isfinite(a)) {
    return withNan(a, a);
  }
  int exponent;
  return std::frexp(a, &exponent);
}

static double fract(double a) {
  double part = a - std::floor(a);
  double below = std::bit_cast<double>(u64(0x3FEFFFFFFFFFFFFF));
  double result = part > below ? below : part;
  return withNan(std::isinf(a) ? a - a : result, a);
}

llvm::ArrayRef<OpcodeInfo> vectorWideTable() {
  static const OpcodeInfo table[] = {
      valu<[](u64 a) { return a; }>("v_mov_b64"),
      valu<[](u32 a, u64 b) { return b << (a & 63); }>("v_lshlrev_b64"),
      valu<[](u32 a, u64 b) { return b >> (a & 63); }>("v_lshrrev_b64"),
      valu<[](u32 a, i64 b) { return b >> (a & 63); }>("v_ashrrev_i64"),
      valu<[](u64 a, u32 b, u64 c) { return (a << (b & 7)) + c; }>(
          "v_lshl_add_u64"),
      valu<[](double a, double b) { return addFloat(a, b); }>("v_add_f64"),
      valu<[](double a, double b) { return mulFloat(a, b); }>("v_mul_f64"),
      byIeeeMode<[](double a, double b) { return minFloat(a, b); },
                 [](double a, double b) { return minFloat<false>(a, b); }>(
          "v_min_f64"),
      byIeeeMode<[](double a, double b) { return maxFloat(a, b); },
                 [](double a, double b) { return maxFloat<false>(a, b); }>(
          "v_max_f64"),
      valu<[](double a, double b, double c) { return fmaFloat(a, b, c); }>(
          "v_fma_f64"),
      valu<[](double a, double b, double c) { return fmaFloat(a, b, c); },
           opAccumulates>("v_fmac_f64"),
      valu<[](double a) { return fract(a); }>("v_fract_f64"),
      valu<[](double a) { return withNan(__builtin_trunc(a), a); }>(
          "v_trunc_f64"),
      valu<[](double a) { return withNan(__builtin_ceil(a), a); }>(
          "v_ceil_f64"),
      valu<[](double a) { return withNan(__builtin_floor(a), a); }>(
          "v_floor_f64"),
      valu<[](double a) { return withNan(__builtin_roundeven(a), a); }>(
          "v_rndne_f64"),
      valu<[](double a, i32 b) { return ldexpDouble(a, b); }>("v_ldexp_f64"),
      valu<[](double a) { return frexpExponent(a); }>("v_frexp_exp_i32_f64"),
      valu<[](double a) { return frexpMantissa(a); }>("v_frexp_mant_f64"),
  };
  return table;
}

} // namespace tenon::sim
