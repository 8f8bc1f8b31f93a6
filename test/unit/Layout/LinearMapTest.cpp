//===- LinearMapTest.cpp - laws of linear maps over F2 ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LinearMap.h"
#include "tenon/Layout/Echelon.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

using namespace llvm;
using namespace tenon::layout;

namespace tenon::layout {
static void PrintTo(const LinearMap &map, std::ostream *os) {
  std::string text;
  raw_string_ostream(text) << map;
  *os << text;
}
} // namespace tenon::layout

namespace {
class LinearMapTest : public testing::Test {
protected:
  uint64_t pick(uint64_t low, uint64_t high) {
    return std::uniform_int_distribution<uint64_t>(low, high)(random);
  }

  SmallVector<BitDim> dims(StringRef prefix) {
    SmallVector<BitDim> result;
    for (uint64_t i = 0, count = pick(1, 3); i < count; ++i) {
      result.push_back({prefix.str() + std::to_string(i),
                        static_cast<unsigned>(pick(0, 3))});
    }
    return result;
  }

  /// A random map; images are drawn from few vectors, so that all ranks occur.
  LinearMap map(ArrayRef<BitDim> sources, ArrayRef<BitDim> targets) {
    unsigned sourceBits = 0;
    unsigned targetBits = 0;
    for (const BitDim &dim : sources) {
      sourceBits += dim.bits;
    }
    for (const BitDim &dim : targets) {
      targetBits += dim.bits;
    }
    uint64_t keep = pick(0, 2) == 0 ? pick(0, 511) : ~uint64_t(0);
    SmallVector<uint64_t> images;
    for (unsigned bit = 0; bit < sourceBits; ++bit) {
      images.push_back(pick(0, ~uint64_t(0)) & keep &
                       maskTrailingOnes<uint64_t>(targetBits));
    }
    return cantFail(LinearMap::create(sources, targets, images));
  }

  /// An invertible map, made of additions of one bit's image to another's.
  LinearMap bijection(ArrayRef<BitDim> sources, ArrayRef<BitDim> targets,
                      unsigned bits) {
    SmallVector<uint64_t> images;
    for (unsigned bit = 0; bit < bits; ++bit) {
      images.push_back(uint64_t(1) << bit);
    }
    for (unsigned step = 0; bits > 1 && step < 40; ++step) {
      uint64_t a = pick(0, bits - 1);
      uint64_t b = pick(0, bits - 1);
      images[a] ^= a == b ? 0 : images[b];
    }
    return cantFail(LinearMap::create(sources, targets, images));
  }

  std::mt19937 random{41};
};

unsigned bitsOf(ArrayRef<BitDim> dims) {
  unsigned bits = 0;
  for (const BitDim &dim : dims) {
    bits += dim.bits;
  }
  return bits;
}

LinearMap identityOn(ArrayRef<BitDim> dims) {
  SmallVector<uint64_t> images;
  for (unsigned bit = 0; bit < bitsOf(dims); ++bit) {
    images.push_back(uint64_t(1) << bit);
  }
  return cantFail(LinearMap::create(dims, dims, images));
}
} // namespace

TEST_F(LinearMapTest, ApplicationIsLinearAndCompositionIsApplication) {
  for (int trial = 0; trial < 200; ++trial) {
    auto a = dims("a");
    auto b = dims("b");
    auto c = dims("c");
    auto d = dims("d");
    LinearMap f = map(a, b);
    LinearMap g = map(b, c);
    LinearMap h = map(c, d);
    for (uint64_t x = 0; x < (uint64_t(1) << f.sourceBits()); ++x) {
      uint64_t y = pick(0, (uint64_t(1) << f.sourceBits()) - 1);
      ASSERT_EQ(f.apply(x ^ y), f.apply(x) ^ f.apply(y));
      ASSERT_EQ(f.then(g).apply(x), g.apply(f.apply(x)));
    }
    EXPECT_EQ(f.then(g).then(h), f.then(g.then(h)));
    EXPECT_EQ(identityOn(a).then(f), f);
    EXPECT_EQ(f.then(identityOn(b)), f);
  }
}

TEST_F(LinearMapTest, RankCountsTheImage) {
  int injective = 0;
  int surjective = 0;
  for (int trial = 0; trial < 200; ++trial) {
    LinearMap f = map(dims("a"), dims("b"));
    std::set<uint64_t> image;
    for (uint64_t x = 0; x < (uint64_t(1) << f.sourceBits()); ++x) {
      image.insert(f.apply(x));
    }
    ASSERT_EQ(uint64_t(1) << f.rank(), image.size());
    ASSERT_EQ(f.isInjective(), image.size() == uint64_t(1) << f.sourceBits());
    ASSERT_EQ(f.isSurjective(), image.size() == uint64_t(1) << f.targetBits());
    ASSERT_EQ(f.isBijective(), f.isInjective() && f.isSurjective());
    injective += f.isInjective();
    surjective += f.isSurjective();
  }
  EXPECT_GT(injective, 10);
  EXPECT_GT(surjective, 10);
}

