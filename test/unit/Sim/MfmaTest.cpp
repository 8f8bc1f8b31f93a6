//===- MfmaTest.cpp - matrix products against plain sums --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <cmath>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

struct Shape {
  const char *mnemonic;
  unsigned size, k;
  unsigned elementBits;
  enum { Float, Half, Brain, Byte } type;
};

class SimMfma : public ::testing::TestWithParam<Shape> {};

/// Small integers, exact in every format and in every order of summation, and
/// different enough that a wrong place shows.
int valueOf(unsigned row, unsigned k, unsigned salt) {
  return int((row * 7 + k * 13 + row * k * 3 + salt) % 11) - 5;
}

uint32_t encode(const Shape &shape, int value) {
  switch (shape.type) {
  case Shape::Float:
    return bitsOf(float(value));
  case Shape::Half:
    return std::bit_cast<uint16_t>(_Float16(float(value)));
  case Shape::Brain:
    return bitsOf(float(value)) >> 16;
  case Shape::Byte:
    return uint8_t(value);
  }
  return 0;
}

TEST_P(SimMfma, MatchesTheDefinition) {
  const Shape &shape = GetParam();
  unsigned groups = 64 / shape.size, perLane = shape.k / groups;
  unsigned registers = perLane * shape.elementBits / 32;
  unsigned accumulators = shape.size * shape.size / 64;
  unsigned perRegister = 32 / shape.elementBits;
  LaneProgram program;
  for (unsigned operand = 0; operand < 2; ++operand) {
    for (unsigned r = 0; r < 4; ++r) {
      program.inputs.push_back(lanes([&](unsigned lane) {
        uint32_t bits = 0;
        for (unsigned e = 0; e < perRegister && r < registers; ++e) {
          unsigned k = lane / shape.size * perLane + r * perRegister + e;
          bits |= encode(shape, valueOf(lane % shape.size, k, 17 * operand))
                  << (e * shape.elementBits);
        }
        return bits;
      }));
    }
  }
  auto range = [](const char *file, unsigned first, unsigned count) {
    return count == 1 ? file + std::to_string(first)
                      : std::string(file) + "[" + std::to_string(first) + ":" +
                            std::to_string(first + count - 1) + "]";
  };
  // EXEC is ignored; the second product adds to the first, in AGPRs.
  std::string a = range("v", 10, registers), b = range("v", 14, registers);
  std::string d = range("v", 40, accumulators);
  std::string acc = range("a", 0, accumulators);
  program.instructions =
      "  s_mov_b64 exec, 1\n  " + std::string(shape.mnemonic) + " " + acc +
      ", " + a + ", " + b + ", 0\n  " + shape.mnemonic + " " + acc + ", " + a +
      ", " + b + ", " + acc + "\n  s_mov_b64 exec, -1\n  s_nop 15\n";
  for (unsigned v = 0; v < accumulators; ++v) {
    program.instructions += "  v_accvgpr_read_b32 v" + std::to_string(40 + v) +
                            ", a" + std::to_string(v) + "\n";
  }
  program.outputs = accumulators;
  auto out = runLanes(program);
  for (unsigned v = 0; v < accumulators; ++v) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned group = lane / shape.size, column = lane % shape.size;
      unsigned row =
          shape.size == 16 ? 4 * group + v : 8 * (v / 4) + 4 * group + v % 4;
      int sum = 0;
      for (unsigned k = 0; k < shape.k; ++k) {
        sum += valueOf(row, k, 0) * valueOf(column, k, 17);
      }
      uint32_t expected = shape.type == Shape::Byte ? uint32_t(2 * sum)
                                                    : bitsOf(float(2 * sum));
      ASSERT_EQ(out[v][lane], expected) << "register " << v << " lane " << lane;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SimMfma,
    ::testing::Values(
        Shape{"v_mfma_f32_16x16x4_f32", 16, 4, 32, Shape::Float},
        Shape{"v_mfma_f32_32x32x2_f32", 32, 2, 32, Shape::Float},
        Shape{"v_mfma_f32_16x16x16_f16", 16, 16, 16, Shape::Half},
        Shape{"v_mfma_f32_32x32x8_f16", 32, 8, 16, Shape::Half},
        Shape{"v_mfma_f32_16x16x32_f16", 16, 32, 16, Shape::Half},
        Shape{"v_mfma_f32_32x32x16_f16", 32, 16, 16, Shape::Half},
        Shape{"v_mfma_f32_16x16x16_bf16", 16, 16, 16, Shape::Brain},
        Shape{"v_mfma_f32_32x32x8_bf16", 32, 8, 16, Shape::Brain},
        Shape{"v_mfma_f32_16x16x32_bf16", 16, 32, 16, Shape::Brain},
        Shape{"v_mfma_f32_32x32x16_bf16", 32, 16, 16, Shape::Brain},
        Shape{"v_mfma_i32_16x16x32_i8", 16, 32, 8, Shape::Byte},
        Shape{"v_mfma_i32_32x32x16_i8", 32, 16, 8, Shape::Byte},
        Shape{"v_mfma_i32_16x16x64_i8", 16, 64, 8, Shape::Byte},
        Shape{"v_mfma_i32_32x32x32_i8", 32, 32, 8, Shape::Byte}),
    [](const auto &info) { return info.param.mnemonic; });

