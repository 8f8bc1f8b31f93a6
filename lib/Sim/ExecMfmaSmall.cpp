//===- ExecMfmaSmall.cpp - matrix products of 8-, 6-, 4-bit floats -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of these formats are exact in double precision. Each block of 32
// along K is summed, scaled, and added to C; the sum is rounded once. EXEC is
// ignored.
//
//===----------------------------------------------------------------------===//

#include "FloatMath.h"
#include "Lanes.h"
#include "Program.h"
#include "SmallFloat.h"

namespace tenon::sim {

/// Element `index` of the `bits` wide elements that a lane holds.
static uint32_t elementAt(const Wave &wave, unsigned row, unsigned lane,
                          unsigned index, unsigned bits) {
  unsigned at = index * bits;
  uint64_t word = wave.v[row + at / 32][lane];
  if (at % 32 + bits > 32) {
    word |= uint64_t(wave.v[row + at / 32 + 1][lane]) << 32;
  }
  return uint32_t(word >> (at % 32)) & ((1u << bits) - 1);
}

/// K index of element `index` in lane group `group`. 8-bit operands of the
/// f8f6f4 instructions hold two runs of 16, everything else one run.
static unsigned contractionIndex(unsigned index, unsigned group,
                                 unsigned groups, unsigned perLane,
                                 bool twoRuns) {
  if (!twoRuns) {
    return group * perLane + index;
  }
  return index / 16 * 16 * groups + 16 * group + index % 16;
}

template <unsigned size, unsigned k>
static void expandSmall(const Wave &wave, const Operand &operand,
                        SmallFormat format, bool twoRuns,
                        float (&out)[size][k]) {
  constexpr unsigned groups = waveSize / size, perLane = k / groups;
  const std::array<float, 256> &values =
      smallFloatValues(format, wave.program->processor());
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    for (unsigned index = 0; index < perLane; ++index) {
      uint32_t code = elementAt(wave, operand.reg, lane, index, bitsOf(format));
      unsigned at =
          contractionIndex(index, lane / size, groups, perLane, twoRuns);
      out[lane % size][at] = values[code];
    }
  }
}

/// The E8M0 scale of each row and block, from the lane that holds both.
template <unsigned size>
static void expandScales(Wave &wave, const Operand &operand, unsigned byte,
                         double (&out)[size][waveSize / size]) {
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    uint32_t word = operand.kind == OperandKind::Vgpr
                        ? wave.v[operand.reg][lane]
                        : wave.readScalar(operand);
    unsigned scale = (word >> (8 * byte)) & 0xFF;
    out[lane % size][lane / size] =
        scale == 0xFF ? std::nan("") : std::ldexp(1.0, int(scale) - 127);
  }
}

template <unsigned size, unsigned k>
static void multiplySmall(Wave &wave, const Instr &instr, SmallFormat formatA,
                          SmallFormat formatB, bool isF8f6f4, bool scaled) {
  constexpr unsigned groups = waveSize / size, blockSize = k / groups;
  constexpr unsigned registers = size * size / waveSize;
  static thread_local float a[size][k], b[size][k];
  double scaleA[size][groups], scaleB[size][groups];
  expandSmall<size, k>(wave, instr.src[0], formatA,
                       isF8f6f4 && bitsOf(formatA) == 8, a);
  expandSmall<size, k>(wave, instr.src[1], formatB,
                       isF8f6f4 && bitsOf(formatB) == 8, b);
  if (scaled) {
    expandScales<size>(wave, instr.scale[0], instr.opSel & 3, scaleA);
    expandScales<size>(wave, instr.scale[1], instr.opSel >> 2, scaleB);
  }
  Row result[registers];
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned lane = 0; lane < waveSize; ++lane) {
      unsigned group = lane / size, column = lane % size;
      unsigned row =
          size == 16 ? 4 * group + v : 8 * (v / 4) + 4 * group + v % 4;
      const Operand &c = instr.src[2];
      double sum = std::bit_cast<float>(c.kind == OperandKind::Vgpr
                                            ? wave.v[c.reg + v][lane]
                                            : wave.readScalar(c));
      for (unsigned block = 0; block < groups; ++block) {
        double dot = 0;
        for (unsigned i = 0; i < blockSize; ++i) {
          unsigned at = block * blockSize + i;
          dot += double(a[row][at]) * double(b[column][at]);
        }
        sum += scaled ? dot * scaleA[row][block] * scaleB[column][block] : dot;
      }
      float rounded = float(sum);
      result[v].lane[lane] = rounded != rounded
                                 ? FloatBits<float>::invalid
                                 : std::bit_cast<uint32_t>(rounded);
    }
  }
  for (unsigned v = 0; v < registers; ++v) {
    std::memcpy(wave.v[instr.dst + v], result[v].lane, sizeof(Row));
  }
}

template <unsigned size, unsigned k, bool scaled>
static void execF8f6f4(Wave &wave, const Instr &instr) {
  if (instr.cbsz > 4 || instr.blgp > 4) {
    return wave.fail("cbsz or blgp names no format");
  }
  if (instr.negHi) {
    return wave.fail("modifiers of a scaled MFMA are not implemented");
  }
  multiplySmall<size, k>(wave, instr, SmallFormat(instr.cbsz),
                         SmallFormat(instr.blgp), /*isF8f6f4=*/true, scaled);
}

