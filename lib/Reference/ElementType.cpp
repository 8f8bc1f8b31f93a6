//===- ElementType.cpp - Element types of operands --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/ElementType.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::reference {

namespace {

/// What the largest exponent field of a float format encodes.
enum class TopExponent {
  InfinityAndNaN, ///< as in IEEE 754
  ValuesAndNaN,   ///< numbers, but for the largest mantissa, which is NaN
  Values,         ///< numbers only
};

/// A binary float format: sign, exponent, mantissa, from the top.
struct FloatFormat {
  unsigned exponentBits, mantissaBits;
  TopExponent top;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint64_t exponentMask() const { return (1u << exponentBits) - 1; }
  uint64_t mantissaMask() const { return (uint64_t(1) << mantissaBits) - 1; }
  uint64_t signBit() const {
    return uint64_t(1) << (exponentBits + mantissaBits);
  }
  /// Exponent of the smallest normal number; subnormals share its unit.
  int minExponent() const { return 1 - bias(); }

  /// The code of the largest finite value.
  uint64_t maxFinite() const {
    switch (top) {
    case TopExponent::InfinityAndNaN:
      return ((exponentMask() - 1) << mantissaBits) | mantissaMask();
    case TopExponent::ValuesAndNaN:
      return signBit() - 2;
    case TopExponent::Values:
      return signBit() - 1;
    }
    llvm_unreachable("covered switch");
  }
};

} // namespace

/// The format of a float type with a sign; none for integers and for E8M0.
static std::optional<FloatFormat> floatFormat(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return FloatFormat{8, 23, TopExponent::InfinityAndNaN};
  case ElementType::F16:
    return FloatFormat{5, 10, TopExponent::InfinityAndNaN};
  case ElementType::BF16:
    return FloatFormat{8, 7, TopExponent::InfinityAndNaN};
  case ElementType::FP8E5M2:
    return FloatFormat{5, 2, TopExponent::InfinityAndNaN};
  case ElementType::FP8E4M3:
    return FloatFormat{4, 3, TopExponent::ValuesAndNaN};
  case ElementType::FP4E2M1:
    return FloatFormat{2, 1, TopExponent::Values};
  default:
    return std::nullopt;
  }
}

unsigned bitWidth(ElementType type) {
  switch (type) {
  case ElementType::I64:
    return 64;
  case ElementType::F32:
  case ElementType::I32:
    return 32;
  case ElementType::F16:
  case ElementType::BF16:
    return 16;
  case ElementType::FP8E4M3:
  case ElementType::FP8E5M2:
  case ElementType::E8M0:
  case ElementType::I8:
    return 8;
  case ElementType::FP4E2M1:
    return 4;
  }
  llvm_unreachable("covered switch");
}

static constexpr ElementType allTypes[] = {
    ElementType::F32,     ElementType::F16,     ElementType::BF16,
    ElementType::FP8E4M3, ElementType::FP8E5M2, ElementType::FP4E2M1,
    ElementType::E8M0,    ElementType::I64,     ElementType::I32,
    ElementType::I8};

llvm::StringRef name(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return "f32";
  case ElementType::F16:
    return "f16";
  case ElementType::BF16:
    return "bf16";
  case ElementType::FP8E4M3:
    return "f8E4M3FN";
  case ElementType::FP8E5M2:
    return "f8E5M2";
  case ElementType::FP4E2M1:
    return "f4E2M1FN";
  case ElementType::E8M0:
    return "f8E8M0FNU";
  case ElementType::I64:
    return "i64";
  case ElementType::I32:
    return "i32";
  case ElementType::I8:
    return "i8";
  }
  llvm_unreachable("covered switch");
}

std::optional<ElementType> parseElementType(llvm::StringRef spelling) {
  for (ElementType type : allTypes) {
    if (name(type) == spelling) {
      return type;
    }
  }
  return std::nullopt;
}

bool isInteger(ElementType type) {
  return type == ElementType::I64 || type == ElementType::I32 ||
         type == ElementType::I8;
}

