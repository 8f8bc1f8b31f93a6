//===- ExecPacked.cpp - packed and mixed-precision operations ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FloatMath.h"
#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

using u32 = uint32_t;

/// The two 32-bit operands that op_sel and op_sel_hi choose from the register
/// pair of source `k`, with their negations.
static void fetchFloatPair(Wave &wave, const Instr &instr, unsigned k,
                           Row (&temp)[2], const u32 *&lo, const u32 *&hi) {
  const Operand &operand = instr.src[k];
  const u32 *pair[2];
  if (operand.kind == OperandKind::Vgpr) {
    pair[0] = wave.v[operand.reg];
    pair[1] = wave.v[operand.reg + 1];
    lo = pair[(instr.opSel >> k) & 1];
    hi = pair[(instr.opSelHi >> k) & 1];
  } else {
    uint64_t value = wave.readScalar64(operand);
    broadcast(temp[0], u32(value >> ((instr.opSel >> k) & 1 ? 32 : 0)));
    broadcast(temp[1], u32(value >> ((instr.opSelHi >> k) & 1 ? 32 : 0)));
    lo = temp[0].lane;
    hi = temp[1].lane;
  }
  if (operand.mods & modNeg) {
    applyModifiers(lo, temp[0], modNeg, 0x80000000);
    lo = temp[0].lane;
  }
  if ((instr.negHi >> k) & 1) {
    applyModifiers(hi, temp[1], modNeg, 0x80000000);
    hi = temp[1].lane;
  }
  if (wave.mode.flushInput32()) {
    flushDenormals(lo, temp[0]);
    flushDenormals(hi, temp[1]);
    lo = temp[0].lane;
    hi = temp[1].lane;
  }
}

template <auto function>
static void execPackedFloat(Wave &wave, const Instr &instr) {
  using Traits = LambdaTraits<decltype(function)>;
  Row temp[3][2], result[2];
  const u32 *lo[3] = {}, *hi[3] = {};
  for (unsigned k = 0; k < Traits::arity; ++k) {
    fetchFloatPair(wave, instr, k, temp[k], lo[k], hi[k]);
  }
  auto compute = [](const u32 *const(&from)[3], u32 *to) {
    TENON_LANES
    for (unsigned i = 0; i < waveSize; ++i) {
      float a = std::bit_cast<float>(from[0][i]);
      float b = std::bit_cast<float>(from[1][i]);
      float value;
      if constexpr (Traits::arity == 3) {
        [[clang::always_inline]] value =
            function(a, b, std::bit_cast<float>(from[2][i]));
      } else {
        [[clang::always_inline]] value = function(a, b);
      }
      to[i] = std::bit_cast<u32>(value);
    }
  };
  compute(lo, result[0].lane);
  compute(hi, result[1].lane);
  if (instr.clamp || wave.mode.flushOutput32()) {
    finishFloat32(wave, instr, result[0]);
    finishFloat32(wave, instr, result[1]);
  }
  writeRow(wave, instr.dst, result[0]);
  writeRow(wave, instr.dst + 1, result[1]);
}

template <auto function>
static constexpr OpcodeInfo packedFloat(llvm::StringLiteral name) {
  constexpr bool three = LambdaTraits<decltype(function)>::arity == 3;
  return {name,
          execPackedFloat<function>,
          ValueType::PackedF32,
          {ValueType::PackedF32, ValueType::PackedF32,
           three ? ValueType::PackedF32 : ValueType::None}};
}

static void execPackedMov(Wave &wave, const Instr &instr) {
  Row temp[2][2], result[2];
  Source a = fetch<uint64_t>(wave, instr, 0, temp[0]);
  Source b = fetch<uint64_t>(wave, instr, 1, temp[1]);
  const u32 *lo = instr.opSel & 1 ? a.hi : a.lo;
  const u32 *hi = instr.opSel & 2 ? b.hi : b.lo;
  std::memcpy(result[0].lane, lo, sizeof(Row));
  std::memcpy(result[1].lane, hi, sizeof(Row));
  writeRow(wave, instr.dst, result[0]);
  writeRow(wave, instr.dst + 1, result[1]);
}

