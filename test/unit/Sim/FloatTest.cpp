//===- FloatTest.cpp - vector floating point on edge values -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <functional>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

bool isNan(uint32_t bits) { return (bits & 0x7FFFFFFF) > 0x7F800000; }

/// The NaN that the hardware returns when the host's result is one: the first
/// NaN operand made quiet, or the positive default.
uint32_t expectedBits(float result, std::vector<uint32_t> operands) {
  if (!std::isnan(result)) {
    return bitsOf(result);
  }
  for (uint32_t operand : operands) {
    if (isNan(operand)) {
      return operand | 0x00400000;
    }
  }
  return 0x7FC00000;
}

/// Pairs of edge values: every input of 64 lanes, 64 rotations.
void checkBinary(const char *mnemonic,
                 const std::function<uint32_t(uint32_t, uint32_t)> &expected) {
  for (unsigned rotate = 0; rotate < 64; rotate += 3) {
    LaneProgram program;
    program.instructions = std::string("  ") + mnemonic + " v40, v10, v11";
    program.inputs = {edgeFloats(), edgeFloats(rotate)};
    auto out = runLanes(program)[0];
    for (unsigned i = 0; i < 64; ++i) {
      uint32_t a = program.inputs[0][i], b = program.inputs[1][i];
      ASSERT_EQ(out[i], expected(a, b))
          << mnemonic << std::hex << " a " << a << " b " << b;
    }
  }
}

void checkUnary(const char *mnemonic,
                const std::function<uint32_t(uint32_t)> &expected) {
  LaneProgram program;
  program.instructions = std::string("  ") + mnemonic + " v40, v10";
  program.inputs = {edgeFloats()};
  auto out = runLanes(program)[0];
  for (unsigned i = 0; i < 64; ++i) {
    uint32_t a = program.inputs[0][i];
    ASSERT_EQ(out[i], expected(a)) << mnemonic << std::hex << " a " << a;
  }
}

TEST(SimFloat, AddSubMul) {
  checkBinary("v_add_f32", [](uint32_t a, uint32_t b) {
    return expectedBits(floatOf(a) + floatOf(b), {a, b});
  });
  checkBinary("v_sub_f32", [](uint32_t a, uint32_t b) {
    return expectedBits(floatOf(a) - floatOf(b), {a, b});
  });
  checkBinary("v_mul_f32", [](uint32_t a, uint32_t b) {
    return expectedBits(floatOf(a) * floatOf(b), {a, b});
  });
}

TEST(SimFloat, MinMaxTreatNanAsMissingAndOrderZeros) {
  auto pick = [](uint32_t a, uint32_t b, bool smaller) -> uint32_t {
    if (isNan(a)) {
      return b;
    }
    if (isNan(b)) {
      return a;
    }
    // A total order of the bits: sign-magnitude to two's complement.
    auto key = [](uint32_t bits) {
      return bits >> 31 ? -int64_t(bits & 0x7FFFFFFF) - 1 : int64_t(bits);
    };
    return (key(a) < key(b)) == smaller ? a : b;
  };
  checkBinary("v_min_f32",
              [&](uint32_t a, uint32_t b) { return pick(a, b, true); });
  checkBinary("v_max_f32",
              [&](uint32_t a, uint32_t b) { return pick(a, b, false); });
}

TEST(SimFloat, FmaRoundsOnce) {
  for (unsigned rotate = 0; rotate < 64; rotate += 7) {
    LaneProgram program;
    program.instructions = "  v_fma_f32 v40, v10, v11, v12\n"
                           "  v_mov_b32 v41, v12\n"
                           "  v_fmac_f32 v41, v10, v11\n"
                           "  v_fma_f32 v42, -v10, |v11|, -|v12|\n";
    program.inputs = {edgeFloats(), edgeFloats(rotate), edgeFloats(5)};
    program.outputs = 3;
    auto out = runLanes(program);
    for (unsigned i = 0; i < 64; ++i) {
      uint32_t a = program.inputs[0][i], b = program.inputs[1][i],
               c = program.inputs[2][i];
      uint32_t plain =
          expectedBits(std::fma(floatOf(a), floatOf(b), floatOf(c)), {a, b, c});
      EXPECT_EQ(out[0][i], plain) << std::hex << a << " " << b << " " << c;
      EXPECT_EQ(out[1][i], plain);
      a ^= 0x80000000;
      b &= 0x7FFFFFFF;
      c |= 0x80000000;
      EXPECT_EQ(out[2][i],
                expectedBits(std::fma(floatOf(a), floatOf(b), floatOf(c)),
                             {a, b, c}));
    }
  }
}

