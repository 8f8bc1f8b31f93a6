//===- LdsAddressingTest.cpp - split addresses against the map --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/LdsAddressing.h"
#include "RandomLayout.h"
#include "tenon/Layout/LdsCopy.h"
#include "tenon/Layout/Mfma.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace llvm;
using namespace tenon::layout;

namespace {
/// The address that the definition of LdsAddressing gives.
int64_t addressOf(const LdsAddressing &split, const Layout &layout,
                  const LdsLayout &lds, size_t access, int64_t lane,
                  int64_t wave) {
  int64_t bits = 0;
  if (split.addsCoordinates) {
    SmallVector<int64_t> coords = layout.coordinates(0, lane, wave);
    for (unsigned dim = 0; dim < lds.rank(); ++dim) {
      bits += coords[dim] * lds.strides()[dim] * lds.elementBits() / 8;
    }
  }
  for (auto [bit, image] : enumerate(split.laneImages)) {
    bits ^= (lane >> bit) & 1 ? image : 0;
  }
  for (auto [bit, image] : enumerate(split.waveImages)) {
    bits ^= (wave >> bit) & 1 ? image : 0;
  }
  bits ^= split.accesses[access].flips;
  if (split.padding.interval != 0) {
    bits += bits / split.padding.interval * split.padding.bytes;
  }
  return bits + split.accesses[access].offset;
}

/// Compares every address of every thread with that of the LDS layout.
void expectExact(const Layout &layout, const LdsLayout &lds) {
  Expected<LdsAddressing> split = splitLdsAddresses(layout, lds, 128);
  ASSERT_TRUE(bool(split)) << toString(split.takeError());
  int64_t count = split->registersPerAccess;
  ASSERT_EQ(int64_t(split->accesses.size()) * count, layout.numRegisters());
  for (int64_t wave = 0; wave < layout.numWaves(); ++wave) {
    for (int64_t lane = 0; lane < 64; ++lane) {
      for (size_t access = 0; access < split->accesses.size(); ++access) {
        for (int64_t reg = 0; reg < count; ++reg) {
          ASSERT_EQ(addressOf(*split, layout, lds, access, lane, wave) +
                        reg * lds.elementBits() / 8,
                    lds.byteAddress(
                        layout.coordinates(access * count + reg, lane, wave)))
              << "access " << access << " lane " << lane << " wave " << wave;
        }
      }
    }
  }
}

std::set<int64_t> flipsOf(const Layout &layout, const LdsLayout &lds) {
  std::set<int64_t> flips;
  for (auto &access : cantFail(splitLdsAddresses(layout, lds, 128)).accesses) {
    flips.insert(access.flips);
  }
  return flips;
}

LdsLayout swizzled(ArrayRef<int64_t> shape, unsigned bits,
                   ArrayRef<SwizzleTerm> terms) {
  return cantFail(LdsLayout::rowMajor(shape, bits).withSwizzle(terms));
}

/// Operand A of bf16 over [rows, k]: tiles of 16 rows and 32 columns, the
/// steps along k in registers.
Layout operand(int64_t rows, int64_t k, int64_t waves) {
  Layout atom = cantFail(mfmaOperandA(16, 32, MfmaFormat::F16));
  return cantFail(Layout::repeat(atom, {{HwDim::Register, k / 32, 1},
                                        {HwDim::Register, rows / 16 / waves, 0},
                                        {HwDim::Wave, waves, 0}}));
}
} // namespace

// Two registers with addresses serve every operand of a tile whose rows are
// swizzled: the step along k flips one bit that lanes use as well, rows are
// constants of the instructions.
TEST(LdsAddressing, OperandTileTakesTwoRegisters) {
  Layout layout = operand(128, 64, 2);
  LdsLayout lds = swizzled({128, 64}, 16, {{0, 1, 16}, {0, 2, 32}, {0, 3, 64}});
  expectExact(layout, lds);
  EXPECT_EQ(flipsOf(layout, lds), (std::set<int64_t>{0, 64}));
  // Without swizzle, one.
  expectExact(layout, LdsLayout::rowMajor({128, 64}, 16));
  EXPECT_EQ(flipsOf(layout, LdsLayout::rowMajor({128, 64}, 16)),
            std::set<int64_t>{0});
}

// Rows of 192 elements are no power of two; the swizzle works on blocks of 128
// bytes of them.
TEST(LdsAddressing, RowsThatAreNoPowerOfTwo) {
  Layout layout = operand(64, 192, 1);
  LdsLayout lds = swizzled({64, 192}, 16, {{0, 0, 16}, {0, 1, 32}, {0, 2, 64}});
  expectExact(layout, lds);
  EXPECT_LE(flipsOf(layout, lds).size(), 2u);
}