TEST_F(LinearMapTest, PseudoInverse) {
  for (int trial = 0; trial < 300; ++trial) {
    LinearMap f = map(dims("a"), dims("b"));
    LinearMap g = f.pseudoInverse();
    EXPECT_EQ(f.then(g).then(f), f);
    if (f.isSurjective()) {
      EXPECT_EQ(g.then(f), identityOn(f.targets()));
    }
    if (f.isInjective()) {
      EXPECT_EQ(f.then(g), identityOn(f.sources()));
    }
    EXPECT_EQ(f.inverse().has_value(), f.isBijective());
  }
}

TEST_F(LinearMapTest, InverseOfABijection) {
  for (int trial = 0; trial < 100; ++trial) {
    auto a = dims("a");
    BitDim b{"b", bitsOf(a)};
    LinearMap f = bijection(a, b, bitsOf(a));
    auto inverse = f.inverse();
    ASSERT_TRUE(inverse);
    EXPECT_EQ(f.then(*inverse), identityOn(a));
    EXPECT_EQ(inverse->then(f), identityOn(b));
    EXPECT_EQ(inverse->inverse(), f);
  }
}

TEST_F(LinearMapTest, LeftDivideSolvesOrProvesThereIsNoSolution) {
  int solved = 0;
  int unsolvable = 0;
  for (int trial = 0; trial < 300; ++trial) {
    auto z = dims("z");
    LinearMap m = map(dims("y"), z);
    LinearMap target = map(dims("x"), z);
    std::set<uint64_t> image;
    for (uint64_t y = 0; y < (uint64_t(1) << m.sourceBits()); ++y) {
      image.insert(m.apply(y));
    }
    bool isWithin = all_of(target.images(),
                           [&](uint64_t word) { return image.contains(word); });
    auto quotient = m.leftDivide(target);
    ASSERT_EQ(quotient.has_value(), isWithin);
    if (quotient) {
      ++solved;
      EXPECT_EQ(quotient->then(m), target);
    } else {
      ++unsolvable;
    }
    // What is composed can be divided.
    LinearMap inner = map(dims("w"), m.sources());
    auto again = m.leftDivide(inner.then(m));
    ASSERT_TRUE(again);
    EXPECT_EQ(again->then(m), inner.then(m));
    if (m.isInjective()) {
      EXPECT_EQ(*again, inner);
    }
  }
  EXPECT_GT(solved, 20);
  EXPECT_GT(unsolvable, 20);
}

TEST_F(LinearMapTest, ProductAppliesEachFactorToItsBits) {
  BitDim r{"r", 2};
  BitDim l{"l", 3};
  BitDim x{"x", 3};
  BitDim y{"y", 2};
  for (int trial = 0; trial < 100; ++trial) {
    LinearMap f = map({r, l}, {x, y});
    LinearMap g = map({l, r}, {y, {"z", 2}});
    LinearMap product = f * g;
    ASSERT_EQ(product.sources(), ArrayRef<BitDim>({{"r", 4}, {"l", 6}}));
    ASSERT_EQ(product.targets(),
              ArrayRef<BitDim>({{"x", 3}, {"y", 4}, {"z", 2}}));
    for (int i = 0; i < 50; ++i) {
      uint64_t fr = pick(0, 3), fl = pick(0, 7);
      uint64_t gr = pick(0, 3), gl = pick(0, 7);
      auto low = f.apply(ArrayRef<uint64_t>({fr, fl}));
      auto high = g.apply(ArrayRef<uint64_t>({gl, gr}));
      auto both = product.apply(ArrayRef<uint64_t>({fr + 4 * gr, fl + 8 * gl}));
      ASSERT_EQ(both[0], low[0]);
      ASSERT_EQ(both[1], low[1] + 4 * high[0]);
      ASSERT_EQ(both[2], high[1]);
    }
    // Associative, and block diagonal with respect to composition.
    LinearMap h = map(r, x);
    EXPECT_EQ((f * g) * h, f * (g * h));
    LinearMap f2 = map({x, y}, l);
    LinearMap g2 = map({y, {"z", 2}}, r);
    EXPECT_EQ((f * g).then(f2 * g2), f.then(f2) * g.then(g2));
  }
}

TEST_F(LinearMapTest, QuotientUndoesProduct) {
  int none = 0;
  for (int trial = 0; trial < 200; ++trial) {
    LinearMap low = map({{"r", 2}, {"l", 2}}, {{"x", 2}, {"y", 1}});
    LinearMap high = map({{"r", 1}, {"l", 2}}, {{"x", 1}, {"y", 2}});
    LinearMap product = low * high;
    auto quotient = product.quotient(low);
    ASSERT_TRUE(quotient);
    EXPECT_EQ(*quotient, high);
    // One bit of coupling between the factors, and there is no quotient.
    SmallVector<uint64_t> images(product.images());
    images[0] ^= uint64_t(1) << 2; // Low bit of r moves a high bit of x.
    LinearMap coupled = cantFail(
        LinearMap::create(product.sources(), product.targets(), images));
    EXPECT_FALSE(coupled.quotient(low));
    LinearMap other = map({{"r", 2}, {"l", 2}}, {{"x", 2}, {"y", 1}});
    none += !(other == low) && !product.quotient(other);
    // A factor larger than the map divides nothing.
    EXPECT_FALSE(low.quotient(product));
  }
  EXPECT_GT(none, 100);
  // The order of dims does not matter.
  LinearMap low = LinearMap::identity("l", "y", 2);
  LinearMap whole = LinearMap::identity("r", "x", 1) * low;
  auto rest = whole.quotient(low);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->restrictTo(StringRef("r")).projectTo(StringRef("x")),
            LinearMap::identity("r", "x", 1));
}