TEST(SimFloat, RoundingToIntegers) {
  checkUnary("v_trunc_f32", [](uint32_t a) {
    return expectedBits(std::trunc(floatOf(a)), {a});
  });
  checkUnary("v_ceil_f32", [](uint32_t a) {
    return expectedBits(std::ceil(floatOf(a)), {a});
  });
  checkUnary("v_floor_f32", [](uint32_t a) {
    return expectedBits(std::floor(floatOf(a)), {a});
  });
  checkUnary("v_rndne_f32", [](uint32_t a) {
    return expectedBits(std::nearbyint(floatOf(a)), {a});
  });
}

TEST(SimFloat, ConversionsSaturate) {
  checkUnary("v_cvt_i32_f32", [](uint32_t a) -> uint32_t {
    double value = std::trunc(double(floatOf(a)));
    if (std::isnan(value)) {
      return 0;
    }
    return uint32_t(int32_t(std::clamp(value, -2147483648.0, 2147483647.0)));
  });
  checkUnary("v_cvt_u32_f32", [](uint32_t a) -> uint32_t {
    double value = std::trunc(double(floatOf(a)));
    return std::isnan(value) ? 0
                             : uint32_t(std::clamp(value, 0.0, 4294967295.0));
  });
}

TEST(SimFloat, Bf16PackRoundsToNearestEven) {
  checkBinary("v_cvt_pk_bf16_f32", [](uint32_t a, uint32_t b) {
    auto round = [](uint32_t bits) -> uint32_t {
      if (isNan(bits)) {
        return (bits >> 16) | 0x40;
      }
      uint32_t low = bits & 0xFFFF, high = bits >> 16;
      return high + (low > 0x8000 || (low == 0x8000 && (high & 1)));
    };
    return round(a) | round(b) << 16;
  });
}

/// Results differ from the exact value by the one rounding to float. The
/// denormals of operands and results are zeros.
void checkTranscendental(const char *mnemonic, double (*function)(double)) {
  auto flush = [](float value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value)
                                                  : value;
  };
  checkUnary(mnemonic, [&](uint32_t a) {
    float input = flush(floatOf(a));
    float result = flush(float(function(double(input))));
    return expectedBits(result, {a});
  });
}

TEST(SimFloat, Transcendentals) {
  checkTranscendental("v_exp_f32", [](double x) { return std::exp2(x); });
  checkTranscendental("v_log_f32", [](double x) { return std::log2(x); });
  checkTranscendental("v_rcp_f32", [](double x) { return 1 / x; });
  checkTranscendental("v_rsq_f32", [](double x) { return 1 / std::sqrt(x); });
  checkTranscendental("v_sqrt_f32", [](double x) { return std::sqrt(x); });
}

TEST(SimFloat, SineCountsTurns) {
  LaneProgram program;
  program.instructions = "  v_sin_f32 v40, v10\n  v_cos_f32 v41, v10\n";
  program.inputs = {lanes([](unsigned i) {
    return bitsOf(i < 60 ? (float(i) - 30) / 8 : (i == 60 ? 257.0f : -0.0f));
  })};
  program.outputs = 2;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 60; ++i) {
    double turn = 2 * M_PI * (double(i) - 30) / 8;
    EXPECT_NEAR(floatOf(out[0][i]), std::sin(turn), 1e-7) << i;
    EXPECT_NEAR(floatOf(out[1][i]), std::cos(turn), 1e-7) << i;
  }
  // Exact where the true value is; out of range sin 0 and cos 1.
  EXPECT_EQ(floatOf(out[0][34]), 0.0f);
  EXPECT_EQ(floatOf(out[1][32]), 0.0f);
  EXPECT_EQ(floatOf(out[0][32]), 1.0f);
  EXPECT_EQ(floatOf(out[0][60]), 0.0f);
  EXPECT_EQ(floatOf(out[1][60]), 1.0f);
}

