//===- BlockScaleTest.cpp - values that share a scale -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Reference/BlockScale.h"
#include "tenon/Reference/Generate.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

using namespace tenon::reference;

/// The code of the scale of a block whose greatest magnitude is \p amax.
static uint64_t scaleOf(double amax, ElementType type, ScaleMode mode) {
  return scaleBlock({0.25 * amax, -amax, 0}, type, mode).scale;
}

// The scale changes where each mode says, in the last place of amax.
TEST(BlockScale, ModesAtTheirBounds) {
  struct Case {
    ElementType type;
    ScaleMode mode;
    double last; ///< greatest amax with the scale 2^0
    double first;
  };
  auto next = [](double value) {
    return double(std::nextafter(float(value), INFINITY));
  };
  auto before = [](double value) {
    return double(std::nextafter(float(value), 0.0F));
  };
  const Case cases[] = {
      {ElementType::FP4E2M1, ScaleMode::Up, 6, next(6)},
      {ElementType::FP4E2M1, ScaleMode::Floor, before(8), 8},
      {ElementType::FP4E2M1, ScaleMode::Even, before(7), 7},
      {ElementType::FP8E4M3, ScaleMode::Up, 448, next(448)},
      {ElementType::FP8E4M3, ScaleMode::Floor, before(512), 512},
      {ElementType::FP8E4M3, ScaleMode::Even, before(496), 496},
  };
  for (const Case &entry : cases) {
    for (int shift : {-100, -3, 0, 90}) {
      uint64_t code = uint64_t(127 + shift);
      EXPECT_EQ(scaleOf(std::ldexp(entry.last, shift), entry.type, entry.mode),
                code);
      EXPECT_EQ(scaleOf(std::ldexp(entry.first, shift), entry.type, entry.mode),
                code + 1);
    }
  }
}

// What hardware does with the bits of FP32, added before the exponent is taken.
TEST(BlockScale, ModesAreSumsOfBits) {
  struct Mode {
    ScaleMode mode;
    uint32_t fp4, fp8;
  };
  for (Mode mode :
       {Mode{ScaleMode::Up, 0x3fffff, 0x1fffff}, Mode{ScaleMode::Floor, 0, 0},
        Mode{ScaleMode::Even, 0x200000, 0x80000}}) {
    for (uint64_t i = 0; i < 4000; ++i) {
      auto bits = uint32_t(randomBits(3, i) >> 33);
      auto amax = std::bit_cast<float>(bits);
      if (!std::isfinite(amax)) {
        continue;
      }
      auto code = [&](uint32_t added, int last) {
        return uint64_t(std::max(int((bits + added) >> 23) - last, 0));
      };
      EXPECT_EQ(scaleOf(amax, ElementType::FP4E2M1, mode.mode),
                code(mode.fp4, 2))
          << amax;
      EXPECT_EQ(scaleOf(amax, ElementType::FP8E4M3, mode.mode),
                code(mode.fp8, 8))
          << amax;
    }
  }
}

// Values are the nearest ones of the type; beyond its greatest they are that.
TEST(BlockScale, ValuesAreNearest) {
  ScaledBlock block = scaleBlock({0.75, -7.5, 2.5, 0.2, -0.3},
                                 ElementType::FP4E2M1, ScaleMode::Floor);
  EXPECT_EQ(block.scale, 127U);
  // 2.5 lies between 2 and 3, of which the even code is that of 2; 0.2 and 0.3
  // between 0 and 0.5; 7.5 is beyond 6.
  EXPECT_EQ(block.values(ElementType::FP4E2M1),
            (std::vector<double>{1, -6, 2, 0, -0.5}));
  block = scaleBlock({900, 3.25}, ElementType::FP8E4M3, ScaleMode::Up);
  EXPECT_EQ(block.scale, 129U);
  EXPECT_EQ(block.values(ElementType::FP8E4M3),
            (std::vector<double>{896, 3.25}));
}

// Zeros and the smallest numbers have the least scale; no number, that of NaN.
TEST(BlockScale, Ends) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (ScaleMode mode : {ScaleMode::Up, ScaleMode::Floor, ScaleMode::Even}) {
    for (ElementType type : {ElementType::FP4E2M1, ElementType::FP8E4M3}) {
      ScaledBlock zeros = scaleBlock({0, -0.0}, type, mode);
      EXPECT_EQ(zeros.scale, 0U);
      EXPECT_EQ(zeros.values(type), (std::vector<double>{0, 0}));
      EXPECT_EQ(scaleOf(0x1p-140, type, mode), 0U);
      for (double none : {infinity, -infinity, std::nan("")}) {
        ScaledBlock block = scaleBlock({1, none, 2}, type, mode);
        EXPECT_EQ(block.scale, 255U);
        for (double value : block.values(type)) {
          EXPECT_TRUE(std::isnan(value));
        }
      }
    }
  }
}
