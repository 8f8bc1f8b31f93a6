//===- SmallFloat.cpp - 8-, 6- and 4-bit floats -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SmallFloat.h"

#include <cmath>
#include <limits>

namespace tenon::sim {

namespace {

enum class Specials {
  None,      ///< all codes are finite
  Infinity,  ///< the top exponent is infinity and NaN, as in IEEE
  OnlyNan,   ///< the code of all ones is NaN
  NegZeroNan ///< the code of negative zero is NaN, there is no infinity
};

struct Layout {
  unsigned exponentBits, mantissaBits;
  int bias;
  Specials specials;
};

} // namespace

static Layout layoutOf(SmallFormat format, bool fnuz) {
  switch (format) {
  case SmallFormat::Fp8:
    return {4, 3, fnuz ? 8 : 7,
            fnuz ? Specials::NegZeroNan : Specials::OnlyNan};
  case SmallFormat::Bf8:
    return {5, 2, fnuz ? 16 : 15,
            fnuz ? Specials::NegZeroNan : Specials::Infinity};
  case SmallFormat::Fp6:
    return {2, 3, 1, Specials::None};
  case SmallFormat::Bf6:
    return {3, 2, 3, Specials::None};
  case SmallFormat::Fp4:
    return {2, 1, 1, Specials::None};
  }
  return {};
}

static float valueOf(unsigned code, const Layout &layout) {
  unsigned signBit = layout.exponentBits + layout.mantissaBits;
  unsigned mantissa = code & ((1u << layout.mantissaBits) - 1);
  unsigned topExponent = (1u << layout.exponentBits) - 1;
  unsigned exponent = (code >> layout.mantissaBits) & topExponent;
  bool negative = (code >> signBit) & 1;
  float nan = std::numeric_limits<float>::quiet_NaN();
  unsigned magnitude = code & ((1u << signBit) - 1);
  switch (layout.specials) {
  case Specials::None:
    break;
  case Specials::Infinity:
    if (exponent == topExponent) {
      return mantissa ? nan
                      : std::copysign(std::numeric_limits<float>::infinity(),
                                      negative ? -1.0f : 1.0f);
    }
    break;
  case Specials::OnlyNan:
    if (magnitude == (1u << signBit) - 1) {
      return nan;
    }
    break;
  case Specials::NegZeroNan:
    if (negative && magnitude == 0) {
      return nan;
    }
    break;
  }
  int scale =
      (exponent ? int(exponent) : 1) - layout.bias - int(layout.mantissaBits);
  unsigned significand =
      exponent ? mantissa | (1u << layout.mantissaBits) : mantissa;
  float value = std::ldexp(float(significand), scale);
  return negative ? -value : value;
}

const std::array<float, 256> &smallFloatValues(SmallFormat format,
                                               Processor processor) {
  static const auto tables = [] {
    std::array<std::array<std::array<float, 256>, 5>, 2> all = {};
    for (unsigned fnuz = 0; fnuz < 2; ++fnuz) {
      for (unsigned f = 0; f < 5; ++f) {
        auto format = SmallFormat(f);
        for (unsigned code = 0; code < 1u << bitsOf(format); ++code) {
          all[fnuz][f][code] = valueOf(code, layoutOf(format, fnuz));
        }
      }
    }
    return all;
  }();
  return tables[processor == Processor::Gfx942][unsigned(format)];
}

uint8_t encodeFloat8(float value, SmallFormat format, Processor processor,
                     bool saturate) {
  const std::array<float, 256> &values = smallFloatValues(format, processor);
  Layout layout = layoutOf(format, processor == Processor::Gfx942);
  bool negZeroNan = layout.specials == Specials::NegZeroNan;
  uint8_t nan = negZeroNan ? 0x80 : 0x7F;
  uint8_t sign = std::signbit(value) ? 0x80 : 0;
  if (value != value) {
    return negZeroNan ? nan : uint8_t(nan | sign);
  }
  unsigned largest = 0x7F;
  while (!std::isfinite(values[largest])) {
    --largest;
  }
  float magnitude = std::fabs(value);
  // The midpoint to what would be the next code: from there on it overflows.
  float step = values[largest] - values[largest - 1];
  bool overflows = magnitude >= values[largest] + step / 2;
  if (overflows || std::isinf(value)) {
    if (saturate) {
      return uint8_t(largest | sign);
    }
    if (layout.specials == Specials::Infinity) {
      return uint8_t(0x7C | sign);
    }
    return negZeroNan ? nan : uint8_t(nan | sign);
  }
  // Codes of positive values ascend, so the neighbours are found by halving.
  unsigned low = 0, high = largest;
  while (low < high) {
    unsigned middle = (low + high + 1) / 2;
    if (values[middle] <= magnitude) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  unsigned code = low;
  if (low < largest) {
    float below = magnitude - values[low], above = values[low + 1] - magnitude;
    if (above < below || (above == below && (low & 1))) {
      code = low + 1;
    }
  }
  return code == 0 && negZeroNan ? 0 : uint8_t(code | sign);
}

} // namespace tenon::sim
