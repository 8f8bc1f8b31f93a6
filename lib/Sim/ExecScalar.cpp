//===- ExecScalar.cpp - scalar arithmetic (SOP1, SOP2, SOPK, SOPC) -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As for vector operations, a lambda makes a table entry; its types tell the
// widths of operands and result, and the rule says what becomes of SCC.
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

#include <algorithm>

namespace tenon::sim {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

/// What an operation does to SCC.
enum class Scc { Keep, NonZero };

template <typename T>
static T scalarOperand(const Wave &wave, const Operand &operand) {
  if constexpr (sizeof(T) == 8) {
    return T(wave.readScalar64(operand));
  } else {
    return T(wave.readScalar(operand));
  }
}

template <typename T> static void putScalar(Wave &wave, unsigned reg, T value) {
  if constexpr (sizeof(T) == 8) {
    wave.setPair(reg, u64(value));
  } else {
    wave.s[reg] = u32(value);
  }
}

/// Operations without access to SCC.
template <auto function, Scc rule>
static void execScalar(Wave &wave, const Instr &instr) {
  using Traits = LambdaTraits<decltype(function)>;
  using R = typename Traits::Result;
  R result;
  if constexpr (Traits::arity == 1) {
    result = function(
        scalarOperand<typename Traits::template Arg<0>>(wave, instr.src[0]));
  } else {
    result = function(
        scalarOperand<typename Traits::template Arg<0>>(wave, instr.src[0]),
        scalarOperand<typename Traits::template Arg<1>>(wave, instr.src[1]));
  }
  putScalar(wave, instr.dst, result);
  if constexpr (rule == Scc::NonZero) {
    wave.scc = result != 0;
  }
}

template <auto function, Scc rule>
static constexpr OpcodeInfo salu(llvm::StringLiteral name) {
  using Traits = LambdaTraits<decltype(function)>;
  OpcodeInfo info = {name, execScalar<function, rule>,
                     valueTypeOf<typename Traits::Result>()};
  info.src[0] = valueTypeOf<typename Traits::template Arg<0>>();
  if constexpr (Traits::arity == 2) {
    info.src[1] = valueTypeOf<typename Traits::template Arg<1>>();
  }
  return info;
}

/// Operations on two words that read or write SCC themselves.
template <auto function>
static void execScalarScc(Wave &wave, const Instr &instr) {
  wave.s[instr.dst] = function(wave.readScalar(instr.src[0]),
                               wave.readScalar(instr.src[1]), wave.scc);
}
template <auto function>
static constexpr OpcodeInfo saluScc(llvm::StringLiteral name) {
  return {name,
          execScalarScc<function>,
          ValueType::I32,
          {ValueType::I32, ValueType::I32, ValueType::None}};
}

/// Compares.
template <auto predicate>
static void execScalarCompare(Wave &wave, const Instr &instr) {
  using Traits = LambdaTraits<decltype(predicate)>;
  wave.scc = predicate(
      scalarOperand<typename Traits::template Arg<0>>(wave, instr.src[0]),
      scalarOperand<typename Traits::template Arg<1>>(wave, instr.src[1]));
}
template <auto predicate>
static constexpr OpcodeInfo compare(llvm::StringLiteral name) {
  using Traits = LambdaTraits<decltype(predicate)>;
  return {name,
          execScalarCompare<predicate>,
          ValueType::None,
          {valueTypeOf<typename Traits::template Arg<0>>(),
           valueTypeOf<typename Traits::template Arg<1>>(), ValueType::None}};
}

/// SOPK: the destination register is the left operand.
template <auto predicate, typename T>
static void execCompareK(Wave &wave, const Instr &instr) {
  T constant = std::is_signed_v<T> ? T(instr.imm) : T(uint16_t(instr.imm));
  wave.scc = predicate(T(wave.s[instr.dst]), constant);
}
template <auto predicate, typename T = u32>
static constexpr OpcodeInfo compareK(llvm::StringLiteral name) {
  return {name,
          execCompareK<predicate, T>,
          ValueType::None,
          {ValueType::I32, ValueType::None, ValueType::None}};
}

/// s_*_saveexec: the old EXEC goes to the destination.
template <auto function>
static void execSaveExec(Wave &wave, const Instr &instr) {
  u64 source = wave.readScalar64(instr.src[0]);
  u64 old = wave.exec();
  u64 result = function(source, old);
  wave.setPair(instr.dst, old);
  wave.setPair(sgprExec, result);
  wave.scc = result != 0;
}
/// s_*_wrexec: the new EXEC goes to the destination as well.
template <auto function>
static void execWriteExec(Wave &wave, const Instr &instr) {
  u64 result = function(wave.readScalar64(instr.src[0]), wave.exec());
  wave.setPair(sgprExec, result);
  wave.setPair(instr.dst, result);
  wave.scc = result != 0;
}
static constexpr OpcodeInfo mask64(llvm::StringLiteral name, Handler handler) {
  return {name,
          handler,
          ValueType::I64,
          {ValueType::I64, ValueType::None, ValueType::None}};
}

template <typename T>
static void execConditionalMove(Wave &wave, const Instr &instr) {
  if (wave.scc) {
    putScalar(wave, instr.dst, scalarOperand<T>(wave, instr.src[0]));
  }
}
template <typename T> static void execSelect(Wave &wave, const Instr &instr) {
  putScalar(wave, instr.dst,
            scalarOperand<T>(wave, instr.src[wave.scc ? 0 : 1]));
}

template <typename T, bool set>
static void execBitSet(Wave &wave, const Instr &instr) {
  T bit = T(1) << (wave.readScalar(instr.src[0]) & (sizeof(T) * 8 - 1));
  T old = sizeof(T) == 8 ? T(wave.pair(instr.dst)) : T(wave.s[instr.dst]);
  putScalar(wave, instr.dst, set ? T(old | bit) : T(old & ~bit));
}

static void execMovK(Wave &wave, const Instr &instr) {
  wave.s[instr.dst] = u32(instr.imm);
}
static void execCmovK(Wave &wave, const Instr &instr) {
  if (wave.scc) {
    wave.s[instr.dst] = u32(instr.imm);
  }
}
static void execAddK(Wave &wave, const Instr &instr) {
  i32 sum;
  wave.scc = __builtin_add_overflow(i32(wave.s[instr.dst]), instr.imm, &sum);
  wave.s[instr.dst] = u32(sum);
}
static void execMulK(Wave &wave, const Instr &instr) {
  wave.s[instr.dst] *= u32(instr.imm);
}

template <typename T> static T bitField(T value, u32 field) {
  constexpr u32 bits = sizeof(T) * 8;
  u32 offset = field & (bits - 1), width = (field >> 16) & 0x7F;
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned low = Unsigned(value) >> offset;
  if (width == 0) {
    return 0;
  }
  width = std::min(width, bits - offset);
  Unsigned up = bits - width;
  return std::is_signed_v<T> ? T(T(low << up) >> up)
                             : T(Unsigned(low << up) >> up);
}

template <typename T> static T wholeQuads(T mask) {
  T any = mask | (mask >> 1);
  any |= any >> 2;
  any &= T(0x1111111111111111);
  return T(any * 15);
}
static u64 quadMask(u64 mask, unsigned quads) {
  u64 result = 0;
  for (unsigned i = 0; i < quads; ++i) {
    result |= u64(((mask >> (4 * i)) & 15) != 0) << i;
  }
  return result;
}
static u64 replicateBits(u32 bits) {
  u64 result = 0;
  for (unsigned i = 0; i < 32; ++i) {
    result |= u64((bits >> i) & 1 ? 3 : 0) << (2 * i);
  }
  return result;
}
static u32 leadingSigns(u64 value, unsigned bits) {
  u64 sign = (value >> (bits - 1)) & 1;
  for (unsigned i = 1; i < bits; ++i) {
    if (((value >> (bits - 1 - i)) & 1) != sign) {
      return i;
    }
  }
  return ~0u;
}

static u32 shiftAdd(u32 a, unsigned shift, u32 b, u32 &scc) {
  u64 sum = (u64(a) << shift) + b;
  scc = sum >> 32 != 0;
  return u32(sum);
}

static void addTwoOperandEntries(std::vector<OpcodeInfo> &table) {
  const OpcodeInfo entries[] = {
      saluScc<[](u32 a, u32 b, u32 &scc) {
        u32 sum = a + b;
        scc = sum < a;
        return sum;
      }>("s_add_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        scc = b > a;
        return a - b;
      }>("s_sub_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        i32 sum;
        scc = __builtin_add_overflow(i32(a), i32(b), &sum);
        return u32(sum);
      }>("s_add_i32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        i32 difference;
        scc = __builtin_sub_overflow(i32(a), i32(b), &difference);
        return u32(difference);
      }>("s_sub_i32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        u64 sum = u64(a) + b + scc;
        scc = u32(sum >> 32);
        return u32(sum);
      }>("s_addc_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        u64 difference = u64(a) - b - scc;
        scc = difference >> 32 != 0;
        return u32(difference);
      }>("s_subb_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        scc = i32(a) < i32(b);
        return scc ? a : b;
      }>("s_min_i32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        scc = a < b;
        return scc ? a : b;
      }>("s_min_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        scc = i32(a) > i32(b);
        return scc ? a : b;
      }>("s_max_i32"),
      saluScc<[](u32 a, u32 b, u32 &scc) {
        scc = a > b;
        return scc ? a : b;
      }>("s_max_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) { return shiftAdd(a, 1, b, scc); }>(
          "s_lshl1_add_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) { return shiftAdd(a, 2, b, scc); }>(
          "s_lshl2_add_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) { return shiftAdd(a, 3, b, scc); }>(
          "s_lshl3_add_u32"),
      saluScc<[](u32 a, u32 b, u32 &scc) { return shiftAdd(a, 4, b, scc); }>(
          "s_lshl4_add_u32"),
      {"s_cselect_b32",
       execSelect<u32>,
       ValueType::I32,
       {ValueType::I32, ValueType::I32, ValueType::None}},
      {"s_cselect_b64",
       execSelect<u64>,
       ValueType::I64,
       {ValueType::I64, ValueType::I64, ValueType::None}},
      salu<[](u32 a, u32 b) { return a & b; }, Scc::NonZero>("s_and_b32"),
      salu<[](u64 a, u64 b) { return a & b; }, Scc::NonZero>("s_and_b64"),
      salu<[](u32 a, u32 b) { return a | b; }, Scc::NonZero>("s_or_b32"),
      salu<[](u64 a, u64 b) { return a | b; }, Scc::NonZero>("s_or_b64"),
      salu<[](u32 a, u32 b) { return a ^ b; }, Scc::NonZero>("s_xor_b32"),
      salu<[](u64 a, u64 b) { return a ^ b; }, Scc::NonZero>("s_xor_b64"),
      salu<[](u32 a, u32 b) { return a & ~b; }, Scc::NonZero>("s_andn2_b32"),
      salu<[](u64 a, u64 b) { return a & ~b; }, Scc::NonZero>("s_andn2_b64"),
      salu<[](u32 a, u32 b) { return a | ~b; }, Scc::NonZero>("s_orn2_b32"),
      salu<[](u64 a, u64 b) { return a | ~b; }, Scc::NonZero>("s_orn2_b64"),
      salu<[](u32 a, u32 b) { return ~(a & b); }, Scc::NonZero>("s_nand_b32"),
      salu<[](u64 a, u64 b) { return ~(a & b); }, Scc::NonZero>("s_nand_b64"),
      salu<[](u32 a, u32 b) { return ~(a | b); }, Scc::NonZero>("s_nor_b32"),
      salu<[](u64 a, u64 b) { return ~(a | b); }, Scc::NonZero>("s_nor_b64"),
      salu<[](u32 a, u32 b) { return ~(a ^ b); }, Scc::NonZero>("s_xnor_b32"),
      salu<[](u64 a, u64 b) { return ~(a ^ b); }, Scc::NonZero>("s_xnor_b64"),
      salu<[](u32 a, u32 b) { return a << (b & 31); }, Scc::NonZero>(
          "s_lshl_b32"),
      salu<[](u64 a, u32 b) { return a << (b & 63); }, Scc::NonZero>(
          "s_lshl_b64"),
      salu<[](u32 a, u32 b) { return a >> (b & 31); }, Scc::NonZero>(
          "s_lshr_b32"),
      salu<[](u64 a, u32 b) { return a >> (b & 63); }, Scc::NonZero>(
          "s_lshr_b64"),
      salu<[](i32 a, u32 b) { return a >> (b & 31); }, Scc::NonZero>(
          "s_ashr_i32"),
      salu<[](i64 a, u32 b) { return a >> (b & 63); }, Scc::NonZero>(
          "s_ashr_i64"),
      salu<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); },
           Scc::Keep>("s_bfm_b32"),
      salu<[](u32 a, u32 b) { return ((u64(1) << (a & 63)) - 1) << (b & 63); },
           Scc::Keep>("s_bfm_b64"),
      salu<[](u32 a, u32 b) { return a * b; }, Scc::Keep>("s_mul_i32"),
      salu<[](u32 a, u32 b) { return u32((u64(a) * b) >> 32); }, Scc::Keep>(
          "s_mul_hi_u32"),
      salu<[](i32 a, i32 b) { return i32((i64(a) * b) >> 32); }, Scc::Keep>(
          "s_mul_hi_i32"),
      salu<[](u32 a, u32 b) { return bitField<u32>(a, b); }, Scc::NonZero>(
          "s_bfe_u32"),
      salu<[](i32 a, u32 b) { return bitField<i32>(a, b); }, Scc::NonZero>(
          "s_bfe_i32"),
      salu<[](u64 a, u32 b) { return bitField<u64>(a, b); }, Scc::NonZero>(
          "s_bfe_u64"),
      salu<[](i64 a, u32 b) { return bitField<i64>(a, b); }, Scc::NonZero>(
          "s_bfe_i64"),
      salu<[](i32 a, i32 b) {
        return a > b ? u32(a) - u32(b) : u32(b) - u32(a);
      },
           Scc::NonZero>("s_absdiff_i32"),
      salu<[](u32 a, u32 b) { return (a & 0xFFFF) | (b << 16); }, Scc::Keep>(
          "s_pack_ll_b32_b16"),
      salu<[](u32 a, u32 b) { return (a & 0xFFFF) | (b & 0xFFFF0000); },
           Scc::Keep>("s_pack_lh_b32_b16"),
      salu<[](u32 a, u32 b) { return (a >> 16) | (b & 0xFFFF0000); },
           Scc::Keep>("s_pack_hh_b32_b16"),
  };
  table.insert(table.end(), std::begin(entries), std::end(entries));
}

