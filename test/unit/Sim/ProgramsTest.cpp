//===- ProgramsTest.cpp - whole programs compiled by clang ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Programs.h"

#include <cmath>
#include <numeric>
#include <random>

using namespace llvm;
using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

class Programs : public ProgramTest {
protected:
  Programs() : ProgramTest("Workloads") {}
};

TEST_P(Programs, SaxpyWithARaggedEnd) {
  const unsigned n = 1000;
  std::vector<float> x(n), y(n);
  for (unsigned i = 0; i < n; ++i) {
    x[i] = std::sin(float(i));
    y[i] = std::cos(float(i));
  }
  uint64_t dx = upload(x), dy = upload(y);
  launch("saxpy", {4, 1, 1}, {256, 1, 1}, dy, dx, 1.7f, n);
  std::vector<float> result = download<float>(dy, n);
  for (unsigned i = 0; i < n; ++i) {
    EXPECT_EQ(result[i], 1.7f * x[i] + y[i]) << i;
  }
}

TEST_P(Programs, ReductionThroughLdsAndBarriers) {
  std::vector<float> in(1024);
  for (float &value : in) {
    value = float(random() % 1000) / 7;
  }
  uint64_t din = upload(in), dout = upload(std::vector<float>(4));
  launch("reduceSum", {4, 1, 1}, {256, 1, 1}, dout, din);
  std::vector<float> result = download<float>(dout, 4);
  for (unsigned g = 0; g < 4; ++g) {
    std::vector<float> part(in.begin() + 256 * g, in.begin() + 256 * (g + 1));
    for (unsigned width = 128; width; width /= 2) {
      for (unsigned t = 0; t < width; ++t) {
        part[t] += part[t + width];
      }
    }
    EXPECT_EQ(result[g], part[0]) << g;
  }
}

TEST_P(Programs, DivergentLoops) {
  std::vector<uint32_t> in(256);
  std::iota(in.begin(), in.end(), 1);
  uint64_t din = upload(in), dout = upload(std::vector<uint32_t>(256));
  launch("collatz", {2, 1, 1}, {128, 1, 1}, dout, din);
  std::vector<uint32_t> result = download<uint32_t>(dout, 256);
  for (unsigned i = 0; i < 256; ++i) {
    uint64_t value = in[i];
    uint32_t steps = 0;
    for (; value != 1; ++steps) {
      value = value % 2 ? 3 * value + 1 : value / 2;
    }
    EXPECT_EQ(result[i], steps) << i;
  }
}

TEST_P(Programs, PrivateArraysInScratch) {
  std::vector<int> data(128 * 16);
  for (int &value : data) {
    value = int(random());
  }
  uint64_t address = upload(data);
  launch("sortSmall", {2, 1, 1}, {64, 1, 1}, address);
  std::vector<int> result = download<int>(address, data.size());
  for (unsigned i = 0; i < 128; ++i) {
    std::sort(data.begin() + 16 * i, data.begin() + 16 * (i + 1));
  }
  EXPECT_EQ(result, data);
}

TEST_P(Programs, WideIntegers) {
  std::vector<uint64_t> in(128);
  for (uint64_t &value : in) {
    value = uint64_t(random()) << 32 | random();
  }
  in[0] = 0;
  in[1] = ~uint64_t(0);
  uint64_t din = upload(in), dout = upload(std::vector<uint64_t>(128));
  launch("mix64", {2, 1, 1}, {64, 1, 1}, dout, din);
  std::vector<uint64_t> result = download<uint64_t>(dout, 128);
  for (unsigned i = 0; i < 128; ++i) {
    uint64_t x = in[i];
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdul;
    x ^= x >> 29;
    x = x / (in[i] % 1000 + 1) + uint64_t(int64_t(x) >> 7) + x % 977;
    EXPECT_EQ(result[i], x) << i;
  }
}

TEST_P(Programs, DivisionAndSquareRootAreExact) {
  std::vector<uint32_t> a = edgeFloats(), b = edgeFloats(11);
  for (unsigned i = 0; i < 192; ++i) {
    a.push_back((random() & 0x807FFFFF) | ((64 + random() % 128) << 23));
    b.push_back((random() & 0x807FFFFF) | ((64 + random() % 128) << 23));
  }
  uint64_t da = upload(a), db = upload(b), dout = upload(a);
  launch("divideSqrt", {4, 1, 1}, {64, 1, 1}, dout, da, db);
  std::vector<float> result = download<float>(dout, a.size());
  for (unsigned i = 0; i < a.size(); ++i) {
    float x = floatOf(a[i]), y = floatOf(b[i]);
    float expected = x / y + std::sqrt(std::fabs(y));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(result[i])) << x << " / " << y;
    } else {
      EXPECT_EQ(result[i], expected) << x << " / " << y;
    }
  }
}