template <unsigned size, unsigned k, SmallFormat formatA, SmallFormat formatB>
static void execFloat8(Wave &wave, const Instr &instr) {
  if (instr.cbsz || instr.abid || instr.blgp) {
    return wave.fail("cbsz, abid and blgp of this MFMA are not implemented");
  }
  multiplySmall<size, k>(wave, instr, formatA, formatB, /*isF8f6f4=*/false,
                         /*scaled=*/false);
}

/// v_cvt_pk_{fp8,bf8}_f32: two codes into the half that op_sel names; the other
/// half is kept.
template <SmallFormat format>
static void execPackFloat8(Wave &wave, const Instr &instr) {
  Row temp[2][2], result;
  Source a = fetch<float>(wave, instr, 0, temp[0]);
  Source b = fetch<float>(wave, instr, 1, temp[1]);
  Processor processor = wave.program->processor();
  for (unsigned i = 0; i < waveSize; ++i) {
    bool saturate = wave.mode.saturatesSmallFloats();
    uint32_t lo =
        encodeFloat8(laneValue<float>(a, i), format, processor, saturate);
    uint32_t hi =
        encodeFloat8(laneValue<float>(b, i), format, processor, saturate);
    result.lane[i] = lo | hi << 8;
  }
  mergeHalf(wave, instr, result, /*keepsOther=*/true);
  writeRow(wave, instr.dst, result);
}

/// v_cvt_pk_f32_{fp8,bf8}: the two codes of one half.
template <SmallFormat format>
static void execUnpackFloat8(Wave &wave, const Instr &instr) {
  Row temp[2], lo, hi;
  Source source = fetch<uint32_t>(wave, instr, 0, temp);
  const std::array<float, 256> &values =
      smallFloatValues(format, wave.program->processor());
  unsigned shift = instr.opSel & 1 ? 16 : 0;
  for (unsigned i = 0; i < waveSize; ++i) {
    uint32_t codes = source.lo[i] >> shift;
    lo.lane[i] = std::bit_cast<uint32_t>(values[codes & 0xFF]);
    hi.lane[i] = std::bit_cast<uint32_t>(values[(codes >> 8) & 0xFF]);
  }
  writeRow(wave, instr.dst, lo);
  writeRow(wave, instr.dst + 1, hi);
}

llvm::ArrayRef<OpcodeInfo> smallMatrixTable() {
  constexpr ValueType b256 = ValueType::B256, b128 = ValueType::B128,
                      b512 = ValueType::B512, pair = ValueType::I64;
  constexpr SmallFormat fp8 = SmallFormat::Fp8, bf8 = SmallFormat::Bf8;
  static const OpcodeInfo table[] = {
      {"v_mfma_f32_16x16x128_f8f6f4",
       execF8f6f4<16, 128, false>,
       b128,
       {b256, b256, b128},
       opSmallFormats},
      {"v_mfma_f32_32x32x64_f8f6f4",
       execF8f6f4<32, 64, false>,
       b512,
       {b256, b256, b512},
       opSmallFormats},
      {"v_mfma_scale_f32_16x16x128_f8f6f4",
       execF8f6f4<16, 128, true>,
       b128,
       {b256, b256, b128},
       opSmallFormats},
      {"v_mfma_scale_f32_32x32x64_f8f6f4",
       execF8f6f4<32, 64, true>,
       b512,
       {b256, b256, b512},
       opSmallFormats},
      {"v_cvt_pk_fp8_f32",
       execPackFloat8<fp8>,
       ValueType::I32,
       {ValueType::F32, ValueType::F32, ValueType::None},
       opReadsDst},
      {"v_cvt_pk_bf8_f32",
       execPackFloat8<bf8>,
       ValueType::I32,
       {ValueType::F32, ValueType::F32, ValueType::None},
       opReadsDst},
      {"v_cvt_pk_f32_fp8",
       execUnpackFloat8<fp8>,
       pair,
       {ValueType::I32, ValueType::None, ValueType::None}},
      {"v_cvt_pk_f32_bf8",
       execUnpackFloat8<bf8>,
       pair,
       {ValueType::I32, ValueType::None, ValueType::None}},
      {"v_mfma_f32_16x16x32_fp8_fp8",
       execFloat8<16, 32, fp8, fp8>,
       b128,
       {pair, pair, b128}},
      {"v_mfma_f32_16x16x32_fp8_bf8",
       execFloat8<16, 32, fp8, bf8>,
       b128,
       {pair, pair, b128}},
      {"v_mfma_f32_16x16x32_bf8_fp8",
       execFloat8<16, 32, bf8, fp8>,
       b128,
       {pair, pair, b128}},
      {"v_mfma_f32_16x16x32_bf8_bf8",
       execFloat8<16, 32, bf8, bf8>,
       b128,
       {pair, pair, b128}},
      {"v_mfma_f32_32x32x16_fp8_fp8",
       execFloat8<32, 16, fp8, fp8>,
       b512,
       {pair, pair, b512}},
      {"v_mfma_f32_32x32x16_fp8_bf8",
       execFloat8<32, 16, fp8, bf8>,
       b512,
       {pair, pair, b512}},
      {"v_mfma_f32_32x32x16_bf8_fp8",
       execFloat8<32, 16, bf8, fp8>,
       b512,
       {pair, pair, b512}},
      {"v_mfma_f32_32x32x16_bf8_bf8",
       execFloat8<32, 16, bf8, bf8>,
       b512,
       {pair, pair, b512}},
  };
  return table;
}

} // namespace tenon::sim