static void addOneOperandEntries(std::vector<OpcodeInfo> &table) {
  constexpr ValueType b32 = ValueType::I32, b64 = ValueType::I64,
                      none = ValueType::None;
  const OpcodeInfo entries[] = {
      salu<[](u32 a) { return a; }, Scc::Keep>("s_mov_b32"),
      salu<[](u64 a) { return a; }, Scc::Keep>("s_mov_b64"),
      {"s_cmov_b32", execConditionalMove<u32>, b32, {b32, none, none}},
      {"s_cmov_b64", execConditionalMove<u64>, b64, {b64, none, none}},
      salu<[](u32 a) { return ~a; }, Scc::NonZero>("s_not_b32"),
      salu<[](u64 a) { return ~a; }, Scc::NonZero>("s_not_b64"),
      salu<[](u32 a) { return wholeQuads(a); }, Scc::NonZero>("s_wqm_b32"),
      salu<[](u64 a) { return wholeQuads(a); }, Scc::NonZero>("s_wqm_b64"),
      salu<[](u32 a) { return __builtin_bitreverse32(a); }, Scc::Keep>(
          "s_brev_b32"),
      salu<[](u64 a) { return u64(__builtin_bitreverse64(a)); }, Scc::Keep>(
          "s_brev_b64"),
      salu<[](u32 a) { return u32(std::popcount(~a)); }, Scc::NonZero>(
          "s_bcnt0_i32_b32"),
      salu<[](u64 a) { return u32(std::popcount(~a)); }, Scc::NonZero>(
          "s_bcnt0_i32_b64"),
      salu<[](u32 a) { return u32(std::popcount(a)); }, Scc::NonZero>(
          "s_bcnt1_i32_b32"),
      salu<[](u64 a) { return u32(std::popcount(a)); }, Scc::NonZero>(
          "s_bcnt1_i32_b64"),
      salu<[](u32 a) { return ~a ? u32(std::countr_one(a)) : ~0u; }, Scc::Keep>(
          "s_ff0_i32_b32"),
      salu<[](u64 a) { return ~a ? u32(std::countr_one(a)) : ~0u; }, Scc::Keep>(
          "s_ff0_i32_b64"),
      salu<[](u32 a) { return a ? u32(std::countr_zero(a)) : ~0u; }, Scc::Keep>(
          "s_ff1_i32_b32"),
      salu<[](u64 a) { return a ? u32(std::countr_zero(a)) : ~0u; }, Scc::Keep>(
          "s_ff1_i32_b64"),
      salu<[](u32 a) { return a ? u32(std::countl_zero(a)) : ~0u; }, Scc::Keep>(
          "s_flbit_i32_b32"),
      salu<[](u64 a) { return a ? u32(std::countl_zero(a)) : ~0u; }, Scc::Keep>(
          "s_flbit_i32_b64"),
      salu<[](u32 a) { return leadingSigns(a, 32); }, Scc::Keep>("s_flbit_i32"),
      salu<[](u64 a) { return leadingSigns(a, 64); }, Scc::Keep>(
          "s_flbit_i32_i64"),
      salu<[](u32 a) { return i32(int8_t(a)); }, Scc::Keep>("s_sext_i32_i8"),
      salu<[](u32 a) { return i32(int16_t(a)); }, Scc::Keep>("s_sext_i32_i16"),
      salu<[](u32 a) { return i32(a) < 0 ? -a : a; }, Scc::NonZero>(
          "s_abs_i32"),
      salu<[](u32 a) { return u32(quadMask(a, 8)); }, Scc::NonZero>(
          "s_quadmask_b32"),
      salu<[](u64 a) { return quadMask(a, 16); }, Scc::NonZero>(
          "s_quadmask_b64"),
      salu<[](u32 a) { return replicateBits(a); }, Scc::Keep>(
          "s_bitreplicate_b64_b32"),
      {"s_bitset0_b32", execBitSet<u32, false>, b32, {b32, none, none}},
      {"s_bitset0_b64", execBitSet<u64, false>, b64, {b32, none, none}},
      {"s_bitset1_b32", execBitSet<u32, true>, b32, {b32, none, none}},
      {"s_bitset1_b64", execBitSet<u64, true>, b64, {b32, none, none}},
      mask64("s_and_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return a & exec; }>),
      mask64("s_or_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return a | exec; }>),
      mask64("s_xor_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return a ^ exec; }>),
      mask64("s_andn2_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return a & ~exec; }>),
      mask64("s_orn2_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return a | ~exec; }>),
      mask64("s_andn1_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return ~a & exec; }>),
      mask64("s_orn1_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return ~a | exec; }>),
      mask64("s_nand_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return ~(a & exec); }>),
      mask64("s_nor_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return ~(a | exec); }>),
      mask64("s_xnor_saveexec_b64",
             execSaveExec<[](u64 a, u64 exec) { return ~(a ^ exec); }>),
      mask64("s_andn1_wrexec_b64",
             execWriteExec<[](u64 a, u64 exec) { return ~a & exec; }>),
      mask64("s_andn2_wrexec_b64",
             execWriteExec<[](u64 a, u64 exec) { return a & ~exec; }>),
  };
  table.insert(table.end(), std::begin(entries), std::end(entries));
}

static void addCompareEntries(std::vector<OpcodeInfo> &table) {
  constexpr ValueType b32 = ValueType::I32, none = ValueType::None;
  const OpcodeInfo entries[] = {
      compare<[](i32 a, i32 b) { return a == b; }>("s_cmp_eq_i32"),
      compare<[](i32 a, i32 b) { return a != b; }>("s_cmp_lg_i32"),
      compare<[](i32 a, i32 b) { return a > b; }>("s_cmp_gt_i32"),
      compare<[](i32 a, i32 b) { return a >= b; }>("s_cmp_ge_i32"),
      compare<[](i32 a, i32 b) { return a < b; }>("s_cmp_lt_i32"),
      compare<[](i32 a, i32 b) { return a <= b; }>("s_cmp_le_i32"),
      compare<[](u32 a, u32 b) { return a == b; }>("s_cmp_eq_u32"),
      compare<[](u32 a, u32 b) { return a != b; }>("s_cmp_lg_u32"),
      compare<[](u32 a, u32 b) { return a > b; }>("s_cmp_gt_u32"),
      compare<[](u32 a, u32 b) { return a >= b; }>("s_cmp_ge_u32"),
      compare<[](u32 a, u32 b) { return a < b; }>("s_cmp_lt_u32"),
      compare<[](u32 a, u32 b) { return a <= b; }>("s_cmp_le_u32"),
      compare<[](u64 a, u64 b) { return a == b; }>("s_cmp_eq_u64"),
      compare<[](u64 a, u64 b) { return a != b; }>("s_cmp_lg_u64"),
      compare<[](u32 a, u32 b) { return !((a >> (b & 31)) & 1); }>(
          "s_bitcmp0_b32"),
      compare<[](u32 a, u32 b) { return (a >> (b & 31)) & 1; }>(
          "s_bitcmp1_b32"),
      compare<[](u64 a, u32 b) { return !((a >> (b & 63)) & 1); }>(
          "s_bitcmp0_b64"),
      compare<[](u64 a, u32 b) { return (a >> (b & 63)) & 1; }>(
          "s_bitcmp1_b64"),
      compareK<[](i32 a, i32 b) { return a == b; }, i32>("s_cmpk_eq_i32"),
      compareK<[](i32 a, i32 b) { return a != b; }, i32>("s_cmpk_lg_i32"),
      compareK<[](i32 a, i32 b) { return a > b; }, i32>("s_cmpk_gt_i32"),
      compareK<[](i32 a, i32 b) { return a >= b; }, i32>("s_cmpk_ge_i32"),
      compareK<[](i32 a, i32 b) { return a < b; }, i32>("s_cmpk_lt_i32"),
      compareK<[](i32 a, i32 b) { return a <= b; }, i32>("s_cmpk_le_i32"),
      compareK<[](u32 a, u32 b) { return a == b; }>("s_cmpk_eq_u32"),
      compareK<[](u32 a, u32 b) { return a != b; }>("s_cmpk_lg_u32"),
      compareK<[](u32 a, u32 b) { return a > b; }>("s_cmpk_gt_u32"),
      compareK<[](u32 a, u32 b) { return a >= b; }>("s_cmpk_ge_u32"),
      compareK<[](u32 a, u32 b) { return a < b; }>("s_cmpk_lt_u32"),
      compareK<[](u32 a, u32 b) { return a <= b; }>("s_cmpk_le_u32"),
      {"s_movk_i32", execMovK, b32},
      {"s_cmovk_i32", execCmovK, b32, {b32, none, none}},
      {"s_addk_i32", execAddK, b32, {b32, none, none}},
      {"s_mulk_i32", execMulK, b32, {b32, none, none}},
  };
  table.insert(table.end(), std::begin(entries), std::end(entries));
}

llvm::ArrayRef<OpcodeInfo> scalarAluTable() {
  static const std::vector<OpcodeInfo> table = [] {
    std::vector<OpcodeInfo> entries;
    addTwoOperandEntries(entries);
    addOneOperandEntries(entries);
    addCompareEntries(entries);
    return entries;
  }();
  return table;
}

} // namespace tenon::sim