TEST(SimFloat, ClampAndOutputModifiers) {
  LaneProgram program;
  program.options.denormals32 = 0;
  program.options.directives = "    .amdhsa_ieee_mode 0\n";
  program.instructions = "  v_add_f32 v40, v10, v11 clamp\n"
                         "  v_mul_f32 v41, v10, v11 mul:4\n"
                         "  v_mul_f32 v42, v10, v11 div:2\n";
  program.inputs = {edgeFloats(), edgeFloats(9)};
  program.outputs = 3;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    auto flush = [](uint32_t bits) {
      return bits & 0x7F800000 ? bits : bits & 0x80000000;
    };
    uint32_t a = flush(program.inputs[0][i]), b = flush(program.inputs[1][i]);
    float sum = floatOf(a) + floatOf(b), product = floatOf(a) * floatOf(b);
    // dx10_clamp is on by default: NaN becomes 0.
    float clamped =
        std::isnan(sum) ? 0.0f : std::min(std::max(sum, 0.0f), 1.0f);
    EXPECT_EQ(floatOf(out[0][i]), clamped) << i;
    // A modifier comes with no denormals and no negative zero.
    auto modified = [&](float value) {
      uint32_t bits = flush(expectedBits(value, {a, b}));
      return bits == 0x80000000 ? 0 : bits;
    };
    EXPECT_EQ(out[1][i], modified(product * 4)) << i;
    EXPECT_EQ(out[2][i], modified(product * 0.5f)) << i;
  }
}

TEST(SimFloat, DenormalModeFollowsTheDescriptor) {
  LaneProgram program;
  program.instructions = "  v_add_f32 v40, v10, v11\n"
                         "  v_mul_f32 v41, v10, v11\n"
                         "  v_mov_b32 v42, v10\n"
                         "  v_pk_mul_f32 v[44:45], v[10:11], v[10:11]\n"
                         "  v_mov_b32 v43, v44\n";
  program.inputs = {lanes([](unsigned i) { return i ? i : 0x00800000u; }),
                    lanes([](unsigned) { return bitsOf(0.5f); })};
  program.outputs = 4;
  program.options.denormals32 = 3;
  auto kept = runLanes(program);
  program.options.denormals32 = 0;
  auto flushed = runLanes(program);
  for (unsigned i = 1; i < 64; ++i) {
    EXPECT_EQ(kept[0][i], bitsOf(0.5f));
    EXPECT_EQ(kept[1][i], bitsOf(floatOf(i) * 0.5f));
    EXPECT_EQ(flushed[1][i], 0u) << "a denormal operand counts as zero";
    EXPECT_EQ(flushed[2][i], i) << "moves keep denormals";
  }
  // The operand is normal, the product is not: only the result is flushed.
  EXPECT_EQ(kept[1][0], 0x00400000u);
  EXPECT_EQ(flushed[1][0], 0u);
}