/// The two halves of source `k` that op_sel and op_sel_hi choose, each in the
/// low bits of a row.
template <bool isFloat, bool isBf16 = false>
static void fetchHalves(Wave &wave, const Instr &instr, unsigned k, Row &lo,
                        Row &hi) {
  Row temp[2];
  Source source = fetch<u32>(wave, instr, k, temp);
  unsigned loShift = (instr.opSel >> k) & 1 ? 16 : 0;
  unsigned hiShift = (instr.opSelHi >> k) & 1 ? 16 : 0;
  u32 loFlip = isFloat && (instr.src[k].mods & modNeg) ? 0x8000 : 0;
  u32 hiFlip = isFloat && ((instr.negHi >> k) & 1) ? 0x8000 : 0;
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    lo.lane[i] = ((source.lo[i] >> loShift) & 0xFFFF) ^ loFlip;
    hi.lane[i] = ((source.lo[i] >> hiShift) & 0xFFFF) ^ hiFlip;
  }
  if (isFloat && !isBf16 && wave.mode.flushInput16And64()) [[unlikely]] {
    flushHalfDenormals(lo.lane, lo);
    flushHalfDenormals(hi.lane, hi);
  }
}

template <typename T, auto function>
static void execPackedHalf(Wave &wave, const Instr &instr) {
  using Traits = LambdaTraits<decltype(function)>;
  constexpr bool isFloat = std::is_same_v<T, Half>;
  RoundingOf16And64<isFloat> rounding(wave.mode);
  Row lo[3], hi[3], result[2], packed;
  for (unsigned k = 0; k < Traits::arity; ++k) {
    fetchHalves<isFloat>(wave, instr, k, lo[k], hi[k]);
  }
  auto compute = [](const Row(&from)[3], Row &to) {
    TENON_LANES
    for (unsigned i = 0; i < waveSize; ++i) {
      T a = std::bit_cast<T>(uint16_t(from[0].lane[i]));
      T b = std::bit_cast<T>(uint16_t(from[1].lane[i]));
      T value;
      if constexpr (Traits::arity == 3) {
        [[clang::always_inline]] value =
            function(a, b, std::bit_cast<T>(uint16_t(from[2].lane[i])));
      } else {
        [[clang::always_inline]] value = function(a, b);
      }
      to.lane[i] = std::bit_cast<uint16_t>(value);
    }
  };
  compute(lo, result[0]);
  compute(hi, result[1]);
  if (!isFloat && instr.clamp) {
    return wave.fail("clamp on this operation is not implemented");
  }
  if (isFloat && (instr.clamp || wave.mode.flushOutput16And64())) {
    finishHalf(wave, instr, result[0]);
    finishHalf(wave, instr, result[1]);
  }
  TENON_LANES
  for (unsigned i = 0; i < waveSize; ++i) {
    packed.lane[i] = result[0].lane[i] | result[1].lane[i] << 16;
  }
  writeRow(wave, instr.dst, packed);
}

static uint16_t saturatedU16(int64_t value) {
  return uint16_t(std::clamp<int64_t>(value, 0, 0xFFFF));
}
static int16_t saturatedI16(int64_t value) {
  return int16_t(std::clamp<int64_t>(value, -0x8000, 0x7FFF));
}

template <typename T, auto function>
static constexpr OpcodeInfo packedHalf(llvm::StringLiteral name,
                                       uint32_t flags = opNone) {
  constexpr ValueType type =
      std::is_same_v<T, Half> ? ValueType::PackedF16 : ValueType::PackedI16;
  constexpr bool three = LambdaTraits<decltype(function)>::arity == 3;
  return {name,
          execPackedHalf<T, function>,
          type,
          {type, type, three ? type : ValueType::None},
          flags};
}

