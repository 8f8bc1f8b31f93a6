//===- ExecMfmaSmall.cpp - f8f6f4 matrix products ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements and their block scales multiply exactly, with any exponent; the
// products are summed as in all other matrix products. EXEC is ignored.
//
//===----------------------------------------------------------------------===//

#include "HostRounding.h"
#include "MatrixKernel.h"

namespace tenon::sim {

// The operands of one instruction: element [k][row] of A, [k][column] of B.
template <unsigned size, unsigned k> using Elements = float[k][size];

/// Lanes computed at a time.
static constexpr unsigned width = 8;
using Words = HostVector<uint32_t, width>;
using Bytes = HostVector<uint8_t, 4 * width>;
using Floats = HostVector<float, width>;

/// How the bits of a format become a float. Exponent and mantissa are moved to
/// where a float has them, and the difference of the biases is added. What has
/// no exponent then stands for twice itself less the least normal number, which
/// is the smaller of the two for denormals alone. Hosts are slow on denormals
/// of their own, so none occur.
template <SmallFormat format> struct Decoding {
  static constexpr unsigned bits = bitsOf(format);
  static constexpr unsigned mantissa =
      format == SmallFormat::Fp8 || format == SmallFormat::Fp6   ? 3
      : format == SmallFormat::Bf8 || format == SmallFormat::Bf6 ? 2
                                                                 : 1;
  static constexpr int bias = format == SmallFormat::Fp8   ? 7
                              : format == SmallFormat::Bf8 ? 15
                              : format == SmallFormat::Bf6 ? 3
                                                           : 1;
  /// The least magnitude that is no finite number: the NaN of E4M3, the
  /// infinity of E5M2. The others have none.
  static constexpr uint32_t special = format == SmallFormat::Fp8   ? 0x7F
                                      : format == SmallFormat::Bf8 ? 0x7C
                                                                   : 0;

  /// Values of codes in the top bits of each word; what lies below is ignored.
  template <bool mayBeSpecial>
  [[gnu::always_inline]] static Floats values(Words words) {
    constexpr unsigned place = 23 - mantissa;
    constexpr uint32_t magnitudes = ((1u << (bits - 1)) - 1) << place;
    Words magnitude = words >> (32 - bits - place) & magnitudes;
    Floats normal =
        std::bit_cast<Floats>(magnitude + (uint32_t(127 - bias) << 23));
    Floats denormal = __builtin_elementwise_fma(
        normal, Floats(2.0f),
        Floats(-std::bit_cast<float>(uint32_t(128 - bias) << 23)));
    Floats value = __builtin_elementwise_min(normal, denormal);
    if constexpr (mayBeSpecial) {
      // The mantissa tells infinity from NaN.
      Words isSpecial = std::bit_cast<Words>(magnitude >= (special << place));
      value = std::bit_cast<Floats>(std::bit_cast<Words>(value) |
                                    (isSpecial & 0x7F800000));
    }
    return std::bit_cast<Floats>(std::bit_cast<Words>(value) |
                                 (words & 0x80000000));
  }

  /// Whether an operand has infinities or NaNs.
  static bool hasSpecials(const Wave &wave, unsigned row) {
    Bytes found = {};
    for (unsigned r = 0; r < bits; ++r) {
      for (unsigned lane = 0; lane < waveSize; lane += width) {
        Bytes codes = loadVector<Bytes>(&wave.v[row + r][lane]);
        found |= std::bit_cast<Bytes>((codes & 0x7F) >= uint8_t(special));
      }
    }
    return __builtin_reduce_or(found);
  }
};

/// K index of an element. 8-bit operands of these instructions hold two runs of
/// 16, the narrower ones 32 in a row.
template <SmallFormat format>
static constexpr unsigned contractionIndex(unsigned element, unsigned group,
                                           unsigned groups) {
  return bitsOf(format) == 8
             ? element / 16 * 16 * groups + 16 * group + element % 16
             : 32 * group + element;
}

/// Factors of the rows of an operand, by block of 32 along K.
template <unsigned size> using Scales = float[waveSize / size][size];

/// Expands an operand, times its scales if there are any.
template <SmallFormat format, bool mayBeSpecial, unsigned size, unsigned k>
static void expandAs(const Wave &wave, const Operand &operand,
                     const Scales<size> *scales, Elements<size, k> &out) {
  constexpr unsigned groups = waveSize / size, perLane = k / groups;
  constexpr unsigned bits = bitsOf(format);
  for (unsigned lane = 0; lane < waveSize; lane += width) {
    unsigned group = lane / size, row = lane % size;
#pragma clang loop unroll(full)
    for (unsigned element = 0; element < perLane; ++element) {
      // The bits of the element, moved to the top.
      unsigned end = element * bits + bits, word = (end - 1) / 32;
      unsigned shift = 32 * word + 32 - end;
      Words codes = loadVector<Words>(&wave.v[operand.reg + word][lane])
                    << shift;
      if (32 - shift < bits) {
        codes |= loadVector<Words>(&wave.v[operand.reg + word - 1][lane]) >>
                 (32 - shift);
      }
      Floats values = Decoding<format>::template values<mayBeSpecial>(codes);
      unsigned index = contractionIndex<format>(element, group, groups);
      if (scales) {
        values *= loadVector<Floats>(&(*scales)[index / 32][row]);
      }
      std::memcpy(&out[index][row], &values, sizeof(values));
    }
  }
}

template <SmallFormat format, unsigned size, unsigned k>
static void expandAs(const Wave &wave, const Operand &operand,
                     const Scales<size> *scales, Elements<size, k> &out) {
  if constexpr (Decoding<format>::special != 0) {
    if (Decoding<format>::hasSpecials(wave, operand.reg)) [[unlikely]] {
      return expandAs<format, true, size, k>(wave, operand, scales, out);
    }
  }
  expandAs<format, false, size, k>(wave, operand, scales, out);
}

template <unsigned size, unsigned k>
static void expand(const Wave &wave, const Operand &operand, SmallFormat format,
                   const Scales<size> *scales, Elements<size, k> &out) {
  switch (format) {
  case SmallFormat::Fp8:
    return expandAs<SmallFormat::Fp8, size, k>(wave, operand, scales, out);
  case SmallFormat::Bf8:
    return expandAs<SmallFormat::Bf8, size, k>(wave, operand, scales, out);
  case SmallFormat::Fp6:
    return expandAs<SmallFormat::Fp6, size, k>(wave, operand, scales, out);
  case SmallFormat::Bf6:
    return expandAs<SmallFormat::Bf6, size, k>(wave, operand, scales, out);
  case SmallFormat::Fp4:
    return expandAs<SmallFormat::Fp4, size, k>(wave, operand, scales, out);
  }
}

/// E8M0 codes of the rows of an operand, by block: a lane holds the byte of its
/// row and of the block with the number of its group.
template <unsigned size> using ScaleCodes = uint32_t[waveSize / size][size];

template <unsigned size>
static void readScaleCodes(const Wave &wave, const Operand &operand,
                           unsigned byte, ScaleCodes<size> &codes) {
  uint32_t *to = &codes[0][0];
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    uint32_t word = operand.kind == OperandKind::Vgpr
                        ? wave.v[operand.reg][lane]
                        : wave.readScalar(operand);
    to[lane] = (word >> (8 * byte)) & 0xFF;
  }
}

