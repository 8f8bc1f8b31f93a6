//===- MfmaScaleTest.cpp - block scales of matrix products ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MatrixData.h"

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

/// A scaled product: A in v10 ..., B in v18 ..., C in v28 ... or a constant,
/// scales in v26 and v27.
struct ScaledProduct {
  MatrixData a, b;
  unsigned size;
  std::vector<uint32_t> scaleA = lanes([](unsigned) { return 0x7F7F7F7Fu; });
  std::vector<uint32_t> scaleB = scaleA;
  unsigned byteA = 0, byteB = 0;
  bool negC = false, absC = false;

  ScaledProduct(Element formatA, Element formatB, unsigned size,
                std::mt19937 &random)
      : a(formatA, size, 2048 / size, true, random),
        b(formatB, size, 2048 / size, true, random), size(size) {}

  static unsigned format(Element element) {
    return unsigned(element) - unsigned(Element::Fp8);
  }

  /// Results by register and lane. C is `c` in all elements.
  std::vector<std::vector<uint32_t>> run(float c) const {
    LaneProgram program;
    program.inputs.assign(18, std::vector<uint32_t>(64));
    auto rowsA = a.registers(), rowsB = b.registers();
    std::copy(rowsA.begin(), rowsA.end(), program.inputs.begin());
    std::copy(rowsB.begin(), rowsB.end(), program.inputs.begin() + 8);
    program.inputs[16] = scaleA;
    program.inputs[17] = scaleB;
    program.outputs = size * size / 64;
    for (unsigned v = 0; v < program.outputs; ++v) {
      program.instructions += "  v_mov_b32 v" + std::to_string(40 + v) + ", " +
                              std::to_string(bitsOf(c)) + "\n";
    }
    // The assembler has no syntax for the modifiers of C, so the encoding is
    // put together here: the prefix with the scales, then the product.
    uint32_t words[4] = {0xD3AC0000u | (byteA & 1) << 11 | (byteB & 1) << 12 |
                             (absC ? 1u << 10 : 0),
                         (256u + 26) | (256u + 27) << 9 | (byteA >> 1) << 27 |
                             (byteB >> 1) << 28 | (negC ? 1u << 31 : 0),
                         (size == 16 ? 0xD3AD0800u : 0xD3AE0800u) |
                             format(a.element) << 8 | 40,
                         (256u + 10) | (256u + 18) << 9 | (256u + 40) << 18 |
                             format(b.element) << 29};
    program.instructions += "  s_nop 1\n";
    for (uint32_t word : words) {
      program.instructions += "  .long " + std::to_string(word) + "\n";
    }
    program.instructions += "  s_nop 15\n  s_nop 3\n";
    return runLanes(program);
  }

  /// The sum as documented, with factors that must be floats.
  float expected(unsigned row, unsigned column, float c) const {
    auto factor = [&](const MatrixData &data,
                      const std::vector<uint32_t> &scales, unsigned byte,
                      unsigned at, unsigned r) {
      uint32_t code = scales[at / 32 * size + r] >> (8 * byte) & 0xFF;
      return std::ldexp(data.value(at, r), int(code) - 127);
    };
    float sum = absC ? std::fabs(c) : c;
    sum = negC ? -sum : sum;
    for (unsigned at = 0; at < a.k; ++at) {
      sum = std::fma(factor(a, scaleA, byteA, at, row),
                     factor(b, scaleB, byteB, at, column), sum);
    }
    return sum;
  }

  void check(float c) const {
    auto out = run(c);
    for (unsigned v = 0; v < out.size(); ++v) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        unsigned row = rowOfResult(size, v, lane);
        ASSERT_EQ(floatOf(out[v][lane]), expected(row, lane % size, c))
            << size << " formats " << format(a.element) << " "
            << format(b.element) << " bytes " << byteA << " " << byteB
            << " row " << row << " column " << lane % size;
      }
    }
  }
};

