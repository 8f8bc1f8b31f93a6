//===- ScaledConvertTest.cpp - conversions of small floats ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <cmath>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// A small format: value = mantissa * 2^(exponent - bias), written down from
/// the OCP specifications.
struct Small {
  const char *name;
  unsigned bits, mantissaBits;
  int bias;
  unsigned largest; ///< code of the largest finite value
};
const Small formats[] = {{"fp8", 8, 3, 7, 0x7E},
                         {"bf8", 8, 2, 15, 0x7B},
                         {"fp6", 6, 3, 1, 0x1F},
                         {"bf6", 6, 2, 3, 0x1F},
                         {"fp4", 4, 1, 1, 0x7}};

double valueOfCode(const Small &format, unsigned code) {
  unsigned sign = 1u << (format.bits - 1);
  unsigned magnitude = code & (sign - 1);
  unsigned exponent = magnitude >> format.mantissaBits;
  double mantissa = magnitude & ((1u << format.mantissaBits) - 1);
  mantissa = std::ldexp(mantissa, -int(format.mantissaBits));
  double value = exponent
                     ? std::ldexp(1 + mantissa, int(exponent) - format.bias)
                     : std::ldexp(mantissa, 1 - format.bias);
  return code & sign ? -value : value;
}

/// The nearest code by search over all of them; of two at the same distance the
/// even one.
unsigned nearestCode(const Small &format, double value) {
  unsigned sign = std::signbit(value) ? 1u << (format.bits - 1) : 0;
  double magnitude = std::fabs(value);
  unsigned best = 0;
  for (unsigned code = 1; code <= format.largest; ++code) {
    double distance = std::fabs(valueOfCode(format, code) - magnitude);
    double bestDistance = std::fabs(valueOfCode(format, best) - magnitude);
    if (distance < bestDistance || (distance == bestDistance && !(code & 1))) {
      best = code;
    }
  }
  return best | sign;
}

/// Ordinary numbers, ties, zeros, tiny and huge ones, all below what overflows
/// in any format.
std::vector<uint32_t> sampleFloats(unsigned salt) {
  return lanes([=](unsigned i) {
    static const float fixed[] = {0.0f,    -0.0f,  1.0f,    0.25f, 0.75f,
                                  1.0625f, 1.125f, 2.5f,    -5.0f, 5.0f,
                                  -0.125f, 1e-9f,  0.0625f, 3.25f, -1.75f};
    if (i < std::size(fixed)) {
      return bitsOf(fixed[(i + salt) % std::size(fixed)]);
    }
    uint32_t state = (i + 64 * salt) * 2654435761u;
    return (state & 0x80000000) | ((110 + state % 19) << 23) |
           ((state >> 8) & 0x7FFFFF);
  });
}

/// Narrowing pairs divides by the scale and replaces the part of the
/// destination that op_sel names.
TEST(SimScaledConvert, PairsFromFloats) {
  for (const Small &format : formats) {
    if (format.bits == 6) {
      continue;
    }
    unsigned places = format.bits == 4 ? 4 : 2, width = 2 * format.bits;
    for (unsigned place = 0; place < places; ++place) {
      std::string select = format.bits == 4
                               ? "[0,0," + std::to_string(place & 1) + "," +
                                     std::to_string(place >> 1) + "]"
                               : "[0,0,0," + std::to_string(place) + "]";
      LaneProgram program;
      program.inputs = {sampleFloats(0), sampleFloats(3), lanes([](unsigned i) {
                          // Only the exponent of the scale counts.
                          return bitsOf(std::ldexp(1.5f, int(i % 5) - 2));
                        })};
      program.instructions = "  v_mov_b32 v40, 0xa5c3e187\n"
                             "  v_cvt_scalef32_pk_" +
                             std::string(format.name) +
                             "_f32 v40, v10, -v11, v12 op_sel:" + select + "\n";
      auto out = runLanes(program)[0];
      for (unsigned i = 0; i < 64; ++i) {
        double scale = std::ldexp(1.0, int(i % 5) - 2);
        unsigned lo =
            nearestCode(format, floatOf(program.inputs[0][i]) / scale);
        unsigned hi =
            nearestCode(format, -floatOf(program.inputs[1][i]) / scale);
        uint32_t field = ((1u << width) - 1) << (width * place);
        uint32_t expected = (0xa5c3e187u & ~field) | (lo | hi << format.bits)
                                                         << (width * place);
        ASSERT_EQ(out[i], expected)
            << format.name << " place " << place << " lane " << i;
      }
    }
  }
}