static constexpr uint32_t nanScale = 0xFF;

/// Whether elements times their scales are floats: below 2^16 times 2^111.
/// They are never too small.
template <unsigned size>
static bool scalesFitFloats(const ScaleCodes<size> &codes) {
  const uint32_t *from = &codes[0][0];
  bool fit = true;
  for (unsigned i = 0; i < waveSize; ++i) {
    fit &= from[i] <= 127 + 111 || from[i] == nanScale;
  }
  return fit;
}

template <unsigned size>
static void scalesOfCodes(const ScaleCodes<size> &codes, Scales<size> &scales) {
  const uint32_t *from = &codes[0][0];
  float *to = &scales[0][0];
  for (unsigned i = 0; i < waveSize; ++i) {
    // Code 0 is the denormal 2^-127.
    uint32_t bits = from[i] == nanScale ? FloatBits<float>::invalid
                    : from[i]           ? from[i] << 23
                                        : 1u << 22;
    to[i] = std::bit_cast<float>(bits);
  }
}

/// The sums for scales of any size. The exponents of both scales are shared out
/// anew between the factors of each product, half and half. Beyond 2^111 per
/// half even the smallest product is infinite, so that halves end there.
template <unsigned size, unsigned k>
static void
multiplyFarScales(const Elements<size, k> &a, const Elements<size, k> &b,
                  const ScaleCodes<size> &codesA,
                  const ScaleCodes<size> &codesB, const SumOrder<k> &order,
                  float (&sums)[size][size]) {
  for (unsigned row = 0; row < size; ++row) {
    for (unsigned i = 0; i < size; ++i) {
      for (unsigned step = 0; step < k; ++step) {
        unsigned at = order[step];
        uint32_t codeA = codesA[at / 32][row], codeB = codesB[at / 32][i];
        if (codeA == nanScale || codeB == nanScale) {
          sums[row][i] = std::bit_cast<float>(FloatBits<float>::invalid);
          continue;
        }
        int exponent = int(codeA) + int(codeB) - 254;
        int half = exponent / 2;
        float left = std::ldexp(a[at][row], std::min(half, 111));
        float right = std::ldexp(b[at][i], std::min(exponent - half, 111));
        sums[row][i] = multiplyAdd(left, right, sums[row][i]);
      }
    }
  }
  for (auto &row : sums) {
    makeNansPositive(row, size);
  }
}