TEST(SimFloat, RoundingModeCanBeSet) {
  LaneProgram program;
  // FP_ROUND, both halves: +inf is 1, -inf 2, zero 3.
  program.instructions = "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5\n"
                         "  v_add_f32 v40, v10, v11\n"
                         "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 10\n"
                         "  v_add_f32 v41, v10, v11\n"
                         "  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 15\n"
                         "  v_add_f32 v42, v10, v11\n"
                         "  s_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 4)\n"
                         "  v_mov_b32 v43, s20\n";
  program.inputs = {
      lanes([](unsigned) { return bitsOf(1.0f); }),
      lanes([](unsigned i) { return bitsOf(i % 2 ? 1e-10f : -1e-10f); })};
  program.outputs = 4;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    float above = std::nextafter(1.0f, 2.0f),
          below = std::nextafter(1.0f, 0.0f);
    EXPECT_EQ(floatOf(out[0][i]), i % 2 ? above : 1.0f);
    EXPECT_EQ(floatOf(out[1][i]), i % 2 ? 1.0f : below);
    EXPECT_EQ(floatOf(out[2][i]), i % 2 ? 1.0f : below);
    EXPECT_EQ(out[3][i], 15u);
  }
  EXPECT_EQ(std::fegetround(), FE_TONEAREST) << "the host's mode is restored";
}

TEST(SimFloat, PackedOperandsAndOpSel) {
  LaneProgram program;
  program.instructions =
      "  v_pk_fma_f32 v[40:41], v[10:11], v[12:13], v[14:15] "
      "op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[0,1,0] neg_hi:[1,0,0]\n"
      "  s_mov_b32 s20, 0x40000000\n  s_mov_b32 s21, 0x40400000\n"
      "  v_pk_mul_f32 v[42:43], v[10:11], s[20:21]\n"
      "  v_pk_add_f32 v[44:45], v[10:11], 1.0 op_sel_hi:[1,0]\n";
  program.inputs = {edgeFloats(32), edgeFloats(33), edgeFloats(34),
                    edgeFloats(35), edgeFloats(36), edgeFloats(37)};
  program.outputs = 6;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    auto in = [&](unsigned k) { return program.inputs[k][i]; };
    uint32_t negated = in(2) ^ 0x80000000;
    EXPECT_EQ(out[0][i], expectedBits(std::fma(floatOf(in(1)), floatOf(negated),
                                               floatOf(in(4))),
                                      {in(1), negated, in(4)}));
    uint32_t minus = in(0) ^ 0x80000000;
    EXPECT_EQ(out[1][i], expectedBits(std::fma(floatOf(minus), floatOf(in(3)),
                                               floatOf(in(5))),
                                      {minus, in(3), in(5)}));
    EXPECT_EQ(out[2][i], expectedBits(floatOf(in(0)) * 2.0f, {in(0)}));
    EXPECT_EQ(out[3][i], expectedBits(floatOf(in(1)) * 3.0f, {in(1)}));
    EXPECT_EQ(out[4][i], expectedBits(floatOf(in(0)) + 1.0f, {in(0)}));
    EXPECT_EQ(out[5][i], expectedBits(floatOf(in(1)) + 1.0f, {in(1)}));
  }
}

TEST(SimFloat, HalfArithmeticRoundsOnceAndClearsTheUpperHalf) {
  LaneProgram program;
  program.instructions = "  v_mov_b32 v40, -1\n  v_mov_b32 v41, -1\n"
                         "  v_add_f16 v40, v10, v11\n"
                         "  v_fma_f16 v41, v10, v11, v10\n"
                         "  v_pk_mul_f16 v42, v10, v11 op_sel:[0,1] "
                         "op_sel_hi:[1,0]\n"
                         "  v_cvt_f32_f16 v43, v10\n";
  program.inputs = {lanes([](unsigned i) {
                      return 0x3C00u + 37 * i + (0x4100u + i) * 65536;
                    }),
                    lanes([](unsigned i) {
                      return 0x3555u + 11 * i + (0xB800u + i) * 65536;
                    })};
  program.outputs = 4;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    auto half = [](uint32_t bits) {
      return std::bit_cast<_Float16>(uint16_t(bits));
    };
    auto bits = [](_Float16 value) -> uint32_t {
      return std::bit_cast<uint16_t>(value);
    };
    uint32_t a = program.inputs[0][i], b = program.inputs[1][i];
    EXPECT_EQ(out[0][i], bits(half(a) + half(b)));
    // long double holds the exact sum of a half and a product of halves.
    long double exact = (long double)half(a) * half(b) + half(a);
    EXPECT_EQ(out[1][i], 0xFFFF0000u | bits(_Float16(exact)));
    EXPECT_EQ(out[2][i], bits(half(a) * half(b >> 16)) |
                             bits(half(a >> 16) * half(b)) << 16);
    EXPECT_EQ(floatOf(out[3][i]), float(half(a)));
  }
}