/// Integer operations whose clamp bit saturates.
template <typename T, auto plain, auto saturating>
static void execPackedClampable(Wave &wave, const Instr &instr) {
  if (!instr.clamp) {
    return execPackedHalf<T, plain>(wave, instr);
  }
  Instr unclamped = instr;
  unclamped.clamp = false;
  execPackedHalf<T, saturating>(wave, unclamped);
}
template <typename T, auto plain, auto saturating>
static constexpr OpcodeInfo packedClampable(llvm::StringLiteral name) {
  OpcodeInfo info = packedHalf<T, plain>(name);
  info.handler = execPackedClampable<T, plain, saturating>;
  return info;
}

/// Minima and maxima, which the IEEE bit of MODE changes.
template <auto ieee, auto other>
static void execPackedByIeeeMode(Wave &wave, const Instr &instr) {
  wave.mode.ieee() ? execPackedHalf<Half, ieee>(wave, instr)
                   : execPackedHalf<Half, other>(wave, instr);
}
template <auto ieee, auto other>
static constexpr OpcodeInfo packedByIeeeMode(llvm::StringLiteral name) {
  OpcodeInfo info = packedHalf<Half, ieee>(name);
  info.handler = execPackedByIeeeMode<ieee, other>;
  return info;
}

/// Minimum and maximum that propagate NaNs.
static Half minimumHalf(Half a, Half b) {
  float x = a, y = b;
  return Half(x != x || y != y ? withNan(x + y, x, y) : minFloat(x, y));
}
static Half maximumHalf(Half a, Half b) {
  float x = a, y = b;
  return Half(x != x || y != y ? withNan(x + y, x, y) : maxFloat(x, y));
}

/// v_fma_mix: each operand is a float, or the half that op_sel chooses when
/// op_sel_hi says so; neg_hi is the absolute value.
static void fetchMixed(Wave &wave, const Instr &instr, unsigned k, Row &out) {
  Row temp[2];
  Source source = fetch<u32>(wave, instr, k, temp);
  bool isHalf = (instr.opSelHi >> k) & 1;
  unsigned shift = (instr.opSel >> k) & 1 ? 16 : 0;
  // FP_DENORM of each operand's own width.
  if (isHalf) {
    for (unsigned i = 0; i < waveSize; ++i) {
      out.lane[i] = source.lo[i] >> shift;
    }
    if (wave.mode.flushInput16And64()) {
      flushHalfDenormals(out.lane, out);
    }
    for (u32 &lane : out.lane) {
      lane = std::bit_cast<u32>(float(std::bit_cast<Half>(uint16_t(lane))));
    }
  } else {
    std::memcpy(out.lane, source.lo, sizeof(out.lane));
    if (wave.mode.flushInput32()) {
      flushDenormals(out.lane, out);
    }
  }
  uint8_t mods =
      (instr.src[k].mods & modNeg) | ((instr.negHi >> k) & 1 ? modAbs : 0);
  applyModifiers(out.lane, out, mods, 0x80000000);
}

enum class MixResult { Float, LowHalf, HighHalf };

template <MixResult kind>
static void execFmaMix(Wave &wave, const Instr &instr) {
  Row operands[3], result;
  for (unsigned k = 0; k < 3; ++k) {
    fetchMixed(wave, instr, k, operands[k]);
  }
  const u32 *old = wave.v[instr.dst];
  for (unsigned i = 0; i < waveSize; ++i) {
    float a = std::bit_cast<float>(operands[0].lane[i]);
    float b = std::bit_cast<float>(operands[1].lane[i]);
    float c = std::bit_cast<float>(operands[2].lane[i]);
    float value = fmaFloat(a, b, c);
    result.lane[i] = std::bit_cast<u32>(value);
  }
  if (instr.clamp || wave.mode.flushOutput32()) {
    finishFloat32(wave, instr, result);
  }
  if constexpr (kind != MixResult::Float) {
    RoundingOf16And64<true> rounding(wave.mode);
    for (u32 &lane : result.lane) {
      lane = std::bit_cast<uint16_t>(Half(std::bit_cast<float>(lane)));
    }
    if (wave.mode.flushOutput16And64()) {
      flushHalfDenormals(result.lane, result);
    }
    for (unsigned i = 0; i < waveSize; ++i) {
      u32 half = result.lane[i];
      result.lane[i] = kind == MixResult::LowHalf
                           ? (old[i] & 0xFFFF0000) | half
                           : (old[i] & 0xFFFF) | half << 16;
    }
  }
  writeRow(wave, instr.dst, result);
}

