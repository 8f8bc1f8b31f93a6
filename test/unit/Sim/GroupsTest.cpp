//===- GroupsTest.cpp - programs whose work-items work together -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of Groups.c against plain loops on the host. Every launch runs
// under all checks and may have no finding.
//
//===----------------------------------------------------------------------===//

#include "Programs.h"

#include <bit>
#include <numeric>

using namespace tenon::sim;
using namespace tenon::sim::test;

namespace {

using Words = std::vector<uint32_t>;
constexpr std::array<uint32_t, 3> one = {1, 1, 1}, full = {256, 1, 1};

class Groups : public ProgramTest {
protected:
  Groups() : ProgramTest("Groups") {}

  Words randomWords(size_t n) {
    Words values(n);
    for (uint32_t &value : values) {
      value = uint32_t(random());
    }
    return values;
  }
};

// Prefix sums through LDS, eight barriers.
TEST_P(Groups, PrefixScan) {
  Words in = randomWords(512);
  uint64_t din = upload(in), out = upload(in);
  launch("prefixScan", {2, 1, 1}, full, out, din);
  Words expected = in;
  for (unsigned g = 0; g < 2; ++g) {
    std::partial_sum(in.begin() + 256 * g, in.begin() + 256 * (g + 1),
                     expected.begin() + 256 * g);
  }
  EXPECT_EQ(download<uint32_t>(out, 512), expected);
}

// A sorting network of 36 steps.
TEST_P(Groups, BitonicSort) {
  Words data = randomWords(256);
  uint64_t address = upload(data);
  launch("bitonicSort", one, full, address);
  std::sort(data.begin(), data.end());
  EXPECT_EQ(download<uint32_t>(address, 256), data);
}

// A product of matrices by tiles; small integers, so that sums are exact.
TEST_P(Groups, MatrixProduct) {
  std::vector<float> a(4096), b(4096), expected(4096);
  for (unsigned i = 0; i < 4096; ++i) {
    a[i] = float(int(random() % 17) - 8);
    b[i] = float(int(random() % 17) - 8);
  }
  for (unsigned row = 0; row < 64; ++row) {
    for (unsigned column = 0; column < 64; ++column) {
      for (unsigned k = 0; k < 64; ++k) {
        expected[row * 64 + column] += a[row * 64 + k] * b[k * 64 + column];
      }
    }
  }
  uint64_t dc = upload(expected), da = upload(a), db = upload(b);
  launch("matrixProduct", {4, 4, 1}, {16, 16, 1}, dc, da, db);
  EXPECT_EQ(download<float>(dc, 4096), expected);
}

// A fast transform modulo a prime is the plain sum.
TEST_P(Groups, NumberTheoreticTransform) {
  Words data = randomWords(256);
  uint64_t address = upload(data);
  // 3 generates the group of order 65536.
  auto power = [](uint64_t base, unsigned exponent) {
    uint64_t result = 1;
    for (unsigned i = 0; i < exponent; ++i) {
      result = result * base % 65537;
    }
    return result;
  };
  uint32_t w = uint32_t(power(3, 256));
  launch("transform", one, full, address, w);
  Words powers(256), expected(256);
  for (unsigned i = 0; i < 256; ++i) {
    powers[i] = uint32_t(power(w, i));
  }
  for (unsigned k = 0; k < 256; ++k) {
    uint64_t sum = 0;
    for (unsigned n = 0; n < 256; ++n) {
      sum += uint64_t(data[n] % 65537) * powers[n * k % 256] % 65537;
    }
    expected[k] = uint32_t(sum % 65537);
  }
  EXPECT_EQ(download<uint32_t>(address, 256), expected);
}

// Atomics in LDS, then in memory, from three workgroups.
TEST_P(Groups, Histogram) {
  Words in = randomWords(768), expected(64);
  for (uint32_t value : in) {
    ++expected[value % 64];
  }
  uint64_t bins = upload(Words(64)), din = upload(in);
  launch("histogram", {3, 1, 1}, full, bins, din);
  EXPECT_EQ(download<uint32_t>(bins, 64), expected);
}

// Every integer atomic of C, on words and double words.
TEST_P(Groups, IntegerAtomics) {
  Words in = randomWords(512);
  Words small = {1, 2, ~0u, 0, 5, ~0u, 0, 0x7FFFFFFF, 0x80000000};
  std::vector<uint64_t> large = {1, 2, ~uint64_t(0), uint64_t(1) << 63};
  uint64_t dsmall = upload(small), dlarge = upload(large), din = upload(in);
  launch("integerAtomics", {2, 1, 1}, full, dsmall, dlarge, din);
  for (uint32_t value : in) {
    uint64_t wide = value * 0x100000001ull;
    small[0] += value;
    small[1] -= value;
    small[2] &= value | 1;
    small[3] |= value & 0xFF0;
    small[4] ^= value;
    small[5] = std::min(small[5], value);
    small[6] = std::max(small[6], value);
    small[7] = uint32_t(std::min(int32_t(small[7]), int32_t(value)));
    small[8] = uint32_t(std::max(int32_t(small[8]), int32_t(value)));
    large[0] += wide;
    large[1] ^= wide;
    large[2] = std::min(large[2], wide);
    large[3] = uint64_t(std::max(int64_t(large[3]), int64_t(wide)));
  }
  EXPECT_EQ(download<uint32_t>(dsmall, 9), small);
  EXPECT_EQ(download<uint64_t>(dlarge, 4), large);
}

// Floats whose sums are exact in any order; products by compare and swap.
TEST_P(Groups, FloatAtomicsAndSwapLoops) {
  Words in = randomWords(512);
  double sum = 0;
  uint32_t product = 3;
  for (uint32_t value : in) {
    sum += value % 1000;
    product *= 2 * (value % 1000) + 1;
  }
  uint64_t narrow = upload(std::vector<float>(1)),
           wide = upload(std::vector<double>(1)), dproduct = upload(Words{3}),
           din = upload(in);
  launch("floatAtomics", {2, 1, 1}, full, narrow, wide, dproduct, din);
  EXPECT_EQ(download<float>(narrow, 1)[0], float(sum));
  EXPECT_EQ(download<double>(wide, 1)[0], sum);
  EXPECT_EQ(download<uint32_t>(dproduct, 1)[0], product);
}

// The same in LDS.
TEST_P(Groups, LocalAtomics) {
  Words in = randomWords(512);
  uint64_t out = upload(std::vector<float>(4)), dproduct = upload(Words(2)),
           din = upload(in);
  launch("localAtomics", {2, 1, 1}, full, out, dproduct, din);
  std::vector<float> sums = download<float>(out, 4);
  Words products = download<uint32_t>(dproduct, 2);
  for (unsigned g = 0; g < 2; ++g) {
    float sum = 0;
    uint32_t product = 1;
    for (unsigned i = 0; i < 256; ++i) {
      sum += float(in[256 * g + i] % 1000);
      product *= 2 * (in[256 * g + i] % 1000) + 1;
    }
    EXPECT_EQ(sums[2 * g], sum);
    EXPECT_EQ(sums[2 * g + 1], sum);
    EXPECT_EQ(products[g], product);
  }
}

// Permutes, broadcasts, DPP rows, swizzles and ballots.
TEST_P(Groups, Exchanges) {
  Words in = randomWords(256);
  uint64_t out = upload(Words(2048)), din = upload(in);
  launch("exchanges", one, full, out, din);
  Words got = download<uint32_t>(out, 2048);
  for (unsigned i = 0; i < 256; ++i) {
    unsigned wave = i & ~63u, lane = i & 63;
    const uint32_t *of = &in[wave];
    unsigned odd = 0, oddBefore = 0;
    uint32_t row = 0;
    for (unsigned k = 0; k < 64; ++k) {
      odd += of[k] & 1;
      oddBefore += k < lane ? of[k] & 1 : 0;
      row += k / 16 == lane / 16 ? of[k] : 0;
    }
    Words expected = {of[lane ^ 21],
                      of[lane ^ 9],
                      of[17],
                      of[0],
                      lane % 16 ? of[lane - 1] : 7,
                      of[lane ^ 1],
                      odd * 100 + oddBefore,
                      row};
    EXPECT_EQ(Words(&got[8 * i], &got[8 * i + 8]), expected) << i;
  }
}

// What is kept, in any order of waves.
TEST_P(Groups, Compaction) {
  Words in = randomWords(512), expected;
  for (uint32_t value : in) {
    if (value % 3 == 0) {
      expected.push_back(value);
    }
  }
  uint64_t out = upload(Words(512)), count = upload(Words(1)), din = upload(in);
  launch("compact", {2, 1, 1}, full, out, count, din);
  ASSERT_EQ(download<uint32_t>(count, 1)[0], expected.size());
  Words got = download<uint32_t>(out, expected.size());
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(got, expected);
}

// The last workgroup reads what the others stored before they counted.
TEST_P(Groups, LastGroupSums) {
  Words in = randomWords(1280), expected(256);
  for (unsigned i = 0; i < 1280; ++i) {
    expected[i % 256] += 3 * in[i];
  }
  uint64_t out = upload(Words(256)), parts = upload(Words(1280)),
           ticket = upload(Words(1)), din = upload(in);
  launch("lastGroupSums", {5, 1, 1}, full, out, parts, ticket, din, 5u);
  EXPECT_EQ(download<uint32_t>(out, 256), expected);
}

// Lanes of one flat access go to memory, LDS and scratch.
TEST_P(Groups, GenericPointers) {
  Words in = randomWords(256), memory = randomWords(256);
  uint64_t out = upload(Words(256)), dmemory = upload(memory), din = upload(in);
  launch("genericPointers", one, full, out, dmemory, din);
  Words got = download<uint32_t>(out, 256);
  for (unsigned i = 0; i < 256; ++i) {
    uint32_t value = in[i], shared = 7, own[2] = {5, 6};
    (value % 3 == 0   ? memory[i]
     : value % 3 == 1 ? shared
                      : own[value / 3 % 2]) += value;
    EXPECT_EQ(got[i], memory[i] + 3 * shared + 5 * own[0] + 7 * own[1]) << i;
  }
}

// LDS that only the launch knows the size of.
TEST_P(Groups, DynamicLds) {
  const uint32_t n = 1000;
  Words in = randomWords(n);
  uint64_t out = upload(Words(n)), din = upload(in);
  dynamicLds = 8 * n;
  launch("dynamicLds", one, full, out, din, n);
  Words got = download<uint32_t>(out, n);
  for (unsigned k = 0; k < n; ++k) {
    EXPECT_EQ(got[k], in[n - 1 - k] + 2 * in[k * 7 % n]) << k;
  }
}

// Sizes of blocks and grids as the kernel sees them.
TEST_P(Groups, LaunchFacts) {
  uint64_t out = upload(Words(7));
  launch("launchFacts", {3, 2, 4}, {8, 4, 2}, out);
  EXPECT_EQ(download<uint32_t>(out, 7), (Words{8, 4, 2, 24, 8, 8, 102}));
}

INSTANTIATE_TEST_SUITE_P(Clang, Groups, ::testing::ValuesIn(programVariants),
                         variantName);
INSTANTIATE_TEST_SUITE_P(CodeObjects, Groups,
                         ::testing::Values("gfx950.v4", "gfx950.v5",
                                           "gfx950.v6"),
                         variantName);

} // namespace