/// The form with two sources of 16 takes its values from them in turns.
TEST(SimScaledConvert, BlocksOfSixBits) {
  for (const Small &format : formats) {
    if (format.bits != 6) {
      continue;
    }
    LaneProgram program;
    program.options.accumOffset = 128;
    for (unsigned i = 0; i < 24; ++i) {
      program.inputs.push_back(sampleFloats(i));
    }
    // Sources v[10:25] and v[26:41], the latter partly copies.
    std::string copies;
    for (unsigned i = 34; i < 42; ++i) {
      copies += "  v_mov_b32 v" + std::to_string(i) + ", v" +
                std::to_string(i - 20) + "\n";
    }
    program.instructions = copies + "  v_cvt_scalef32_2xpk16_" +
                           std::string(format.name) +
                           "_f32 v[50:55], v[10:25], v[26:41], 2.0\n"
                           "  v_cvt_scalef32_pk32_f32_" +
                           format.name + " v[60:91], v[50:55], 2.0\n";
    for (unsigned i = 0; i < 32; ++i) {
      program.instructions += "  v_mov_b32 v" + std::to_string(40 + i) + ", v" +
                              std::to_string(60 + i) + "\n";
    }
    program.outputs = 32;
    auto out = runLanes(program);
    for (unsigned i = 0; i < 64; ++i) {
      for (unsigned e = 0; e < 32; ++e) {
        unsigned reg = e % 2 ? 16 + e / 2 : e / 2;
        unsigned input = reg < 24 ? reg : reg - 20;
        double value = floatOf(program.inputs[input][i]);
        double expected =
            2 * valueOfCode(format, nearestCode(format, value / 2));
        ASSERT_EQ(floatOf(out[e][i]), float(expected))
            << format.name << " element " << e << " lane " << i;
      }
    }
  }
}

/// Every code widens to its value times the scale; op_sel picks the part that
/// is read.
TEST(SimScaledConvert, WideningAllCodes) {
  for (const Small &format : formats) {
    if (format.bits == 6) {
      continue;
    }
    unsigned codes = 1u << format.bits;
    for (unsigned base = 0; base < codes; base += 64) {
      bool isFp4 = format.bits == 4;
      LaneProgram program;
      program.inputs = {lanes([&](unsigned i) {
        uint32_t code = (base + i) % codes;
        return isFp4 ? (code | ((code ^ 1) << 4)) << 16 | 0x9900
                     : (code | ((code ^ 1) << 8)) << 16 | 0x9999;
      })};
      std::string select = isFp4 ? "[0,1]" : "[1,0]"; // byte 2, upper half
      std::string name = format.name;
      program.instructions = "  v_cvt_scalef32_pk_f32_" + name +
                             " v[40:41], v10, 4.0 op_sel:" + select +
                             "\n  v_cvt_scalef32_pk_f16_" + name +
                             " v42, v10, 0.5 op_sel:" + select +
                             "\n  v_cvt_scalef32_pk_bf16_" + name +
                             " v43, v10, 0.5 op_sel:" + select + "\n";
      program.outputs = 4;
      auto out = runLanes(program);
      for (unsigned i = 0; i < 64; ++i) {
        for (unsigned which = 0; which < 2; ++which) {
          unsigned code = (base + i) % codes ^ which;
          unsigned magnitude = code & (codes / 2 - 1);
          float wide = floatOf(out[which][i]);
          _Float16 half =
              std::bit_cast<_Float16>(uint16_t(out[2][i] >> (16 * which)));
          float brain = floatOf((out[3][i] >> (16 * which)) << 16);
          if (magnitude > format.largest) {
            bool isInf = name == "bf8" && magnitude == 0x7C;
            EXPECT_EQ(std::isinf(wide), isInf);
            EXPECT_EQ(std::isnan(wide), !isInf);
            continue;
          }
          double value = valueOfCode(format, code);
          ASSERT_EQ(wide, float(4 * value)) << name << " " << code;
          ASSERT_EQ(half, _Float16(0.5 * value)) << name << " " << code;
          ASSERT_EQ(brain, float(0.5 * value)) << name << " " << code;
        }
      }
    }
  }
}