/// Dot products of two 16-bit pairs with a 32-bit accumulator.
template <auto toFloat, bool isBf16 = false>
static void execDot2Float(Wave &wave, const Instr &instr) {
  Row lo[2], hi[2], temp[2], result;
  for (unsigned k = 0; k < 2; ++k) {
    fetchHalves<true, isBf16>(wave, instr, k, lo[k], hi[k]);
  }
  Source c = fetch<float>(wave, instr, 2, temp);
  for (unsigned i = 0; i < waveSize; ++i) {
    float sum = laneValue<float>(c, i);
    sum = fmaFloat(toFloat(lo[0].lane[i]), toFloat(lo[1].lane[i]), sum);
    sum = fmaFloat(toFloat(hi[0].lane[i]), toFloat(hi[1].lane[i]), sum);
    result.lane[i] = std::bit_cast<u32>(sum);
  }
  if (instr.clamp || wave.mode.flushOutput32()) {
    finishFloat32(wave, instr, result);
  }
  writeRow(wave, instr.dst, result);
}

/// Dot products of 32 / `bits` integers each with a 32-bit accumulator, which
/// the clamp bit saturates. Op_sel chooses halves of 16-bit operands.
template <unsigned bits, bool isSigned>
static void execDotInteger(Wave &wave, const Instr &instr) {
  Row lo[2], hi[2], words[2], temp[3][2], result;
  for (unsigned k = 0; k < 2; ++k) {
    if constexpr (bits == 16) {
      fetchHalves<false>(wave, instr, k, lo[k], hi[k]);
      for (unsigned i = 0; i < waveSize; ++i) {
        words[k].lane[i] = lo[k].lane[i] | hi[k].lane[i] << 16;
      }
    } else {
      Source source = fetch<u32>(wave, instr, k, temp[k]);
      std::memcpy(words[k].lane, source.lo, sizeof(Row));
    }
  }
  Source c = fetch<u32>(wave, instr, 2, temp[2]);
  for (unsigned i = 0; i < waveSize; ++i) {
    int64_t sum = isSigned ? int64_t(int32_t(c.lo[i])) : int64_t(c.lo[i]);
    for (unsigned at = 0; at < 32; at += bits) {
      auto element = [&](unsigned k) {
        u32 top = words[k].lane[i] << (32 - bits - at);
        return isSigned ? int64_t(int32_t(top) >> (32 - bits))
                        : int64_t(top >> (32 - bits));
      };
      sum += element(0) * element(1);
    }
    if (instr.clamp) {
      sum = isSigned ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX)
                     : std::min<int64_t>(sum, UINT32_MAX);
    }
    result.lane[i] = u32(sum);
  }
  writeRow(wave, instr.dst, result);
}

template <unsigned bits, bool isSigned>
static constexpr OpcodeInfo dotInteger(llvm::StringLiteral name) {
  constexpr ValueType type = bits == 16 ? ValueType::PackedI16 : ValueType::I32;
  return {name,
          execDotInteger<bits, isSigned>,
          ValueType::I32,
          {type, type, ValueType::I32}};
}

/// The e32 and e64 forms of v_dot2c have no op_sel_hi: both halves are meant.
template <auto handler>
static void execBothHalves(Wave &wave, const Instr &instr) {
  Instr packed = instr;
  packed.opSel = 0;
  packed.opSelHi = 7;
  handler(wave, packed);
}

