//===- ElementTypeTest.cpp - Codes of element types -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/ElementType.h"

#include "llvm/ADT/bit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace tenon::reference;

namespace {

constexpr ElementType narrowFloats[] = {
    ElementType::F16, ElementType::BF16, ElementType::FP8E4M3,
    ElementType::FP8E5M2, ElementType::FP4E2M1};

TEST(ElementTypeTest, NamesParseBack) {
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::FP8E4M3, ElementType::FP8E5M2, ElementType::FP4E2M1,
        ElementType::E8M0, ElementType::I64, ElementType::I32,
        ElementType::I8}) {
    EXPECT_EQ(parseElementType(name(type)), type);
  }
  EXPECT_EQ(parseElementType("f33"), std::nullopt);
}

// Values of the OCP MX specification.
TEST(ElementTypeTest, KnownCodes) {
  const double fp4[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  for (unsigned code = 0; code < 8; ++code) {
    EXPECT_EQ(decode(ElementType::FP4E2M1, code), fp4[code]);
    EXPECT_EQ(decode(ElementType::FP4E2M1, code + 8), -fp4[code]);
  }
  EXPECT_EQ(decode(ElementType::FP8E4M3, 0x7e), 448);
  EXPECT_EQ(decode(ElementType::FP8E4M3, 0x08), 0x1p-6);
  EXPECT_EQ(decode(ElementType::FP8E4M3, 0x01), 0x1p-9);
  EXPECT_TRUE(std::isnan(decode(ElementType::FP8E4M3, 0x7f)));
  EXPECT_EQ(decode(ElementType::FP8E5M2, 0x7b), 57344);
  EXPECT_EQ(decode(ElementType::FP8E5M2, 0xfc), -INFINITY);
  EXPECT_EQ(decode(ElementType::F16, 0x3555), 0.333251953125);
  EXPECT_EQ(decode(ElementType::BF16, 0x3eab), 0.333984375);
  EXPECT_EQ(decode(ElementType::E8M0, 127), 1);
  EXPECT_EQ(decode(ElementType::E8M0, 0), 0x1p-127);
  EXPECT_TRUE(std::isnan(decode(ElementType::E8M0, 255)));
  EXPECT_EQ(decode(ElementType::I8, 0x80), -128);
  EXPECT_EQ(decode(ElementType::I32, 0xffffffff), -1);
}

// Every number of a narrow format keeps its code.
TEST(ElementTypeTest, EncodeInvertsDecode) {
  for (ElementType type : narrowFloats) {
    for (uint64_t code = 0; code < uint64_t(1) << bitWidth(type); ++code) {
      double value = decode(type, code);
      if (!std::isnan(value)) {
        EXPECT_EQ(encode(type, value), code) << name(type).str();
      }
    }
  }
  for (uint64_t code = 0; code < 255; ++code) {
    EXPECT_EQ(encode(ElementType::E8M0, decode(ElementType::E8M0, code)), code);
  }
}

// Halfway between neighbours the even code wins, to each side of it the nearer;
// this covers subnormals, the border to normals and every exponent.
TEST(ElementTypeTest, EncodeRoundsToNearestEven) {
  for (ElementType type : narrowFloats) {
    uint64_t signBit = uint64_t(1) << (bitWidth(type) - 1);
    for (uint64_t code = 0; code + 1 < signBit; ++code) {
      double low = decode(type, code), high = decode(type, code + 1);
      if (!std::isfinite(high)) {
        break;
      }
      double middle = (low + high) / 2;
      uint64_t even = code + code % 2;
      EXPECT_EQ(encode(type, middle), even) << name(type).str();
      EXPECT_EQ(encode(type, -middle), even | signBit) << name(type).str();
      EXPECT_EQ(encode(type, std::nextafter(middle, 0)), code)
          << name(type).str();
      EXPECT_EQ(encode(type, std::nextafter(middle, 1e9 * high)), code + 1)
          << name(type).str();
    }
  }
}

// Rounding to f32 first would make this a tie and lose it.
TEST(ElementTypeTest, BF16RoundsOnce) {
  EXPECT_EQ(encode(ElementType::BF16, 1 + 0x1p-8 + 0x1p-40), 0x3f81u);
}

TEST(ElementTypeTest, OverflowAndNaN) {
  EXPECT_EQ(encode(ElementType::BF16, 1e39), 0x7f80u);
  EXPECT_EQ(encode(ElementType::BF16, -INFINITY), 0xff80u);
  EXPECT_EQ(encode(ElementType::F16, 65519.9), 0x7bffu);
  EXPECT_EQ(encode(ElementType::F16, 65520), 0x7c00u);
  EXPECT_EQ(encode(ElementType::FP8E5M2, 1e300), 0x7cu);
  EXPECT_EQ(encode(ElementType::FP8E4M3, 1e300), 0x7eu);
  EXPECT_EQ(encode(ElementType::FP8E4M3, 470), 0x7eu);
  EXPECT_EQ(encode(ElementType::FP4E2M1, -7.5), 0xfu);
  EXPECT_EQ(encode(ElementType::I8, 1000), 0x7fu);
  EXPECT_EQ(encode(ElementType::I64, 1e30),
            uint64_t(std::numeric_limits<int64_t>::max()));
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (ElementType type :
       {ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::FP8E4M3, ElementType::FP8E5M2, ElementType::E8M0}) {
    EXPECT_TRUE(hasNaN(type));
    EXPECT_TRUE(std::isnan(decode(type, encode(type, nan))))
        << name(type).str();
  }
  EXPECT_FALSE(hasNaN(ElementType::FP4E2M1));
  EXPECT_FALSE(hasNaN(ElementType::I32));
}

TEST(ElementTypeTest, F32IsTheHostsFloat) {
  for (double value : {0.0, -0.0, 0.1, 1e-45, 3.4e38, 1e39, -1e-40}) {
    EXPECT_EQ(encode(ElementType::F32, value),
              llvm::bit_cast<uint32_t>(float(value)));
  }
}

} // namespace