TEST_F(LinearMapTest, RestrictAndProject) {
  for (int trial = 0; trial < 100; ++trial) {
    LinearMap f = map({{"a", 2}, {"b", 3}, {"c", 1}}, {{"x", 2}, {"y", 2}});
    LinearMap part = f.restrictTo({StringRef("c"), StringRef("a")})
                         .projectTo(StringRef("y"));
    for (uint64_t a = 0; a < 4; ++a) {
      for (uint64_t c = 0; c < 2; ++c) {
        ASSERT_EQ(part.apply(ArrayRef<uint64_t>({c, a}))[0],
                  f.apply(ArrayRef<uint64_t>({a, 0, c}))[1]);
      }
    }
  }
}

TEST_F(LinearMapTest, IdentityOnASublayout) {
  LinearMap lanes = LinearMap::identity("lane", "x", 3);
  LinearMap rest = map({{"reg", 2}}, {{"y", 3}});
  LinearMap whole = lanes * rest;
  EXPECT_TRUE(whole.isIdentityOn("lane", "x"));
  EXPECT_FALSE(whole.isIdentityOn("reg", "x"));
  for (unsigned bit = 0; bit < whole.sourceBits(); ++bit) {
    SmallVector<uint64_t> images(whole.images());
    images[bit] ^= 1; // Bit 0 of x.
    LinearMap changed =
        cantFail(LinearMap::create(whole.sources(), whole.targets(), images));
    EXPECT_FALSE(changed.isIdentityOn("lane", "x")) << bit;
    images[bit] ^= 1 | uint64_t(1) << 3; // Bit 0 of y.
    changed =
        cantFail(LinearMap::create(whole.sources(), whole.targets(), images));
    EXPECT_EQ(changed.isIdentityOn("lane", "x"), bit >= 3) << bit;
  }
}

TEST_F(LinearMapTest, FreeVariablesAreZeroImages) {
  LinearMap f = cantFail(
      LinearMap::create({{"a", 3}, {"b", 2}}, {{"x", 4}}, {1, 0, 2, 0, 8}));
  EXPECT_EQ(f.freeVariableMask("a"), 2u);
  EXPECT_EQ(f.freeVariableMask("b"), 1u);
  EXPECT_EQ(LinearMap::zero("a", 3, "x", 2).freeVariableMask("a"), 7u);
}

TEST_F(LinearMapTest, CreateRefusesWhatIsNoMap) {
  auto message = [](Expected<LinearMap> map) {
    return map ? std::string() : toString(map.takeError());
  };
  EXPECT_EQ(message(LinearMap::create({{"a", 1}, {"a", 2}}, {}, {0, 0, 0})),
            "source dim 'a' is named twice");
  EXPECT_EQ(message(LinearMap::create({{"a", 2}}, {{"x", 2}}, {1})),
            "expected 2 images (one per source bit), found 1");
  EXPECT_EQ(message(LinearMap::create({{"a", 1}}, {{"x", 2}}, {4})),
            "the image 4 of source bit 0 has more than 2 bits");
  EXPECT_EQ(message(LinearMap::create({}, {{"x", 65}}, {})),
            "expected at most 64 target bits, found 65");
}

TEST_F(LinearMapTest, EchelonExpressesExactlyItsSpan) {
  for (int trial = 0; trial < 100; ++trial) {
    Echelon echelon;
    SmallVector<uint64_t> vectors;
    for (int i = 0; i < 8; ++i) {
      uint64_t vector = pick(0, 63);
      bool isNew = !echelon.express(vector).has_value();
      ASSERT_EQ(echelon.insert(vector, uint64_t(1) << vectors.size()), isNew);
      if (isNew) {
        vectors.push_back(vector);
      }
    }
    ASSERT_EQ(echelon.rank(), vectors.size());
    std::set<uint64_t> span;
    for (uint64_t subset = 0; subset < (uint64_t(1) << vectors.size());
         ++subset) {
      uint64_t sum = 0;
      for (auto [index, vector] : enumerate(vectors)) {
        sum ^= (subset >> index) & 1 ? vector : 0;
      }
      span.insert(sum);
      ASSERT_EQ(echelon.express(sum), subset);
    }
    for (uint64_t vector = 0; vector < 64; ++vector) {
      ASSERT_EQ(echelon.express(vector).has_value(), span.contains(vector));
    }
  }
}