/// Stochastic rounding adds the seed's top bits under the last bit that is kept
/// and truncates; the second result of a pair has the next random number.
TEST(SimScaledConvert, StochasticRounding) {
  const uint32_t seeds[] = {0, 0xFFFFFFFF, 0x80000000, 0x12345678, 0xDEADBEEF};
  LaneProgram program;
  program.inputs = {sampleFloats(0), sampleFloats(5),
                    lanes([&](unsigned i) { return seeds[i % 5]; })};
  program.instructions =
      "  v_mov_b32 v40, 0\n  v_mov_b32 v41, 0\n  v_mov_b32 v42, 0\n"
      "  v_cvt_scalef32_sr_fp8_f32 v40, v10, v12, 1.0 op_sel:[0,0,1,0]\n"
      "  v_cvt_sr_bf8_f32 v41, v10, v12\n"
      "  v_cvt_scalef32_sr_pk_fp4_f32 v42, v[10:11], v12, 1.0\n"
      "  v_cvt_sr_bf16_f32 v43, v10, v12\n"
      "  v_cvt_sr_f16_f32 v44, v10, v12\n";
  program.outputs = 5;
  auto out = runLanes(program);
  auto rounded = [](float value, uint32_t seed, unsigned mantissaBits,
                    int smallest) {
    if (value == 0) {
      return double(value);
    }
    int exponent = std::max(std::ilogb(value), smallest);
    double quantum = std::ldexp(1.0, exponent - int(mantissaBits));
    double fraction = std::ldexp(1.0, 23 - int(mantissaBits));
    double steps = std::floor(std::fabs(value) / quantum * fraction);
    steps += seed >> (32 - (23 - mantissaBits));
    return std::copysign(std::floor(steps / fraction) * quantum, double(value));
  };
  for (unsigned i = 0; i < 64; ++i) {
    float a = floatOf(program.inputs[0][i]), b = floatOf(program.inputs[1][i]);
    uint32_t seed = seeds[i % 5];
    uint32_t next = seed << 1 ^ (seed >> 31 ? 197 : 0);
    auto code = [&](unsigned format, float value, uint32_t random, int least) {
      return nearestCode(
          formats[format],
          rounded(value, random, formats[format].mantissaBits, least));
    };
    ASSERT_EQ(out[0][i], code(0, a, seed, -6) << 8) << i;
    ASSERT_EQ(out[1][i], code(1, a, seed, -14)) << i;
    ASSERT_EQ(out[2][i], code(4, a, seed, 0) | code(4, b, next, 0) << 4) << i;
    ASSERT_EQ(floatOf(out[3][i] << 16), float(rounded(a, seed, 7, -126))) << i;
    ASSERT_EQ(float(std::bit_cast<_Float16>(uint16_t(out[4][i]))),
              float(rounded(a, seed, 10, -14)))
        << i;
  }
}

/// What is beyond the largest value: infinity or NaN for eight bits, the
/// largest value for fewer; FP16_OVFL saturates the eight bits too.
TEST(SimScaledConvert, Overflow) {
  for (bool saturate : {false, true}) {
    LaneProgram program;
    program.inputs = {lanes([](unsigned i) {
      const uint32_t values[] = {0x7F800000, 0xFF800000, 0x7FC00000,
                                 bitsOf(1e30f), bitsOf(-1e30f)};
      return values[i % 5];
    })};
    program.instructions =
        std::string("  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 23, 1), ") +
        (saturate ? "1" : "0") +
        "\n  v_mov_b32 v40, 0\n  v_mov_b32 v41, 0\n  v_mov_b32 v42, 0\n"
        "  v_mov_b32 v43, 0\n"
        "  v_cvt_scalef32_pk_fp8_f32 v40, v10, v43, 1.0\n"
        "  v_cvt_scalef32_pk_bf8_f32 v41, v10, v43, 1.0\n"
        "  v_cvt_scalef32_pk_fp4_f32 v42, v10, v43, 1.0\n";
    program.outputs = 3;
    auto out = runLanes(program);
    const uint32_t fp8[2][5] = {{0x7F, 0xFF, 0x7F, 0x7F, 0xFF},
                                {0x7E, 0xFE, 0x7F, 0x7E, 0xFE}};
    const uint32_t bf8[2][5] = {{0x7C, 0xFC, 0x7F, 0x7C, 0xFC},
                                {0x7B, 0xFB, 0x7F, 0x7B, 0xFB}};
    const uint32_t fp4[5] = {7, 15, 7, 7, 15};
    for (unsigned i = 0; i < 5; ++i) {
      EXPECT_EQ(out[0][i], fp8[saturate][i]) << i;
      EXPECT_EQ(out[1][i], bf8[saturate][i]) << i;
      EXPECT_EQ(out[2][i], fp4[i]) << i;
    }
  }
}

} // namespace
