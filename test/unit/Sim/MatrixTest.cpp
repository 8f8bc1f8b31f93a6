//===- MatrixTest.cpp - several blocks, doubles, sparsity -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Assembler.h"

#include <cmath>
#include <cstring>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

enum class Type { F32, F16, Bf16, I8, Fp8, Bf8 };

unsigned bitsOfType(Type type) {
  return type == Type::F32 ? 32
                           : (type == Type::F16 || type == Type::Bf16 ? 16 : 8);
}

/// Encodes -2 ... 2.
uint32_t encode(Type type, int value) {
  static const uint32_t fp8[] = {0xC0, 0xB8, 0x00, 0x38, 0x40};
  static const uint32_t bf8[] = {0xC0, 0xBC, 0x00, 0x3C, 0x40};
  switch (type) {
  case Type::F32:
    return bitsOf(float(value));
  case Type::F16:
    return std::bit_cast<uint16_t>(_Float16(float(value)));
  case Type::Bf16:
    return bitsOf(float(value)) >> 16;
  case Type::I8:
    return uint8_t(value);
  case Type::Fp8:
    return fp8[value + 2];
  case Type::Bf8:
    return bf8[value + 2];
  }
  return 0;
}

int pick(unsigned block, unsigned row, unsigned k, unsigned salt) {
  return int((block * 3 + row * 7 + k * 13 + row * k * 3 + salt) % 5) - 2;
}

std::string range(const char *file, unsigned first, unsigned count) {
  std::string name = file;
  return count == 1 ? name + std::to_string(first)
                    : name + "[" + std::to_string(first) + ":" +
                          std::to_string(first + count - 1) + "]";
}

/// Registers of one operand, filled element by element.
class Registers {
public:
  explicit Registers(unsigned count)
      : rows(count, std::vector<uint32_t>(64, 0)) {}
  void put(Type type, unsigned lane, unsigned element, int value) {
    unsigned at = element * bitsOfType(type);
    rows[at / 32][lane] |= encode(type, value) << (at % 32);
  }
  std::vector<std::vector<uint32_t>> rows;
};

struct Blocks {
  const char *mnemonic;
  unsigned size, k, blocks;
  Type type;
};

class SimMatrixBlocks : public ::testing::TestWithParam<Blocks> {};

