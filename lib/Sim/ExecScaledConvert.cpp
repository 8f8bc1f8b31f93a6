//===- ExecScaledConvert.cpp - conversions of 8-, 6-, 4-bit floats -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// v_cvt_scalef32_*, v_cvt_sr_* and the plain conversions of 8-bit floats. A
// scale is a single-precision number of which only the exponent counts, as an
// E8M0 of bias 127 (255: NaN); narrowing divides by it, widening multiplies.
// Stochastic rounding adds the top bits of the seed below the last bit that is
// kept and truncates; instructions with several results take a new seed for
// each, from the generator of v_prng_b32 (CDNA4 ISA, section 7.3).
//
//===----------------------------------------------------------------------===//

#include "FloatMath.h"
#include "Lanes.h"
#include "Program.h"
#include "SmallFloat.h"

namespace tenon::sim {

namespace {

/// The wide side of a conversion.
enum class Wide : uint8_t { F32, F16, Bf16 };

} // namespace

static constexpr unsigned elementsPerRegister(Wide wide) {
  return wide == Wide::F32 ? 1 : 2;
}
static constexpr unsigned mantissaBitsOf(Wide wide) {
  return wide == Wide::F32 ? 23 : (wide == Wide::F16 ? 10 : 7);
}

/// The next number of the generator of v_prng_b32, a linear feedback shift
/// register.
static uint32_t nextRandom(uint32_t seed) {
  return seed << 1 ^ (seed >> 31 ? 197 : 0);
}

static uint32_t operandWord(const Wave &wave, const Operand &operand,
                            unsigned reg, unsigned lane) {
  if (operand.kind == OperandKind::Vgpr) {
    return wave.v[operand.reg + reg][lane];
  }
  return reg ? uint32_t(wave.readScalar64(operand) >> 32)
             : wave.readScalar(operand);
}

/// 2 to the exponent of a scale.
static double scaleOf(const Wave &wave, const Operand &operand, unsigned lane) {
  unsigned exponent = (operandWord(wave, operand, 0, lane) >> 23) & 0xFF;
  return exponent == 0xFF ? std::nan("") : std::ldexp(1.0, int(exponent) - 127);
}

/// Element `index` of a wide operand, with modifiers.
template <Wide wide>
static double wideElement(const Wave &wave, const Operand &operand,
                          unsigned index, unsigned lane) {
  constexpr unsigned perRegister = elementsPerRegister(wide);
  uint32_t word = operandWord(wave, operand, index / perRegister, lane);
  uint32_t part = word >> (16 * (index % perRegister));
  float value;
  if constexpr (wide == Wide::F32) {
    bool denormal = (word & 0x7F800000) == 0;
    value = std::bit_cast<float>(
        denormal && wave.mode.flushInput32() ? word & 0x80000000 : word);
  } else if constexpr (wide == Wide::F16) {
    value = float(std::bit_cast<Half>(uint16_t(part)));
  } else {
    value = bf16ToFloat(part & 0xFFFF);
  }
  value = operand.mods & modAbs ? std::fabs(value) : value;
  return operand.mods & modNeg ? -value : value;
}

/// A result in its wide format, in the low bits.
template <Wide wide> static uint32_t wideBits(double value) {
  if (value != value) {
    return wide == Wide::F32 ? 0x7FC00000
                             : (wide == Wide::F16 ? 0x7E00 : 0x7FC0);
  }
  if constexpr (wide == Wide::F32) {
    return std::bit_cast<uint32_t>(float(value));
  } else if constexpr (wide == Wide::F16) {
    return std::bit_cast<uint16_t>(Half(roundToOdd(value)));
  } else {
    return roundToBf16(roundToOdd(value)) & 0xFFFF;
  }
}

/// Writes `bits` of each lane of `value` at the place that `shift` says, in the
/// lanes of EXEC.
static void insertBits(Wave &wave, unsigned row, Row &value, unsigned shift,
                       unsigned bits) {
  uint32_t field = bits == 32 ? ~0u : ((1u << bits) - 1) << shift;
  for (unsigned i = 0; i < waveSize; ++i) {
    value.lane[i] =
        (wave.v[row][i] & ~field) | (value.lane[i] << shift & field);
  }
  writeRow(wave, row, value);
}

/// Elements of `bits` bits each, side by side over several registers.
static void packElement(Row *rows, unsigned lane, unsigned index, unsigned bits,
                        uint32_t code) {
  unsigned at = index * bits;
  uint64_t shifted = uint64_t(code) << (at % 32);
  rows[at / 32].lane[lane] |= uint32_t(shifted);
  if (at % 32 + bits > 32) {
    rows[at / 32 + 1].lane[lane] |= uint32_t(shifted >> 32);
  }
}
static uint32_t unpackElement(const Wave &wave, const Operand &operand,
                              unsigned lane, unsigned index, unsigned bits) {
  unsigned at = index * bits;
  uint64_t word = operandWord(wave, operand, at / 32, lane);
  if (at % 32 + bits > 32) {
    word |= uint64_t(operandWord(wave, operand, at / 32 + 1, lane)) << 32;
  }
  return uint32_t(word >> (at % 32)) & ((1u << bits) - 1);
}

namespace {

/// How a narrowing instruction finds its operands.
enum class Form : uint8_t {
  Pair,       ///< two values in two sources (F32) or one
  PairVector, ///< two values in one source of two registers
  Single,     ///< one value
  Block,      ///< 32 values in one source
  TwoBlocks,  ///< 16 values in each of two sources, which take turns
};

} // namespace

template <SmallFormat format, Wide wide, Form form, bool stochastic,
          bool scaled>
static void execNarrow(Wave &wave, const Instr &instr) {
  constexpr unsigned bits = bitsOf(format);
  constexpr bool isBlock = form == Form::Block || form == Form::TwoBlocks;
  constexpr unsigned count = isBlock ? 32 : (form == Form::Single ? 1 : 2);
  constexpr unsigned fraction = mantissaBitsOf(wide);
  // Where the second value or half of the values is.
  constexpr bool twoSources =
      form == Form::TwoBlocks || (form == Form::Pair && wide == Wide::F32);
  constexpr unsigned seedAt = twoSources ? 2 : 1;
  constexpr unsigned scaleAt = seedAt + stochastic;
  Processor processor = wave.program->processor();
  bool saturate = wave.mode.saturatesSmallFloats();
  unsigned fractionBits = fraction - mantissaBitsOf(format);
  Row rows[6] = {};
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    double scale = 1;
    if constexpr (scaled) {
      scale = scaleOf(wave, instr.src[scaleAt], lane);
    }
    uint32_t seed =
        stochastic ? operandWord(wave, instr.src[seedAt], 0, lane) : 0;
    for (unsigned i = 0; i < count; ++i) {
      unsigned source = twoSources ? i % 2 : 0;
      double value = wideElement<wide>(wave, instr.src[source],
                                       twoSources ? i / 2 : i, lane) /
                     scale;
      uint8_t code =
          stochastic ? encodeSmallFloatStochastic(value, format, processor,
                                                  saturate, seed, fractionBits)
                     : encodeSmallFloat(value, format, processor, saturate);
      packElement(rows, lane, i, bits, code);
      seed = nextRandom(seed);
    }
  }
  if constexpr (isBlock) {
    for (unsigned r = 0; r < 6; ++r) {
      writeRow(wave, instr.dst + r, rows[r]);
    }
  } else if constexpr (bits * count == 16) {
    insertBits(wave, instr.dst, rows[0], instr.opSel & 8 ? 16 : 0, 16);
  } else {
    // A byte, by the two upper bits of op_sel.
    insertBits(wave, instr.dst, rows[0], 8 * ((instr.opSel >> 2) & 3), 8);
  }
}