/// One of the formats of f8f6f4: small integers and halves that it holds.
struct SmallType {
  unsigned bits;
  std::vector<std::pair<uint32_t, float>> codes;
};
const SmallType smallTypes[5] = {
    {8, {{0x38, 1}, {0xC0, -2}, {0x30, 0.5f}, {0x44, 3}, {0x00, 0}}},
    {8, {{0x3C, 1}, {0xC0, -2}, {0x38, 0.5f}, {0x42, 3}, {0x00, 0}}},
    {6, {{0x08, 1}, {0x30, -2}, {0x04, 0.5f}, {0x14, 3}, {0x00, 0}}},
    {6, {{0x0C, 1}, {0x30, -2}, {0x08, 0.5f}, {0x12, 3}, {0x00, 0}}},
    {4, {{0x2, 1}, {0xC, -2}, {0x1, 0.5f}, {0x5, 3}, {0x0, 0}}},
};

/// K index of an element, as the hardware table has it: 8-bit operands hold
/// two runs of 16, the narrower ones 32 in a row.
unsigned smallK(unsigned bits, unsigned element, unsigned group,
                unsigned groups) {
  return bits == 8 ? element / 16 * 16 * groups + group * 16 + element % 16
                   : group * 32 + element;
}

TEST(SimMfmaSmall, AllFormatPairsWithBlockScales) {
  for (unsigned size : {16u, 32u}) {
    unsigned groups = 64 / size, depth = 32 * groups;
    for (unsigned pair = 0; pair < 25; ++pair) {
      unsigned formats[2] = {pair % 5, pair / 5};
      auto pick = [&](unsigned operand, unsigned row, unsigned k) {
        return (row * 5 + k * 7 + row * k + 3 * operand) % 5;
      };
      LaneProgram program;
      std::vector<std::vector<uint32_t>> registers(16,
                                                   std::vector<uint32_t>(64));
      for (unsigned operand = 0; operand < 2; ++operand) {
        const SmallType &type = smallTypes[formats[operand]];
        for (unsigned lane = 0; lane < 64; ++lane) {
          for (unsigned e = 0; e < 32; ++e) {
            unsigned k = smallK(type.bits, e, lane / size, groups);
            uint64_t code = type.codes[pick(operand, lane % size, k)].first;
            unsigned at = e * type.bits;
            uint64_t shifted = code << (at % 32);
            registers[8 * operand + at / 32][lane] |= uint32_t(shifted);
            if (shifted >> 32) {
              registers[8 * operand + at / 32 + 1][lane] |=
                  uint32_t(shifted >> 32);
            }
          }
        }
      }
      program.inputs = registers; // v10 ... v25
      auto scaleCode = [&](unsigned operand, unsigned row, unsigned block) {
        return 124 + (row * 3 + block * 5 + operand) % 7;
      };
      for (unsigned operand = 0; operand < 2; ++operand) {
        // The scales are in byte 2 of A's register and byte 1 of B's.
        program.inputs.push_back(lanes([&](unsigned lane) {
          uint32_t code = scaleCode(operand, lane % size, lane / size);
          return operand ? 0xFFFF00FFu | code << 8 : 0xFF00FFFFu | code << 16;
        }));
      }
      auto range = [](unsigned first, unsigned bits) {
        return "v[" + std::to_string(first) + ":" +
               std::to_string(first + bits - 1) + "]";
      };
      unsigned accumulators = size * size / 64;
      program.instructions =
          "  v_mfma_scale_f32_" +
          std::string(size == 16 ? "16x16x128" : "32x32x64") + "_f8f6f4 " +
          range(40, accumulators) + ", " +
          range(10, smallTypes[formats[0]].bits) + ", " +
          range(18, smallTypes[formats[1]].bits) + ", 1.0, v26, v27 " +
          "op_sel:[0,1,0] op_sel_hi:[1,0,0] cbsz:" +
          std::to_string(formats[0]) + " blgp:" + std::to_string(formats[1]) +
          "\n";
      program.outputs = accumulators;
      auto out = runLanes(program);
      for (unsigned v = 0; v < accumulators; ++v) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          unsigned group = lane / size, column = lane % size;
          unsigned row =
              size == 16 ? 4 * group + v : 8 * (v / 4) + 4 * group + v % 4;
          double expected = 1;
          for (unsigned k = 0; k < depth; ++k) {
            double product =
                smallTypes[formats[0]].codes[pick(0, row, k)].second *
                smallTypes[formats[1]].codes[pick(1, column, k)].second;
            int exponent = int(scaleCode(0, row, k / 32)) +
                           int(scaleCode(1, column, k / 32)) - 254;
            expected += std::ldexp(product, exponent);
          }
          ASSERT_EQ(floatOf(out[v][lane]), float(expected))
              << size << " formats " << formats[0] << " " << formats[1]
              << " register " << v << " lane " << lane;
        }
      }
    }
  }
}

