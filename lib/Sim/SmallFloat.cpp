//===- SmallFloat.cpp - 8-, 6- and 4-bit floats -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SmallFloat.h"

#include <algorithm>
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

unsigned mantissaBitsOf(SmallFormat format) {
  return layoutOf(format, /*fnuz=*/false).mantissaBits;
}

uint8_t encodeSmallFloat(double value, SmallFormat format, Processor processor,
                         bool saturate) {
  const std::array<float, 256> &values = smallFloatValues(format, processor);
  Layout layout = layoutOf(format, processor == Processor::Gfx942);
  bool negZeroNan = layout.specials == Specials::NegZeroNan;
  unsigned signBit = 1u << (layout.exponentBits + layout.mantissaBits);
  unsigned sign = std::signbit(value) ? signBit : 0;
  unsigned largest = signBit - 1;
  while (!std::isfinite(values[largest])) {
    --largest;
  }
  // Formats without NaN take it for their largest value.
  bool hasNan = layout.specials != Specials::None;
  unsigned nan = negZeroNan ? signBit : (hasNan ? signBit - 1 : largest) | sign;
  if (value != value) {
    return uint8_t(nan);
  }
  double magnitude = std::fabs(value);
  // The midpoint to what would be the next code: from there on it overflows.
  double step = double(values[largest]) - values[largest - 1];
  if (magnitude >= values[largest] + step / 2) {
    if (saturate || !hasNan) {
      return uint8_t(largest | sign);
    }
    return uint8_t(layout.specials == Specials::Infinity ? (largest + 1) | sign
                                                         : nan);
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
    double below = magnitude - values[low];
    double above = values[low + 1] - magnitude;
    if (above < below || (above == below && (low & 1))) {
      code = low + 1;
    }
  }
  return code == 0 && negZeroNan ? 0 : uint8_t(code | sign);
}

uint8_t encodeSmallFloatStochastic(double value, SmallFormat format,
                                   Processor processor, bool saturate,
                                   uint32_t seed, unsigned fractionBits) {
  Layout layout = layoutOf(format, processor == Processor::Gfx942);
  if (std::isfinite(value) && value != 0) {
    int smallest = 1 - layout.bias;
    int exponent = std::max(std::ilogb(value), smallest);
    int quantum = exponent - int(layout.mantissaBits);
    double steps =
        std::floor(std::ldexp(std::fabs(value), int(fractionBits) - quantum));
    steps += double(uint64_t(seed) >> (32 - fractionBits));
    steps = std::floor(std::ldexp(steps, -int(fractionBits)));
    // Now a multiple of the step between codes: rounding it changes nothing
    // but what is beyond the largest one.
    value = std::copysign(std::ldexp(steps, quantum), value);
  }
  return encodeSmallFloat(value, format, processor, saturate);
}

} // namespace tenon::sim