template <SmallFormat format, Wide wide, unsigned count, bool scaled>
static void execWiden(Wave &wave, const Instr &instr) {
  constexpr unsigned bits = bitsOf(format);
  constexpr unsigned perRegister = elementsPerRegister(wide);
  constexpr unsigned registers = count < perRegister ? 1 : count / perRegister;
  const std::array<float, 256> &values =
      smallFloatValues(format, wave.program->processor());
  // Op_sel picks the byte or, where a half is read, the half.
  unsigned first = 0;
  if constexpr (count <= 2) {
    first = bits * count == 16 ? 2 * (instr.opSel & 1)
                               : (instr.opSel & 3) * (8 / bits);
  }
  Row rows[registers] = {};
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    double scale = 1;
    if constexpr (scaled) {
      scale = scaleOf(wave, instr.src[1], lane);
    }
    for (unsigned i = 0; i < count; ++i) {
      uint32_t code = unpackElement(wave, instr.src[0], lane, first + i, bits);
      uint32_t result = wideBits<wide>(values[code] * scale);
      rows[i / perRegister].lane[lane] |= result << (16 * (i % perRegister));
    }
  }
  if constexpr (count == 1 && wide != Wide::F32) {
    return insertBits(wave, instr.dst, rows[0], instr.opSel & 8 ? 16 : 0, 16);
  }
  for (unsigned r = 0; r < registers; ++r) {
    writeRow(wave, instr.dst + r, rows[r]);
  }
}