/// Each (row, block) has a scale of its own in each byte; op_sel picks the
/// byte of each operand. 25 pairs of formats go through the 16 pairs of bytes.
TEST(SimMfmaScale, EveryFormatPairAndByte) {
  std::mt19937 random(1);
  for (unsigned size : {16u, 32u}) {
    for (unsigned pair = 0; pair < 25; ++pair) {
      ScaledProduct product(Element(unsigned(Element::Fp8) + pair % 5),
                            Element(unsigned(Element::Fp8) + pair / 5), size,
                            random);
      product.byteA = pair % 4;
      product.byteB = pair / 4 % 4;
      // 64 different codes, in an order of their own in every byte.
      for (unsigned byte = 0; byte < 4; ++byte) {
        for (unsigned lane = 0; lane < 64; ++lane) {
          unsigned shift = 8 * byte;
          product.scaleA[lane] &= ~(0xFFu << shift);
          product.scaleB[lane] &= ~(0xFFu << shift);
          product.scaleA[lane] |= (95 + (lane * 5 + byte * 17) % 64) << shift;
          product.scaleB[lane] |= (95 + (lane * 11 + byte * 7) % 64) << shift;
        }
      }
      product.check(-0.375f);
    }
  }
}

/// Negation and absolute value of C are bits of the prefix.
TEST(SimMfmaScale, ModifiersOfC) {
  std::mt19937 random(2);
  for (unsigned size : {16u, 32u}) {
    for (unsigned modifiers = 0; modifiers < 4; ++modifiers) {
      ScaledProduct product(Element::Fp6, Element::Fp8, size, random);
      product.negC = modifiers & 1;
      product.absC = modifiers & 2;
      product.check(-1000.0f);
      product.check(1000.0f);
    }
  }
}

/// Scales whose product with an element is no float: only the product of all
/// four counts.
TEST(SimMfmaScale, FarScales) {
  std::mt19937 random(4);
  for (unsigned size : {16u, 32u}) {
    auto far = [&](uint32_t codeA, uint32_t codeB) {
      ScaledProduct product(Element::Fp8, Element::Bf8, size, random);
      for (unsigned row = 0; row < size; ++row) {
        for (unsigned at = 0; at < product.a.k; ++at) {
          // 448 in one place of A, 1 in all of B.
          product.a.code(at, row) = at == 3 ? 0x7E : 0;
          product.b.code(at, row) = 0x3C;
        }
      }
      product.scaleA = lanes([&](unsigned) { return codeA; });
      product.scaleB = lanes([&](unsigned) { return codeB; });
      auto out = product.run(1.0f);
      for (const auto &row : out) {
        EXPECT_EQ(row, out[0]);
      }
      return floatOf(out[0][17]);
    };
    EXPECT_EQ(far(254, 0), 449.0f); // 448 * 2^127 * 2^-127
    EXPECT_EQ(far(0, 254), 449.0f); // and the other way round
    EXPECT_EQ(far(254, 27), 448.0f * 0x1p27f + 1);
    EXPECT_EQ(far(0, 0), 1.0f); // 448 * 2^-254
    EXPECT_EQ(far(254, 254), INFINITY);
    EXPECT_TRUE(std::isnan(far(255, 127)));
    EXPECT_TRUE(std::isnan(far(255, 254)));
  }
}

/// A NaN among the scales spoils its row (of A) or column (of B) alone, an
/// infinity among the elements likewise.
TEST(SimMfmaScale, NansAndInfinitiesStayInTheirRow) {
  std::mt19937 random(6);
  for (unsigned size : {16u, 32u}) {
    ScaledProduct product(Element::Bf8, Element::Fp8, size, random);
    product.scaleA[size + 5] = 0xFF;           // row 5, block 1
    product.a.code(7, 9) = 0x7C;               // infinity
    product.b.code(product.a.k - 1, 3) = 0x7F; // NaN
    for (unsigned at = 0; at < product.a.k; ++at) {
      if (product.b.value(7, at % size) == 0) {
        product.b.code(7, at % size) = 0x38; // infinity times zero is a NaN
      }
    }
    auto out = product.run(2.0f);
    for (unsigned v = 0; v < out.size(); ++v) {
      for (unsigned lane = 0; lane < 64; ++lane) {
        unsigned row = rowOfResult(size, v, lane), column = lane % size;
        float value = floatOf(out[v][lane]);
        if (row == 5 || column == 3) {
          EXPECT_EQ(out[v][lane], 0x7FC00000u) << row << " " << column;
        } else if (row == 9) {
          EXPECT_EQ(value,
                    product.b.value(7, column) > 0 ? INFINITY : -INFINITY)
              << column;
        } else {
          EXPECT_EQ(value, product.expected(row, column, 2.0f));
        }
      }
    }
  }
}

} // namespace