TEST(SimMfmaSmall, Float8ConversionsRoundAndKeepTheOtherHalf) {
  LaneProgram program;
  program.instructions =
      "  v_mov_b32 v40, -1\n"
      "  v_cvt_pk_fp8_f32 v40, v10, v11\n"
      "  v_mov_b32 v41, 0\n"
      "  v_cvt_pk_fp8_f32 v41, v10, v11 op_sel:[0,0,1]\n"
      "  v_cvt_pk_f32_fp8_sdwa v[42:43], v41 src0_sel:WORD_1\n";
  // 1.0625 is a tie between 1 and 1.125: to even. 464 and above overflow.
  program.inputs = {lanes([](unsigned i) {
                      const float values[] = {
                          1.0625f, 1.1875f,      -448,         463.9f,
                          464,     0.001953125f, 0.0009765625f};
                      return bitsOf(values[i % 7]);
                    }),
                    lanes([](unsigned) { return bitsOf(-0.0f); })};
  program.outputs = 4;
  auto out = runLanes(program);
  const uint32_t codes[] = {0x38, 0x3A, 0xFE, 0x7E, 0x7F, 0x01, 0x00};
  for (unsigned i = 0; i < 64; ++i) {
    uint32_t packed = codes[i % 7] | 0x8000;
    EXPECT_EQ(out[0][i], 0xFFFF0000u | packed) << i;
    EXPECT_EQ(out[1][i], packed << 16) << i;
    EXPECT_EQ(out[3][i], bitsOf(-0.0f));
  }
  EXPECT_EQ(floatOf(out[2][1]), 1.25f);
  EXPECT_EQ(floatOf(out[2][2]), -448.0f);
  EXPECT_TRUE(std::isnan(floatOf(out[2][4])));
}

} // namespace