// Registers and lanes that move the same coordinate bits meet in xor, with
// padding behind.
TEST(LdsAddressing, SwizzledRegistersAndPadding) {
  Layout layout = cantFail(Layout::create(
      {4, 64}, {{1, 1}, {2, 2}},
      {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}}, {}, {}));
  expectExact(layout, LdsLayout::rowMajor({4, 64}, 32));
  for (int64_t interval : {16, 64, 256, 1024}) {
    expectExact(layout, cantFail(LdsLayout::create({4, 64}, {64, 1}, 32, {},
                                                   {interval, 16})));
    expectExact(operand(64, 64, 1),
                cantFail(LdsLayout::create({64, 64}, {64, 1}, 16, {{0, 1, 16}},
                                           {interval, 16})));
  }
}

// A part of a tile differs from its first part by constants and flips.
TEST(LdsAddressing, PartsOfATile) {
  LdsLayout lds =
      swizzled({128, 128}, 16, {{0, 1, 16}, {0, 2, 32}, {0, 3, 64}});
  Layout part = operand(64, 32, 2);
  for (int64_t row : {0, 64}) {
    for (int64_t column : {0, 32, 64, 96}) {
      int64_t origin[] = {row, column};
      LdsAddressing split = cantFail(splitLdsAddresses(part, lds, 128, origin));
      EXPECT_EQ(split.registersPerAccess, 8u);
      for (int64_t wave = 0; wave < 2; ++wave) {
        for (int64_t lane = 0; lane < 64; ++lane) {
          for (size_t access = 0; access < split.accesses.size(); ++access) {
            SmallVector<int64_t> coords =
                part.coordinates(access * split.registersPerAccess, lane, wave);
            coords[0] += row;
            coords[1] += column;
            ASSERT_EQ(addressOf(split, part, lds, access, lane, wave),
                      lds.byteAddress(coords));
          }
        }
      }
    }
  }
}

// What has no such form is an error that says why.
TEST(LdsAddressing, Errors) {
  Layout layout =
      cantFail(Layout::create({4, 48}, {{1, 1}, {2, 2}},
                              {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 0}, {0, 0}},
                              {}, {{HwDim::Register, 3, 1, 16}}));
  auto split = splitLdsAddresses(layout, LdsLayout::rowMajor({4, 48}, 32), 128);
  ASSERT_FALSE(bool(split));
  EXPECT_NE(toString(split.takeError()).find("no powers of two"),
            std::string::npos);
}

namespace {
/// Checks that the lanes of all instructions read every element once, from
/// where the LDS layout has it; returns the instructions of a wave by width.
std::map<int64_t, int64_t> expectCopies(const LdsLayout &lds, int64_t waves) {
  std::map<int64_t, int64_t> instructions;
  Expected<SmallVector<LdsCopy, 2>> copies = planLdsCopies(lds, waves, {16, 4});
  if (!copies) {
    ADD_FAILURE() << toString(copies.takeError());
    return instructions;
  }
  std::set<int64_t> addresses;
  LdsLayout packed = cantFail(LdsLayout::create(
      lds.shape(), lds.strides(), lds.elementBits(), lds.swizzle()));
  for (const LdsCopy &copy : *copies) {
    instructions[copy.laneBytes] = copy.instructions;
    int64_t perLane = copy.laneBytes * 8 / lds.elementBits();
    for (int64_t index = 0; index < copy.instructions; ++index) {
      for (int64_t thread = 0; thread < 64 * waves; ++thread) {
        int64_t bytes = copy.firstByte + index * waves * copy.chunkBytes() +
                        thread * copy.laneBytes;
        SmallVector<int64_t> coords = *packed.coordinatesAt(bytes);
        if (copy.isLinear) {
          SmallVector<int64_t> first =
              *packed.coordinatesAt(thread * copy.laneBytes);
          for (unsigned dim = 0; dim < lds.rank(); ++dim) {
            EXPECT_EQ(coords[dim], (first[dim] ^ copy.parts[index].flips[dim]) +
                                       copy.parts[index].steps[dim]);
          }
        }
        int64_t begin = bytes;
        if (lds.padding().interval != 0) {
          int64_t chunk = bytes / copy.chunkBytes() * copy.chunkBytes();
          begin += chunk / lds.padding().interval * lds.padding().bytes;
        }
        for (int64_t element = 0; element < perLane; ++element) {
          EXPECT_EQ(lds.byteAddress(coords),
                    begin + element * lds.elementBits() / 8);
          addresses.insert(lds.byteAddress(coords));
          ++coords[copy.runDim];
        }
      }
    }
  }
  int64_t elements = 1;
  for (int64_t extent : lds.shape()) {
    elements *= extent;
  }
  EXPECT_EQ(int64_t(addresses.size()), elements);
  return instructions;
}

using Counts = std::map<int64_t, int64_t>;
} // namespace