TEST_P(Programs, DoubleDivisionAndSquareRootAreExact) {
  std::vector<double> a(256), b(256);
  for (unsigned i = 0; i < 256; ++i) {
    a[i] = std::ldexp(double(random()) + 1, int(random() % 200) - 100);
    b[i] = -std::ldexp(double(random()) + 1, int(random() % 200) - 100);
  }
  uint64_t da = upload(a), db = upload(b), dout = upload(a);
  launch("divideDouble", {4, 1, 1}, {64, 1, 1}, dout, da, db);
  std::vector<double> result = download<double>(dout, a.size());
  for (unsigned i = 0; i < a.size(); ++i) {
    EXPECT_EQ(result[i], a[i] / b[i] + std::sqrt(std::fabs(b[i]))) << i;
  }
}

TEST_P(Programs, BytesShortsAndHalves) {
  std::vector<int8_t> a(128);
  std::vector<uint8_t> b(128);
  std::vector<_Float16> h(128);
  for (unsigned i = 0; i < 128; ++i) {
    a[i] = int8_t(random());
    b[i] = uint8_t(random());
    h[i] = _Float16(float(int(random() % 65) - 32) / 8);
  }
  uint64_t da = upload(a), db = upload(b), dh = upload(h),
           dout = upload(std::vector<int16_t>(128));
  launch("narrowTypes", {2, 1, 1}, {64, 1, 1}, dout, da, db, dh);
  std::vector<int16_t> result = download<int16_t>(dout, 128);
  for (unsigned i = 0; i < 128; ++i) {
    _Float16 product = h[i] * _Float16(a[i]);
    product = product + _Float16(b[i]);
    product = product * _Float16(0.25f);
    EXPECT_EQ(result[i], int16_t(int16_t(a[i] * b[i]) + int16_t(product))) << i;
  }
}

TEST_P(Programs, AtomicsInAGridOfThreeDimensions) {
  uint64_t bins = upload(std::vector<uint32_t>(16)),
           visits = upload(std::vector<uint32_t>(512));
  launch("histogram3d", {2, 2, 2}, {4, 4, 4}, bins, visits);
  std::vector<uint32_t> expected(16);
  std::vector<uint32_t> where = download<uint32_t>(visits, 512);
  for (unsigned z = 0; z < 8; ++z) {
    for (unsigned y = 0; y < 8; ++y) {
      for (unsigned x = 0; x < 8; ++x) {
        ++expected[(x * 7 + y * 3 + z) % 16];
        EXPECT_EQ(where[(z * 8 + y) * 8 + x], x | y << 8 | z << 16);
      }
    }
  }
  EXPECT_EQ(download<uint32_t>(bins, 16), expected);
}

TEST_P(Programs, CallsAndRecursion) {
  std::vector<uint32_t> a(64), b(64);
  for (unsigned i = 0; i < 64; ++i) {
    a[i] = random() % 100000;
    b[i] = random() % 100000;
  }
  uint64_t da = upload(a), db = upload(b), dout = upload(a);
  launch("greatestDivisor", {1, 1, 1}, {64, 1, 1}, dout, da, db);
  std::vector<uint32_t> result = download<uint32_t>(dout, 64);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(result[i], std::gcd(a[i], b[i])) << i;
  }
}

TEST_P(Programs, ConstantTables) {
  static const uint32_t table[16] = {3, 1, 4, 1, 5, 9, 2, 6,
                                     5, 3, 5, 8, 9, 7, 9, 3};
  std::vector<uint32_t> in(64);
  std::iota(in.begin(), in.end(), 100);
  uint64_t din = upload(in), dout = upload(in);
  launch("lookUp", {1, 1, 1}, {64, 1, 1}, dout, din);
  std::vector<uint32_t> result = download<uint32_t>(dout, 64);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(result[i], table[in[i] % 16] * 100 + table[(in[i] / 16) % 16]);
  }
}

INSTANTIATE_TEST_SUITE_P(Clang, Programs, ::testing::ValuesIn(programVariants),
                         variantName);

} // namespace