/// v_cvt_sr_f16_f32 and v_cvt_sr_bf16_f32: the seed's top bits are added below
/// the last bit that is kept.
template <Wide wide>
static void execStochasticHalf(Wave &wave, const Instr &instr) {
  Row result;
  for (unsigned lane = 0; lane < waveSize; ++lane) {
    float value = float(wideElement<Wide::F32>(wave, instr.src[0], 0, lane));
    uint32_t seed = operandWord(wave, instr.src[1], 0, lane);
    uint32_t bits = std::bit_cast<uint32_t>(value);
    uint32_t code;
    if (!std::isfinite(value)) {
      code = wideBits<wide>(value);
    } else if constexpr (wide == Wide::Bf16) {
      code = (bits + (seed >> 16)) >> 16;
    } else {
      int exponent = value == 0 ? -14 : std::max(std::ilogb(value), -14);
      double steps = std::floor(std::ldexp(std::fabs(value), 23 - exponent)) +
                     double(seed >> 19);
      steps = std::floor(steps / 8192);
      double rounded = std::ldexp(steps, exponent - 10);
      code = rounded > 65504 ? 0x7C00 : wideBits<wide>(rounded);
      code |= (bits >> 16) & 0x8000;
    }
    result.lane[lane] = code;
  }
  insertBits(wave, instr.dst, result, instr.opSel & 8 ? 16 : 0, 16);
}

namespace {

constexpr ValueType none = ValueType::None, word = ValueType::I32;

/// A source of `count` values.
constexpr ValueType sourceType(Wide wide, unsigned count) {
  if (count == 1) {
    return wide == Wide::F32
               ? ValueType::F32
               : (wide == Wide::F16 ? ValueType::F16 : ValueType::Bf16);
  }
  switch (count / elementsPerRegister(wide)) {
  case 1:
    return wide == Wide::F16 ? ValueType::PackedF16 : ValueType::Bf16;
  case 2:
    return ValueType::PackedF32;
  case 16:
    return ValueType::B512;
  default:
    return ValueType::B1024;
  }
}

class ConversionTable {
public:
  ConversionTable() {
    addFormat<SmallFormat::Fp8>("fp8");
    addFormat<SmallFormat::Bf8>("bf8");
    addFormat<SmallFormat::Fp6>("fp6");
    addFormat<SmallFormat::Bf6>("bf6");
    addFormat<SmallFormat::Fp4>("fp4");
    addHalf<Wide::F16>("v_cvt_sr_f16_f32");
    addHalf<Wide::Bf16>("v_cvt_sr_bf16_f32");
  }
  OpcodeTable table;

private:
  template <SmallFormat format> void addFormat(const std::string &name) {
    addWide<format, Wide::F32>(name, "f32");
    addWide<format, Wide::F16>(name, "f16");
    addWide<format, Wide::Bf16>(name, "bf16");
    if constexpr (bitsOf(format) == 6) {
      addNarrow<format, Wide::F32, Form::TwoBlocks, false, true>(
          "v_cvt_scalef32_2xpk16_" + name + "_f32");
    }
    if constexpr (bitsOf(format) == 8) {
      addNarrow<format, Wide::F32, Form::Pair, false, false>("v_cvt_pk_" +
                                                             name + "_f32");
      addNarrow<format, Wide::F32, Form::Single, true, false>("v_cvt_sr_" +
                                                              name + "_f32");
      addWiden<format, Wide::F32, 2, false>("v_cvt_pk_f32_" + name);
      addWiden<format, Wide::F32, 1, false>("v_cvt_f32_" + name);
    }
  }