bool hasNaN(ElementType type) {
  return !isInteger(type) && type != ElementType::FP4E2M1;
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

static double decodeFloat(const FloatFormat &format, uint64_t code) {
  uint64_t exponent = (code >> format.mantissaBits) & format.exponentMask();
  uint64_t mantissa = code & format.mantissaMask();
  double sign = code & format.signBit() ? -1.0 : 1.0;
  if (exponent == format.exponentMask()) {
    if (format.top == TopExponent::InfinityAndNaN) {
      return mantissa == 0
                 ? sign * std::numeric_limits<double>::infinity()
                 : std::copysign(std::numeric_limits<double>::quiet_NaN(),
                                 sign);
    }
    if (format.top == TopExponent::ValuesAndNaN &&
        mantissa == format.mantissaMask()) {
      return std::copysign(std::numeric_limits<double>::quiet_NaN(), sign);
    }
  }
  if (exponent == 0) {
    return sign * std::ldexp(double(mantissa),
                             format.minExponent() - int(format.mantissaBits));
  }
  return sign *
         std::ldexp(double(mantissa + format.mantissaMask() + 1),
                    int(exponent) - format.bias() - int(format.mantissaBits));
}

double decode(ElementType type, uint64_t code) {
  switch (type) {
  case ElementType::F32:
    return llvm::bit_cast<float>(uint32_t(code));
  case ElementType::BF16:
    return llvm::bit_cast<float>(uint32_t(code) << 16);
  case ElementType::I64:
    return double(int64_t(code));
  case ElementType::I32:
    return int32_t(code);
  case ElementType::I8:
    return int8_t(code);
  case ElementType::E8M0:
    return (code & 0xff) == 0xff ? std::numeric_limits<double>::quiet_NaN()
                                 : std::ldexp(1.0, int(code & 0xff) - 127);
  default:
    return decodeFloat(*floatFormat(type), code);
  }
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

static uint64_t encodeFloat(const FloatFormat &format, double value) {
  uint64_t sign = std::signbit(value) ? format.signBit() : 0;
  uint64_t infinity = format.exponentMask() << format.mantissaBits;
  if (std::isnan(value)) {
    // The quiet NaN of the IEEE-like formats has the top mantissa bit set; the
    // others have but one NaN.
    return format.top == TopExponent::InfinityAndNaN
               ? sign | infinity | (uint64_t(1) << (format.mantissaBits - 1))
               : sign | (format.signBit() - 1);
  }
  double magnitude = std::fabs(value);
  // Most values are normal and far from the largest: round their own bits, and
  // change the bias of the exponent. A carry out of the mantissa raises the
  // exponent by itself.
  uint64_t bits = llvm::bit_cast<uint64_t>(magnitude);
  int ownExponent = int(bits >> 52) - 1023;
  if (ownExponent >= format.minExponent() && ownExponent < format.bias()) {
    unsigned dropped = 52 - format.mantissaBits;
    bits += (uint64_t(1) << (dropped - 1)) - 1 + ((bits >> dropped) & 1);
    uint64_t rebias = uint64_t(1023 - format.bias()) << format.mantissaBits;
    return sign | ((bits >> dropped) - rebias);
  }
  uint64_t code = format.maxFinite() + 1;
  if (!std::isinf(value)) {
    int exponent = magnitude == 0
                       ? format.minExponent()
                       : std::max(std::ilogb(magnitude), format.minExponent());
    // Multiples of the unit in the last place: the scaling is exact, and the
    // default rounding mode rounds to nearest even.
    double units = std::nearbyint(
        std::ldexp(magnitude, int(format.mantissaBits) - exponent));
    // The exponent field counts from 1 for normal numbers, whose leading one is
    // part of `units`. Values beyond any code stay at the code of an overflow.
    if (exponent <= format.bias() + 1) {
      code =
          (uint64_t(exponent - format.minExponent()) << format.mantissaBits) +
          uint64_t(units);
    }
  }
  if (code > format.maxFinite()) {
    code = format.top == TopExponent::InfinityAndNaN ? infinity
                                                     : format.maxFinite();
  }
  return sign | code;
}

static uint64_t encodeE8M0(double value) {
  if (std::isnan(value) || value <= 0) {
    return 0xff;
  }
  return uint64_t(
      std::clamp(std::nearbyint(std::log2(value)) + 127.0, 0.0, 254.0));
}

template <typename T> static uint64_t encodeInteger(double value) {
  // The largest 64-bit integer is no double, so compare against the power of
  // two above it.
  double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  double rounded = std::nearbyint(value);
  T result = rounded >= limit    ? std::numeric_limits<T>::max()
             : rounded <= -limit ? std::numeric_limits<T>::min()
                                 : T(rounded);
  return std::make_unsigned_t<T>(result);
}

uint64_t encode(ElementType type, double value) {
  switch (type) {
  case ElementType::F32:
    return std::isnan(value) ? 0x7fc00000u
                             : llvm::bit_cast<uint32_t>(float(value));
  case ElementType::I64:
    return encodeInteger<int64_t>(value);
  case ElementType::I32:
    return encodeInteger<int32_t>(value);
  case ElementType::I8:
    return encodeInteger<int8_t>(value);
  case ElementType::E8M0:
    return encodeE8M0(value);
  default:
    return encodeFloat(*floatFormat(type), value);
  }
}

} // namespace tenon::reference
