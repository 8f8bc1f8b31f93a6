//===- MatrixData.h - operands of matrix products for tests -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of element formats by their definition, and how operands lie in
// registers, by the hardware's tables.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_TEST_UNIT_SIM_MATRIXDATA_H
#define TENON_TEST_UNIT_SIM_MATRIXDATA_H

#include "Assembler.h"

#include <cmath>
#include <random>

namespace tenon::sim::test {

/// Formats of elements. The last five are in the order in which cbsz and blgp
/// number them.
enum class Element { F32, F16, Bf16, Fp8, Bf8, Fp6, Bf6, Fp4 };

struct ElementLayout {
  unsigned bits, mantissa;
  int bias;
};
inline ElementLayout layoutOf(Element element) {
  static const ElementLayout layouts[] = {
      {32, 23, 127}, {16, 10, 15}, {16, 7, 127}, {8, 3, 7},
      {8, 2, 15},    {6, 3, 1},    {6, 2, 3},    {4, 1, 1}};
  return layouts[unsigned(element)];
}

/// The value of a finite code.
inline float valueOfCode(Element element, uint32_t code) {
  auto [bits, mantissa, bias] = layoutOf(element);
  uint32_t fraction = code & ((1u << mantissa) - 1);
  int exponent = int((code >> mantissa) & ((1u << (bits - 1 - mantissa)) - 1));
  double magnitude =
      std::ldexp(exponent ? fraction + (1u << mantissa) : fraction,
                 std::max(exponent, 1) - bias - int(mantissa));
  return float((code >> (bits - 1)) & 1 ? -magnitude : magnitude);
}

/// A finite code. Wide formats stay within a factor of 2^8 from one, narrow
/// ones give everything that they have.
inline uint32_t randomCode(Element element, std::mt19937 &random) {
  auto [bits, mantissa, bias] = layoutOf(element);
  if (bits >= 16) {
    uint32_t exponent = uint32_t(bias - 8 + int(random() % 16));
    uint32_t sign = random() & 1, fraction = random() & ((1u << mantissa) - 1);
    return sign << (bits - 1) | exponent << mantissa | fraction;
  }
  uint32_t code, magnitude;
  do {
    code = random() & ((1u << bits) - 1);
    magnitude = code & ((1u << (bits - 1)) - 1);
  } while ((element == Element::Fp8 && magnitude == 0x7F) ||
           (element == Element::Bf8 && magnitude >= 0x7C));
  return code;
}

/// One operand: the code of each K index and row (of A) or column (of B).
struct MatrixData {
  Element element;
  unsigned size, k;
  bool twoRuns = false; ///< 8-bit operands of f8f6f4
  std::vector<uint32_t> codes;

  MatrixData(Element element, unsigned size, unsigned k, bool isSmall,
             std::mt19937 &random)
      : element(element), size(size), k(k),
        twoRuns(isSmall && layoutOf(element).bits == 8), codes(size * k) {
    for (uint32_t &code : codes) {
      code = randomCode(element, random);
    }
  }

  uint32_t &code(unsigned at, unsigned row) { return codes[at * size + row]; }
  float value(unsigned at, unsigned row) const {
    return valueOfCode(element, codes[at * size + row]);
  }

  /// The registers that hold it.
  std::vector<std::vector<uint32_t>> registers() const {
    unsigned groups = 64 / size, perLane = k / groups;
    unsigned bits = layoutOf(element).bits;
    std::vector<std::vector<uint32_t>> rows(std::max(1u, perLane * bits / 32),
                                            std::vector<uint32_t>(64));
    for (unsigned lane = 0; lane < 64; ++lane) {
      unsigned group = lane / size;
      for (unsigned e = 0; e < perLane; ++e) {
        unsigned at = twoRuns ? e / 16 * 16 * groups + group * 16 + e % 16
                              : group * perLane + e;
        uint64_t code = codes[at * size + lane % size];
        unsigned place = e * bits;
        uint64_t shifted = code << (place % 32);
        rows[place / 32][lane] |= uint32_t(shifted);
        if (shifted >> 32) {
          rows[place / 32 + 1][lane] |= uint32_t(shifted >> 32);
        }
      }
    }
    return rows;
  }
};

/// "v3" or "v[3:6]".
inline std::string registerRange(unsigned first, unsigned count) {
  std::string name = "v" + std::to_string(first);
  return count == 1 ? name
                    : "v[" + std::to_string(first) + ":" +
                          std::to_string(first + count - 1) + "]";
}

/// Row of D that register `v` of a lane holds, in blocks of 16 x 16 or 32 x 32.
inline unsigned rowOfResult(unsigned size, unsigned v, unsigned lane) {
  unsigned group = lane / size;
  return size == 16 ? 4 * group + v : 8 * (v / 4) + 4 * group + v % 4;
}

} // namespace tenon::sim::test

#endif // TENON_TEST_UNIT_SIM_MATRIXDATA_H
