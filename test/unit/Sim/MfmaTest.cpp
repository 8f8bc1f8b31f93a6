//===- MfmaTest.cpp - matrix products against plain sums --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

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

} // namespace