  template <SmallFormat format, Wide wide>
  void addWide(const std::string &narrow, const std::string &name) {
    const std::string prefix = "v_cvt_scalef32_";
    std::string narrowing = narrow + "_" + name, widening = name + "_" + narrow;
    if constexpr (bitsOf(format) == 6) {
      if constexpr (wide != Wide::F32) {
        addNarrow<format, wide, Form::Block, false, true>(prefix + "pk32_" +
                                                          narrowing);
      }
      addNarrow<format, wide, Form::Block, true, true>(prefix + "sr_pk32_" +
                                                       narrowing);
      addWiden<format, wide, 32, true>(prefix + "pk32_" + widening);
    } else {
      addNarrow<format, wide, Form::Pair, false, true>(prefix + "pk_" +
                                                       narrowing);
      addWiden<format, wide, 2, true>(prefix + "pk_" + widening);
    }
    if constexpr (bitsOf(format) == 4) {
      addNarrow<format, wide, Form::PairVector, true, true>(prefix + "sr_pk_" +
                                                            narrowing);
    }
    if constexpr (bitsOf(format) == 8) {
      addNarrow<format, wide, Form::Single, true, true>(prefix + "sr_" +
                                                        narrowing);
      if constexpr (wide != Wide::Bf16) {
        addWiden<format, wide, 1, true>(prefix + widening);
      }
    }
  }

  template <SmallFormat format, Wide wide, Form form, bool stochastic,
            bool scaled>
  void addNarrow(const std::string &name) {
    OpcodeInfo info = {"", execNarrow<format, wide, form, stochastic, scaled>,
                       word};
    bool isBlock = form == Form::Block || form == Form::TwoBlocks;
    info.dst = isBlock ? ValueType::B192 : word;
    info.flags = isBlock ? opNone : opReadsDst;
    unsigned at = 0;
    if (form == Form::TwoBlocks) {
      info.src[at++] = ValueType::B512;
      info.src[at++] = ValueType::B512;
    } else if (form == Form::Pair && wide == Wide::F32) {
      info.src[at++] = ValueType::F32;
      info.src[at++] = ValueType::F32;
    } else {
      info.src[at++] = sourceType(
          wide, form == Form::Block ? 32 : (form == Form::Single ? 1 : 2));
    }
    if (stochastic) {
      info.src[at++] = word;
    }
    if (scaled) {
      info.src[at++] = ValueType::F32;
    }
    table.add(name, info);
  }

  template <SmallFormat format, Wide wide, unsigned count, bool scaled>
  void addWiden(const std::string &name) {
    OpcodeInfo info = {"", execWiden<format, wide, count, scaled>};
    info.dst = count == 1 ? word : sourceType(wide, count);
    info.flags = count == 1 && wide != Wide::F32 ? opReadsDst : opNone;
    info.src[0] = count == 32 ? ValueType::B192 : word;
    info.src[1] = scaled ? ValueType::F32 : none;
    table.add(name, info);
  }

  template <Wide wide> void addHalf(const std::string &name) {
    table.add(name, {"",
                     execStochasticHalf<wide>,
                     word,
                     {ValueType::F32, word, none},
                     opReadsDst});
  }
};

} // namespace

llvm::ArrayRef<OpcodeInfo> scaledConvertTable() {
  static const ConversionTable conversions;
  return conversions.table.all();
}

} // namespace tenon::sim