/// Each block is a product of its own; its results follow those of the one
/// before, or lie beside them for blocks of 4 x 4.
TEST_P(SimMatrixBlocks, MatchTheDefinition) {
  const Blocks &shape = GetParam();
  unsigned registers = std::max(1u, shape.k * bitsOfType(shape.type) / 32);
  unsigned accumulators = shape.size * shape.size * shape.blocks / 64;
  Registers a(2), b(2);
  for (unsigned block = 0; block < shape.blocks; ++block) {
    for (unsigned i = 0; i < shape.size; ++i) {
      for (unsigned k = 0; k < shape.k; ++k) {
        unsigned lane = block * shape.size + i;
        a.put(shape.type, lane, k, pick(block, i, k, 0));
        b.put(shape.type, lane, k, pick(block, i, k, 1));
      }
    }
  }
  LaneProgram program;
  program.options.accumOffset = 128;
  program.inputs = {a.rows[0], a.rows[1], b.rows[0], b.rows[1]};
  program.instructions = "  " + std::string(shape.mnemonic) + " " +
                         range("v", 40, accumulators) + ", " +
                         range("v", 10, registers) + ", " +
                         range("v", 12, registers) + ", 1\n";
  if (shape.type != Type::I8) {
    program.instructions.replace(program.instructions.rfind(", 1"), 3, ", 1.0");
  }
  program.outputs = accumulators;
  auto out = runLanes(program);
  for (unsigned block = 0; block < shape.blocks; ++block) {
    for (unsigned i = 0; i < shape.size; ++i) {
      for (unsigned j = 0; j < shape.size; ++j) {
        int sum = 1;
        for (unsigned k = 0; k < shape.k; ++k) {
          sum += pick(block, i, k, 0) * pick(block, j, k, 1);
        }
        unsigned reg, lane;
        if (shape.size == 4) {
          reg = i;
          lane = block * 4 + j;
        } else if (shape.size == 16) {
          reg = 4 * block + i % 4;
          lane = 16 * (i / 4) + j;
        } else {
          reg = 16 * block + 4 * (i / 8) + i % 4;
          lane = 32 * (i / 4 % 2) + j;
        }
        uint32_t expected =
            shape.type == Type::I8 ? uint32_t(sum) : bitsOf(float(sum));
        ASSERT_EQ(out[reg][lane], expected)
            << "block " << block << " row " << i << " column " << j;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SimMatrixBlocks,
    ::testing::Values(
        Blocks{"v_mfma_f32_32x32x1_2b_f32", 32, 1, 2, Type::F32},
        Blocks{"v_mfma_f32_16x16x1_4b_f32", 16, 1, 4, Type::F32},
        Blocks{"v_mfma_f32_4x4x1_16b_f32", 4, 1, 16, Type::F32},
        Blocks{"v_mfma_f32_32x32x4_2b_f16", 32, 4, 2, Type::F16},
        Blocks{"v_mfma_f32_16x16x4_4b_f16", 16, 4, 4, Type::F16},
        Blocks{"v_mfma_f32_4x4x4_16b_f16", 4, 4, 16, Type::F16},
        Blocks{"v_mfma_f32_32x32x4_2b_bf16", 32, 4, 2, Type::Bf16},
        Blocks{"v_mfma_f32_16x16x4_4b_bf16", 16, 4, 4, Type::Bf16},
        Blocks{"v_mfma_f32_4x4x4_16b_bf16", 4, 4, 16, Type::Bf16},
        Blocks{"v_mfma_i32_32x32x4_2b_i8", 32, 4, 2, Type::I8},
        Blocks{"v_mfma_i32_16x16x4_4b_i8", 16, 4, 4, Type::I8},
        Blocks{"v_mfma_i32_4x4x4_16b_i8", 4, 4, 16, Type::I8}),
    [](const auto &info) { return info.param.mnemonic; });

/// CBSZ and ABID broadcast blocks of A, BLGP moves the lanes of B.
TEST(SimMatrix, Broadcasts) {
  struct Case {
    const char *modifiers;
    unsigned (*laneA)(unsigned), (*laneB)(unsigned);
  };
  auto same = [](unsigned lane) { return lane; };
  const Case cases[] = {
      {"cbsz:1 abid:1", [](unsigned l) { return l % 32 + 32; }, same},
      {"blgp:1", same, [](unsigned l) { return l % 32; }},
      {"blgp:2", same, [](unsigned l) { return l % 32 + 32; }},
      {"blgp:3", same, [](unsigned l) { return (l + 16) % 64; }},
      {"blgp:6", same, [](unsigned l) { return l % 16 + 32; }},
  };
  for (const Case &test : cases) {
    LaneProgram program;
    program.options.accumOffset = 128;
    program.inputs = {
        lanes([](unsigned i) { return bitsOf(float(i + 1)); }),
        lanes([](unsigned i) { return bitsOf(float(100 * i + 1)); })};
    program.instructions =
        "  v_mfma_f32_32x32x1_2b_f32 v[40:71], v10, v11, 0 " +
        std::string(test.modifiers) + "\n";
    program.outputs = 32;
    auto out = runLanes(program);
    for (unsigned block = 0; block < 2; ++block) {
      for (unsigned i = 0; i < 32; ++i) {
        for (unsigned j = 0; j < 32; ++j) {
          float a = float(test.laneA(32 * block + i) + 1);
          float b = float(100 * test.laneB(32 * block + j) + 1);
          unsigned reg = 16 * block + 4 * (i / 8) + i % 4;
          ASSERT_EQ(floatOf(out[reg][32 * (i / 4 % 2) + j]), a * b)
              << test.modifiers << " block " << block << " " << i << "," << j;
        }
      }
    }
  }
}

/// Double precision, with the negations that BLGP means there.
TEST(SimMatrix, Doubles) {
  for (unsigned size : {16u, 4u}) {
    unsigned blocks = size == 4 ? 4 : 1, results = size == 16 ? 4 : 1;
    for (unsigned negated = 0; negated < 8; negated += 3) {
      auto value = [](unsigned lane, unsigned salt) {
        return 1.0 / 3 * double(int(lane * 7 + salt) % 11 - 5);
      };
      LaneProgram program;
      program.options.accumOffset = 128;
      for (unsigned operand = 0; operand < 3; ++operand) {
        for (unsigned word = 0; word < 2; ++word) {
          program.inputs.push_back(lanes([&](unsigned lane) {
            return uint32_t(std::bit_cast<uint64_t>(value(lane, operand)) >>
                            (32 * word));
          }));
        }
      }
      std::string moves;
      for (unsigned r = 0; r < results; ++r) {
        moves += "  v_mov_b64 v[" + std::to_string(20 + 2 * r) + ":" +
                 std::to_string(21 + 2 * r) + "], v[14:15]\n";
      }
      program.instructions =
          moves + "  v_mfma_f64_" +
          (size == 16 ? "16x16x4_f64 " : "4x4x4_4b_f64 ") +
          range("v", 40, 2 * results) + ", v[10:11], v[12:13], " +
          range("v", 20, 2 * results) + " neg:[" + std::to_string(negated & 1) +
          "," + std::to_string(negated >> 1 & 1) + "," +
          std::to_string(negated >> 2) + "]\n";
      program.outputs = 2 * results;
      auto out = runLanes(program);
      for (unsigned lane = 0; lane < 64; ++lane) {
        for (unsigned r = 0; r < results; ++r) {
          unsigned column = lane % size, block = lane / size % blocks;
          unsigned row = 4 * r + lane / (size * blocks);
          double expected = value(lane, 2) * (negated & 4 ? -1 : 1);
          for (unsigned k = 0; k < 4; ++k) {
            unsigned first = (k * blocks + block) * size;
            double a = value(first + row, 0) * (negated & 1 ? -1 : 1);
            double b = value(first + column, 1) * (negated & 2 ? -1 : 1);
            expected = std::fma(a, b, expected);
          }
          uint64_t bits = out[2 * r][lane] | uint64_t(out[2 * r + 1][lane])
                                                 << 32;
          ASSERT_EQ(std::bit_cast<double>(bits), expected)
              << size << " lane " << lane << " result " << r;
        }
      }
    }
  }
}

struct Sparse {
  const char *mnemonic;
  unsigned size, k;
  Type typeA, typeB;
  unsigned set; ///< of indices in the register
};

class SimMatrixSparse : public ::testing::TestWithParam<Sparse> {};

/// The layouts of A, B and the indices as section 7.5 of the CDNA4 ISA has
/// them: A packed like a dense operand of half the depth, B in runs of four
/// registers, two bits of index per element of A.
TEST_P(SimMatrixSparse, MatchTheDefinition) {
  const Sparse &shape = GetParam();
  unsigned groups = 64 / shape.size, bits = bitsOfType(shape.typeA);
  unsigned perLaneA = shape.k / 2 / groups, perLaneB = shape.k / groups;
  unsigned registersA = perLaneA * bits / 32, registersB = 2 * registersA;
  unsigned accumulators = shape.size * shape.size / 64;
  unsigned run = 128 / bits; // elements in four registers
  Registers a(4), b(8);
  auto chosen = [](unsigned row, unsigned four, unsigned which) {
    static const unsigned pairs[6][2] = {{0, 1}, {0, 2}, {0, 3},
                                         {1, 2}, {1, 3}, {2, 3}};
    return pairs[(row * 5 + four * 7) % 6][which];
  };
  std::vector<uint32_t> indices(64, 0);
  for (unsigned lane = 0; lane < 64; ++lane) {
    for (unsigned e = 0; e < perLaneA; ++e) {
      unsigned c = lane / shape.size * perLaneA + e, row = lane % shape.size;
      a.put(shape.typeA, lane, e, pick(0, row, c, 0));
      unsigned shift = 2 * e + 2 * perLaneA * shape.set;
      indices[lane] |= chosen(row, c / 2, c % 2) << shift;
    }
    for (unsigned e = 0; e < perLaneB; ++e) {
      unsigned k = e / run * run * groups + run * (lane / shape.size) + e % run;
      b.put(shape.typeB, lane, e, pick(0, lane % shape.size, k, 1));
    }
  }
  LaneProgram program;
  program.options.accumOffset = 128;
  program.inputs = a.rows;
  program.inputs.insert(program.inputs.end(), b.rows.begin(), b.rows.end());
  program.inputs.push_back(indices); // v22
  bool isInteger = shape.typeA == Type::I8;
  for (unsigned v = 0; v < accumulators; ++v) {
    program.instructions += "  v_mov_b32 v" + std::to_string(40 + v) +
                            (isInteger ? ", 1\n" : ", 1.0\n");
  }
  program.instructions +=
      "  s_mov_b64 exec, 1\n  " + std::string(shape.mnemonic) + " " +
      range("v", 40, accumulators) + ", " + range("v", 10, registersA) + ", " +
      range("v", 14, registersB) + ", v22 abid:" + std::to_string(shape.set) +
      "\n";
  program.outputs = accumulators;
  auto out = runLanes(program);
  for (unsigned i = 0; i < shape.size; ++i) {
    for (unsigned j = 0; j < shape.size; ++j) {
      int sum = 1;
      for (unsigned c = 0; c < shape.k / 2; ++c) {
        unsigned k = 4 * (c / 2) + chosen(i, c / 2, c % 2);
        sum += pick(0, i, c, 0) * pick(0, j, k, 1);
      }
      unsigned reg = shape.size == 16 ? i % 4 : 4 * (i / 8) + i % 4;
      unsigned lane =
          shape.size == 16 ? 16 * (i / 4) + j : 32 * (i / 4 % 2) + j;
      ASSERT_EQ(out[reg][lane], isInteger ? uint32_t(sum) : bitsOf(float(sum)))
          << "row " << i << " column " << j;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, SimMatrixSparse,
    ::testing::Values(
        Sparse{"v_smfmac_f32_16x16x32_f16", 16, 32, Type::F16, Type::F16, 2},
        Sparse{"v_smfmac_f32_32x32x16_f16", 32, 16, Type::F16, Type::F16, 3},
        Sparse{"v_smfmac_f32_16x16x32_bf16", 16, 32, Type::Bf16, Type::Bf16, 1},
        Sparse{"v_smfmac_f32_32x32x16_bf16", 32, 16, Type::Bf16, Type::Bf16, 0},
        Sparse{"v_smfmac_f32_16x16x64_f16", 16, 64, Type::F16, Type::F16, 1},
        Sparse{"v_smfmac_f32_32x32x32_f16", 32, 32, Type::F16, Type::F16, 0},
        Sparse{"v_smfmac_f32_16x16x64_bf16", 16, 64, Type::Bf16, Type::Bf16, 0},
        Sparse{"v_smfmac_f32_32x32x32_bf16", 32, 32, Type::Bf16, Type::Bf16, 1},
        Sparse{"v_smfmac_i32_16x16x64_i8", 16, 64, Type::I8, Type::I8, 1},
        Sparse{"v_smfmac_i32_32x32x32_i8", 32, 32, Type::I8, Type::I8, 0},
        Sparse{"v_smfmac_i32_16x16x128_i8", 16, 128, Type::I8, Type::I8, 0},
        Sparse{"v_smfmac_i32_32x32x64_i8", 32, 64, Type::I8, Type::I8, 0},
        Sparse{"v_smfmac_f32_16x16x64_fp8_bf8", 16, 64, Type::Fp8, Type::Bf8,
               1},
        Sparse{"v_smfmac_f32_32x32x32_bf8_fp8", 32, 32, Type::Bf8, Type::Fp8,
               0},
        Sparse{"v_smfmac_f32_16x16x128_fp8_fp8", 16, 128, Type::Fp8, Type::Fp8,
               0},
        Sparse{"v_smfmac_f32_32x32x64_bf8_bf8", 32, 64, Type::Bf8, Type::Bf8,
               0}),
    [](const auto &info) { return info.param.mnemonic; });

/// XF32 keeps ten bits of mantissa; gfx942 only.
TEST(SimMatrix, Xf32RoundsItsOperands) {
  LaneProgram program;
  program.options.cpu = "gfx942";
  program.options.accumOffset = 128;
  // 1 + 2^-11 is a tie that goes to 1; 1 + 3 * 2^-11 goes up.
  program.inputs = {
      lanes([](unsigned i) {
        return i / 16 == 0 ? bitsOf(1 + std::ldexp(1.0f, -11)) : 0;
      }),
      lanes([](unsigned) { return 0; }), lanes([](unsigned i) {
        return i / 16 == 0 ? bitsOf(1 + 3 * std::ldexp(1.0f, -11)) : 0;
      }),
      lanes([](unsigned) { return 0; })};
  program.instructions =
      "  v_mfma_f32_16x16x8_xf32 v[40:43], v[10:11], v[12:13], 0\n";
  program.outputs = 4;
  for (const auto &row : runLanes(program)) {
    for (uint32_t bits : row) {
      ASSERT_EQ(floatOf(bits), 1 + std::ldexp(1.0f, -9));
    }
  }
}

/// Operands in single precision follow FP_DENORM, the accumulator does not.
TEST(SimMatrix, DenormalOperandsFollowTheMode) {
  for (unsigned mode : {0u, 3u}) {
    LaneProgram program;
    program.options.denormals32 = mode;
    program.options.accumOffset = 128;
    program.inputs = {lanes([](unsigned) { return 0x00400000; })};
    program.instructions =
        "  v_mov_b32 v11, 2.0\n  v_mov_b32 v40, 1\n  v_mov_b32 v41, 1\n"
        "  v_mov_b32 v42, 1\n  v_mov_b32 v43, 1\n"
        "  v_mfma_f32_16x16x4_f32 v[40:43], v10, v11, v[40:43]\n";
    program.outputs = 4;
    auto out = runLanes(program);
    // Four times 2^-127 * 2 on 2^-149.
    EXPECT_EQ(out[0][5], mode ? 0x01800000u : 1u) << mode;
  }
}

} // namespace