// Plain, swizzled and padded tiles, also of rows and waves that are no powers
// of two.
TEST(LdsCopy, LanesFetchWhatBelongsToTheirBytes) {
  EXPECT_EQ(expectCopies(LdsLayout::rowMajor({128, 64}, 16), 4),
            (Counts{{16, 4}}));
  expectCopies(swizzled({128, 64}, 16, {{0, 1, 16}, {0, 2, 32}, {0, 3, 64}}),
               4);
  // Rows along the second dim.
  expectCopies(cantFail(LdsLayout::create({64, 128}, {1, 64}, 16,
                                          {{1, 1, 16}, {1, 2, 32}})),
               4);
  // The swizzle reaches the bits of the instruction.
  expectCopies(swizzled({128, 64}, 16, {{0, 3, 16}, {0, 5, 32}, {0, 6, 64}}),
               2);
  expectCopies(swizzled({64, 192}, 16, {{0, 0, 16}, {0, 1, 32}, {0, 2, 64}}),
               4);
  expectCopies(swizzled({48, 64}, 16, {{0, 1, 16}}), 3);
  expectCopies(swizzled({64, 32}, 32, {{0, 0, 32}, {0, 1, 64}}), 1);
  expectCopies(swizzled({128, 128}, 8, {{0, 1, 16}, {0, 2, 32}}), 8);
  expectCopies(cantFail(LdsLayout::create({128, 64}, {64, 1}, 16, {{0, 1, 16}},
                                          {2048, 64})),
               4);
}

// What whole instructions of 16 bytes per lane leave over goes by 4 bytes.
TEST(LdsCopy, NarrowRest) {
  EXPECT_EQ(expectCopies(LdsLayout::rowMajor({16, 64}, 16), 4),
            (Counts{{4, 2}}));
  EXPECT_EQ(expectCopies(swizzled({48, 64}, 16, {{0, 1, 16}, {0, 2, 32}}), 4),
            (Counts{{16, 1}, {4, 2}}));
  EXPECT_EQ(expectCopies(swizzled({16, 128}, 8, {{0, 1, 16}}), 8),
            (Counts{{4, 1}}));
  EXPECT_EQ(expectCopies(LdsLayout::rowMajor({512, 4}, 16), 1),
            (Counts{{4, 16}}));
}

// Each thread holds the rows that its instructions read.
TEST(LdsCopy, RowsOfInstructions) {
  for (auto [rows, rowBytes, waves] : {std::tuple<int, int, int>{128, 256, 4},
                                       {64, 32, 2},
                                       {8, 2048, 1},
                                       {16, 4096, 2},
                                       {96, 128, 4},
                                       {16, 64, 4}}) {
    Layout held = cantFail(copiedRows(rows, rowBytes, waves, {16, 4}));
    EXPECT_EQ(held.shape(), ArrayRef<int64_t>(int64_t(rows)));
    LdsLayout lds = LdsLayout::rowMajor({rows, rowBytes}, 8);
    auto copies = cantFail(planLdsCopies(lds, waves, {16, 4}));
    ASSERT_EQ(copies.size(), 1u);
    const LdsCopy &copy = copies.front();
    EXPECT_EQ(held.numRegisters(), copy.instructions);
    for (int64_t index = 0; index < copy.instructions; ++index) {
      for (int64_t thread = 0; thread < 64 * waves; ++thread) {
        int64_t byte =
            index * waves * copy.chunkBytes() + thread * copy.laneBytes;
        EXPECT_EQ(held.coordinates(index, thread % 64, thread / 64)[0],
                  (*lds.coordinatesAt(byte))[0]);
      }
    }
  }
  auto refused = copiedRows(64, 192, 4, {16, 4});
  ASSERT_FALSE(bool(refused));
  EXPECT_NE(toString(refused.takeError()).find("64 rows of 192 bytes"),
            std::string::npos);
}

// Each refusal names the figure that is in the way.
TEST(LdsCopy, Errors) {
  auto errorOf = [](const LdsLayout &lds, int64_t waves) {
    auto copies = planLdsCopies(lds, waves, {16, 4});
    return copies ? std::string() : toString(copies.takeError());
  };
  EXPECT_NE(errorOf(LdsLayout::rowMajor({4, 64}, 16), 4).find("512 bytes"),
            std::string::npos);
  EXPECT_NE(
      errorOf(LdsLayout::rowMajor({512, 3}, 16), 1).find("step along dim 0"),
      std::string::npos);
  EXPECT_NE(errorOf(cantFail(LdsLayout::create({64, 64}, {72, 1}, 16)), 1)
                .find("gaps"),
            std::string::npos);
  EXPECT_NE(
      errorOf(cantFail(LdsLayout::create({64, 64}, {64, 1}, 16, {}, {128, 16})),
              1)
          .find("padding"),
      std::string::npos);
  EXPECT_NE(
      errorOf(
          cantFail(LdsLayout::rowMajor({64, 64}, 16).withSwizzle({{0, 0, 2}})),
          1)
          .find("swizzle"),
      std::string::npos);
}