/// What the modifiers of the scales' prefix do to C.
static uint32_t modifiedC(const Instr &instr, uint32_t bits) {
  constexpr unsigned ofC = 4;
  bits = instr.opSelHi & ofC ? bits & 0x7FFFFFFF : bits;
  return instr.negHi & ofC ? bits ^ 0x80000000 : bits;
}

template <unsigned size, unsigned k, bool scaled>
static void execF8f6f4(Wave &wave, const Instr &instr) {
  constexpr unsigned groups = waveSize / size;
  constexpr unsigned registers = size * size / waveSize;
  if (instr.cbsz > 4 || instr.blgp > 4) {
    return wave.fail("cbsz or blgp names no format");
  }
  if ((instr.negHi | instr.opSelHi) & 3) {
    return wave.fail("modifiers of the scales of an MFMA have no meaning");
  }
  NearestRounding rounding(wave.mode);
  SmallFormat formatA{instr.cbsz}, formatB{instr.blgp};
  alignas(64) float a[k][size], b[k][size], sums[size][size];
  alignas(64) ScaleCodes<size> codesA, codesB;
  alignas(64) Scales<size> scalesA, scalesB;
  bool fit = scaled;
  if constexpr (scaled) {
    readScaleCodes<size>(wave, instr.scale[0], instr.opSel & 3, codesA);
    readScaleCodes<size>(wave, instr.scale[1], instr.opSel >> 2, codesB);
    fit = scalesFitFloats<size>(codesA) && scalesFitFloats<size>(codesB);
    scalesOfCodes<size>(codesA, scalesA);
    scalesOfCodes<size>(codesB, scalesB);
  }
  expand<size, k>(wave, instr.src[0], formatA, fit ? &scalesA : nullptr, a);
  expand<size, k>(wave, instr.src[1], formatB, fit ? &scalesB : nullptr, b);
  const Operand &c = instr.src[2];
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned g = 0; g < groups; ++g) {
      for (unsigned i = 0; i < size; ++i) {
        uint32_t bits = c.kind == OperandKind::Vgpr
                            ? wave.v[c.reg + v][g * size + i]
                            : wave.readScalar(c);
        sums[accumulatorRow<size>(v, g)][i] =
            std::bit_cast<float>(modifiedC(instr, bits));
      }
    }
  }
  if (scaled && !fit) [[unlikely]] {
    const SumOrder<k> order(wave, instr);
    multiplyFarScales<size, k>(a, b, codesA, codesB, order, sums);
  } else {
    if (wave.perturb) [[unlikely]] {
      permuteRows(wave, instr, a, b);
    }
    multiplyBlock<float, size, k>(a, b, sums);
  }
  for (unsigned v = 0; v < registers; ++v) {
    for (unsigned g = 0; g < groups; ++g) {
      std::memcpy(&wave.v[instr.dst + v][g * size],
                  sums[accumulatorRow<size>(v, g)], sizeof(sums[0]));
    }
  }
}

llvm::ArrayRef<OpcodeInfo> smallMatrixTable() {
  constexpr ValueType b256 = ValueType::B256, b128 = ValueType::B128,
                      b512 = ValueType::B512;
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
  };
  return table;
}

} // namespace tenon::sim