static float halfToFloat(u32 bits) {
  return float(std::bit_cast<Half>(uint16_t(bits)));
}

llvm::ArrayRef<OpcodeInfo> vectorPackedTable() {
  using u16 = uint16_t;
  using i16 = int16_t;
  constexpr auto fromHalf = [](u32 bits) { return halfToFloat(bits); };
  constexpr auto fromBf16 = [](u32 bits) { return bf16ToFloat(bits); };
  static const OpcodeInfo table[] = {
      packedFloat<[](float a, float b) { return addFloat(a, b); }>(
          "v_pk_add_f32"),
      packedFloat<[](float a, float b) { return mulFloat(a, b); }>(
          "v_pk_mul_f32"),
      packedFloat<[](float a, float b, float c) { return fmaFloat(a, b, c); }>(
          "v_pk_fma_f32"),
      {"v_pk_mov_b32",
       execPackedMov,
       ValueType::I64,
       {ValueType::PackedF32, ValueType::PackedF32, ValueType::None}},
      packedHalf<Half,
                 [](Half a, Half b) {
                   return Half(addFloat(float(a), float(b)));
                 }>("v_pk_add_f16"),
      packedHalf<Half,
                 [](Half a, Half b) {
                   return Half(mulFloat(float(a), float(b)));
                 }>("v_pk_mul_f16"),
      packedHalf<Half,
                 [](Half a, Half b, Half c) {
                   float x = a, y = b, z = c;
                   return Half(withNan(roundToOdd(double(x) * y + z), x, y, z));
                 }>("v_pk_fma_f16"),
      packedByIeeeMode<[](Half a, Half b) { return minFloat(a, b); },
                       [](Half a, Half b) { return minFloat<false>(a, b); }>(
          "v_pk_min_f16"),
      packedByIeeeMode<[](Half a, Half b) { return maxFloat(a, b); },
                       [](Half a, Half b) { return maxFloat<false>(a, b); }>(
          "v_pk_max_f16"),
      packedClampable<u16, [](u16 a, u16 b) { return u16(a + b); },
                      [](u16 a, u16 b) { return saturatedU16(int(a) + b); }>(
          "v_pk_add_u16"),
      packedClampable<u16, [](u16 a, u16 b) { return u16(a - b); },
                      [](u16 a, u16 b) { return saturatedU16(int(a) - b); }>(
          "v_pk_sub_u16"),
      packedClampable<i16, [](i16 a, i16 b) { return i16(a + b); },
                      [](i16 a, i16 b) { return saturatedI16(int(a) + b); }>(
          "v_pk_add_i16"),
      packedClampable<i16, [](i16 a, i16 b) { return i16(a - b); },
                      [](i16 a, i16 b) { return saturatedI16(int(a) - b); }>(
          "v_pk_sub_i16"),
      packedHalf<u16, [](u16 a, u16 b) { return u16(u32(a) * b); }>(
          "v_pk_mul_lo_u16"),
      packedClampable<
          u16,
          [](u16 a, u16 b, u16 c) { return u16(u32(a) * u32(b) + u32(c)); },
          [](u16 a, u16 b, u16 c) { return saturatedU16(int64_t(a) * b + c); }>(
          "v_pk_mad_u16"),
      packedClampable<
          i16,
          [](i16 a, i16 b, i16 c) { return i16(u32(a) * u32(b) + u32(c)); },
          [](i16 a, i16 b, i16 c) { return saturatedI16(int64_t(a) * b + c); }>(
          "v_pk_mad_i16"),
      packedHalf<u16, [](u16 a, u16 b) { return u16(b << (a & 15)); }>(
          "v_pk_lshlrev_b16"),
      packedHalf<u16, [](u16 a, u16 b) { return u16(b >> (a & 15)); }>(
          "v_pk_lshrrev_b16"),
      packedHalf<i16, [](i16 a, i16 b) { return i16(b >> (a & 15)); }>(
          "v_pk_ashrrev_i16"),
      packedHalf<u16, [](u16 a, u16 b) { return std::min(a, b); }>(
          "v_pk_min_u16"),
      packedHalf<u16, [](u16 a, u16 b) { return std::max(a, b); }>(
          "v_pk_max_u16"),
      packedHalf<i16, [](i16 a, i16 b) { return std::min(a, b); }>(
          "v_pk_min_i16"),
      packedHalf<i16, [](i16 a, i16 b) { return std::max(a, b); }>(
          "v_pk_max_i16"),
      {"v_fma_mix_f32",
       execFmaMix<MixResult::Float>,
       ValueType::F32,
       {ValueType::F32, ValueType::F32, ValueType::F32}},
      {"v_fma_mixlo_f16",
       execFmaMix<MixResult::LowHalf>,
       ValueType::F32,
       {ValueType::F32, ValueType::F32, ValueType::F32}},
      {"v_fma_mixhi_f16",
       execFmaMix<MixResult::HighHalf>,
       ValueType::F32,
       {ValueType::F32, ValueType::F32, ValueType::F32}},
      {"v_dot2_f32_f16",
       execDot2Float<fromHalf>,
       ValueType::F32,
       {ValueType::PackedF16, ValueType::PackedF16, ValueType::F32}},
      {"v_dot2_f32_bf16",
       execDot2Float<fromBf16, true>,
       ValueType::F32,
       {ValueType::PackedF16, ValueType::PackedF16, ValueType::F32}},
      {"v_dot2c_f32_f16",
       execBothHalves<execDot2Float<fromHalf>>,
       ValueType::F32,
       {ValueType::PackedF16, ValueType::PackedF16, ValueType::None},
       opAccumulates},
      dotInteger<16, true>("v_dot2_i32_i16"),
      dotInteger<16, false>("v_dot2_u32_u16"),
      dotInteger<8, true>("v_dot4_i32_i8"),
      dotInteger<8, false>("v_dot4_u32_u8"),
      dotInteger<4, true>("v_dot8_i32_i4"),
      dotInteger<4, false>("v_dot8_u32_u4"),
      {"v_dot2c_i32_i16",
       execBothHalves<execDotInteger<16, true>>,
       ValueType::I32,
       {ValueType::PackedI16, ValueType::PackedI16, ValueType::None},
       opAccumulates},
      {"v_dot4c_i32_i8",
       execDotInteger<8, true>,
       ValueType::I32,
       {ValueType::I32, ValueType::I32, ValueType::None},
       opAccumulates},
      {"v_dot8c_i32_i4",
       execDotInteger<4, true>,
       ValueType::I32,
       {ValueType::I32, ValueType::I32, ValueType::None},
       opAccumulates},
      packedHalf<Half,
                 [](Half a, Half b, Half c) {
                   return minimumHalf(minimumHalf(a, b), c);
                 }>("v_pk_minimum3_f16"),
      packedHalf<Half,
                 [](Half a, Half b, Half c) {
                   return maximumHalf(maximumHalf(a, b), c);
                 }>("v_pk_maximum3_f16"),
      {"v_pk_fmac_f16",
       execBothHalves<execPackedHalf<Half,
                                     [](Half a, Half b, Half c) {
                                       float x = a, y = b, z = c;
                                       return Half(withNan(
                                           roundToOdd(double(x) * y + z), x, y,
                                           z));
                                     }>>,
       ValueType::PackedF16,
       {ValueType::PackedF16, ValueType::PackedF16, ValueType::None},
       opAccumulates},
      {"v_dot2c_f32_bf16",
       execBothHalves<execDot2Float<fromBf16, true>>,
       ValueType::F32,
       {ValueType::PackedF16, ValueType::PackedF16, ValueType::None},
       opAccumulates},
  };
  return table;
}

} // namespace tenon::sim