TEST(SimFloat, MixedPrecisionFmaIsFused) {
  LaneProgram program;
  program.instructions =
      "  v_fma_mix_f32 v40, v10, v11, v12 op_sel:[1,0,0] op_sel_hi:[1,0,0]\n";
  program.inputs = {
      lanes([](unsigned i) { return (0x3C01u + i) * 65536 + 0x1234; }),
      edgeFloats(40), edgeFloats(3)};
  auto out = runLanes(program)[0];
  for (unsigned i = 0; i < 64; ++i) {
    float a = std::bit_cast<_Float16>(uint16_t(program.inputs[0][i] >> 16));
    uint32_t b = program.inputs[1][i], c = program.inputs[2][i];
    EXPECT_EQ(out[i],
              expectedBits(std::fma(a, floatOf(b), floatOf(c)), {b, c}));
  }
}

TEST(SimFloat, DoublePrecision) {
  LaneProgram program;
  program.instructions =
      "  v_cvt_f64_f32 v[20:21], v10\n  v_cvt_f64_f32 v[22:23], v11\n"
      "  v_fma_f64 v[24:25], v[20:21], v[22:23], 1.0\n"
      "  v_mov_b32 v40, v24\n  v_mov_b32 v41, v25\n"
      "  v_cmp_lt_f64 vcc, v[20:21], v[22:23]\n"
      "  v_cndmask_b32 v42, 0, 1, vcc\n";
  program.inputs = {edgeFloats(), edgeFloats(13)};
  program.outputs = 3;
  auto out = runLanes(program);
  for (unsigned i = 0; i < 64; ++i) {
    double a = floatOf(program.inputs[0][i]), b = floatOf(program.inputs[1][i]);
    double expected = std::fma(a, b, 1.0);
    double got = std::bit_cast<double>(out[0][i] | uint64_t(out[1][i]) << 32);
    EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)))
        << a << " * " << b << " + 1 = " << got;
    EXPECT_EQ(out[2][i], uint32_t(a < b));
  }
}

TEST(SimFloat, CompareClasses) {
  LaneProgram program;
  program.instructions = "  v_cmp_class_f32 vcc, v10, v11\n"
                         "  v_cndmask_b32 v40, 0, 1, vcc\n"
                         "  v_cmp_nlt_f32 vcc, v10, v10\n"
                         "  v_cndmask_b32 v41, 0, 1, vcc\n"
                         "  v_cmp_u_f32 vcc, v10, v10\n"
                         "  v_cndmask_b32 v42, 0, 1, vcc\n";
  program.outputs = 3;
  for (unsigned bit = 0; bit < 10; ++bit) {
    program.inputs = {edgeFloats(), lanes([&](unsigned) { return 1u << bit; })};
    auto out = runLanes(program);
    for (unsigned i = 0; i < 64; ++i) {
      uint32_t a = program.inputs[0][i];
      float value = floatOf(a);
      bool negative = a >> 31;
      unsigned kind;
      switch (std::fpclassify(value)) {
      case FP_NAN:
        kind = a & 0x00400000 ? 1 : 0;
        break;
      case FP_INFINITE:
        kind = negative ? 2 : 9;
        break;
      case FP_NORMAL:
        kind = negative ? 3 : 8;
        break;
      case FP_SUBNORMAL:
        kind = negative ? 4 : 7;
        break;
      default:
        kind = negative ? 5 : 6;
        break;
      }
      EXPECT_EQ(out[0][i], uint32_t(kind == bit)) << std::hex << a;
      EXPECT_EQ(out[1][i], 1u);
      EXPECT_EQ(out[2][i], uint32_t(std::isnan(value)));
    }
  }
}

} // namespace
