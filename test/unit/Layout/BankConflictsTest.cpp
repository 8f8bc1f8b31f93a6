//===- BankConflictsTest.cpp - phases against a counter by hand -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/BankConflicts.h"
#include "RandomLayout.h"
#include "tenon/Layout/Mfma.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

using namespace llvm;
using namespace tenon::layout;

namespace {
using LaneList = std::vector<std::vector<unsigned>>;

uint64_t maskOf(const std::vector<unsigned> &lanes) {
  uint64_t mask = 0;
  for (unsigned lane : lanes) {
    mask |= uint64_t(1) << lane;
  }
  return mask;
}

/// Lanes begin .. end.
std::vector<unsigned> range(unsigned begin, unsigned end) {
  std::vector<unsigned> lanes;
  for (unsigned lane = begin; lane <= end; ++lane) {
    lanes.push_back(lane);
  }
  return lanes;
}

std::vector<unsigned>
ranges(std::initializer_list<std::pair<unsigned, unsigned>> parts) {
  std::vector<unsigned> lanes;
  for (auto [begin, end] : parts) {
    for (unsigned lane : range(begin, end)) {
      lanes.push_back(lane);
    }
  }
  return lanes;
}

/// The measured phase groups of gfx950.
LaneList phasesOf(LdsAccess kind, unsigned bits) {
  if (kind == LdsAccess::Write) {
    return {range(0, 15), range(16, 31), range(32, 47), range(48, 63)};
  }
  switch (bits) {
  case 64:
    return {range(0, 31), range(32, 63)};
  case 96:
    return {ranges({{0, 3}, {20, 23}}),   ranges({{4, 7}, {16, 19}}),
            ranges({{8, 11}, {28, 31}}),  ranges({{12, 15}, {24, 27}}),
            ranges({{32, 35}, {52, 55}}), ranges({{36, 39}, {48, 51}}),
            ranges({{40, 43}, {60, 63}}), ranges({{44, 47}, {56, 59}})};
  case 128:
    return {ranges({{0, 3}, {12, 15}, {20, 27}}),
            ranges({{4, 11}, {16, 19}, {28, 31}}),
            ranges({{32, 35}, {44, 47}, {52, 59}}),
            ranges({{36, 43}, {48, 51}, {60, 63}})};
  default:
    return {range(0, 63)};
  }
}

PhaseRule ruleOf(LdsAccess kind, unsigned bits, unsigned banks) {
  PhaseRule rule{bits, banks, {}};
  for (const auto &lanes : phasesOf(kind, bits)) {
    rule.phases.push_back(maskOf(lanes));
  }
  return rule;
}

/// `banks` for everything but the 32-bank cases of gfx950.
BankRules rulesWith(unsigned banks) {
  BankRules rules;
  for (unsigned bits : {32u, 64u, 128u}) {
    rules.reads.push_back(ruleOf(LdsAccess::Read, bits, banks));
  }
  rules.reads.push_back(ruleOf(LdsAccess::Read, 96, 32));
  rules.writes.push_back(ruleOf(LdsAccess::Write, 64, 32));
  return rules;
}

BankRules gfx950() { return rulesWith(64); }

/// Counts byte by byte with sets: written from the rules, not from the code.
BankConflicts countByHand(const Layout &layout, const LdsLayout &lds,
                          unsigned bits, LdsAccess kind, unsigned banks) {
  BankConflicts count;
  int64_t perAccess = bits / lds.elementBits();
  for (int64_t wave = 0; wave < layout.numWaves(); ++wave) {
    for (int64_t reg = 0; reg < layout.numRegisters(); reg += perAccess) {
      ++count.instructions;
      for (const auto &lanes : phasesOf(kind, bits)) {
        std::map<int64_t, std::set<int64_t>> dwordsOfBank;
        for (unsigned lane : lanes) {
          for (int64_t j = 0; j < perAccess; ++j) {
            int64_t dword =
                lds.bitAddress(layout.coordinates(reg + j, lane, wave)) / 32;
            dwordsOfBank[dword % banks].insert(dword);
          }
        }
        int64_t cycles = 0;
        for (const auto &[bank, dwords] : dwordsOfBank) {
          cycles = std::max<int64_t>(cycles, dwords.size());
        }
        ++count.phases;
        count.extraPhases += cycles - 1;
        count.worstDegree = std::max(count.worstDegree, cycles);
      }
    }
  }
  return count;
}

LdsLayout swizzledRows(ArrayRef<int64_t> shape, unsigned bits,
                       std::initializer_list<SwizzleTerm> terms) {
  return cantFail(LdsLayout::rowMajor(shape, bits).withSwizzle(terms));
}
} // namespace

TEST(BankConflicts, CountMatchesACountByHand) {
  LayoutGenerator generator(81);
  BankRules rules = gfx950();
  BankRules rules32 = rulesWith(32);
  int conflicting = 0;
  int counted = 0;
  for (int trial = 0; trial < 400; ++trial) {
    int64_t laneBits = generator.pick(0, 6);
    unsigned elementBits = 8u << generator.pick(0, 2);
    unsigned bits = ArrayRef({32u, 64u, 96u, 128u})[generator.pick(0, 3)];
    LdsAccess kind = bits == 64 && generator.pick(0, 1) == 1 ? LdsAccess::Write
                                                             : LdsAccess::Read;
    int64_t run = bits / elementBits;
    int64_t rows = int64_t(1) << laneBits;
    int64_t columns = run * (64 >> laneBits) * generator.pick(1, 2);
    // Registers hold a run of the row; for 96 bits the run is 3 dwords, of
    // which blocked layouts know nothing: take one column of elements.
    int64_t columnStride = 1;
    if (bits == 96) {
      columns = alignTo(columns, run * (64 >> laneBits));
    }
    int64_t rowStride = columns + generator.pick(0, 3) * (128 / elementBits);
    auto lds = LdsLayout::create({rows, columns}, {rowStride, columnStride},
                                 elementBits);
    ASSERT_TRUE(bool(lds));
    Expected<Layout> layout = [&]() -> Expected<Layout> {
      if (bits != 96) {
        return Layout::blocked({rows, columns}, {1, 0}, {1, run},
                               {rows, 64 >> laneBits}, {1, 1});
      }
      // Lanes along the rows only, registers along the columns.
      return Layout::blocked({rows, columns}, {1, 0}, {1, 1}, {rows, 1},
                             {1, 1});
    }();
    ASSERT_TRUE(bool(layout)) << messageOf(layout.takeError());
    if (bits == 96 && rowStride * elementBits % 32 != 0) {
      continue;
    }
    for (bool is64 : {true, false}) {
      Expected<BankConflicts> found =
          bankConflicts(*layout, *lds, bits, kind, is64 ? rules : rules32);
      ASSERT_TRUE(bool(found)) << messageOf(found.takeError());
      unsigned banks = bits == 96 || kind == LdsAccess::Write ? 32
                       : is64                                 ? 64
                                                              : 32;
      BankConflicts expected = countByHand(*layout, *lds, bits, kind, banks);
      ASSERT_EQ(*found, expected) << *layout << " with " << bits;
      conflicting += expected.extraPhases > 0;
      ++counted;
    }
  }
  EXPECT_GT(counted, 500);
  EXPECT_GT(conflicting, 100);
  EXPECT_GT(counted - conflicting, 100);
}

// The published swizzle of 128-byte rows: byte ^= ((row >> 1) & 7) << 4.
TEST(BankConflicts, SwizzleOf128ByteRows) {
  BankRules rules = gfx950();
  std::initializer_list<SwizzleTerm> terms = {
      {0, 1, 16}, {0, 2, 32}, {0, 3, 64}};
  Layout fp8 = cantFail(mfmaOperandA(16, 128, MfmaFormat::F8));
  LdsLayout plain = LdsLayout::rowMajor({16, 128}, 8);
  EXPECT_GT(cantFail(bankConflicts(fp8, plain, 128, LdsAccess::Read, rules))
                .extraPhases,
            0);
  BankConflicts swizzled = cantFail(bankConflicts(
      fp8, swizzledRows({16, 128}, 8, terms), 128, LdsAccess::Read, rules));
  EXPECT_EQ(swizzled, (BankConflicts{2, 8, 0, 1}));

  // The same rows of 256 fp4 values: two K steps.
  Layout fp4 =
      cantFail(Layout::repeat(cantFail(mfmaOperandA(16, 128, MfmaFormat::F4)),
                              Repeat{HwDim::Register, 2, 1}));
  EXPECT_GT(cantFail(bankConflicts(fp4, LdsLayout::rowMajor({16, 256}, 4), 128,
                                   LdsAccess::Read, rules))
                .extraPhases,
            0);
  EXPECT_EQ(cantFail(bankConflicts(fp4, swizzledRows({16, 256}, 4, terms), 128,
                                   LdsAccess::Read, rules)),
            (BankConflicts{2, 8, 0, 1}));
}

// The published swizzle of 256-byte rows: byte ^= (row & 15) << 4.
TEST(BankConflicts, SwizzleOf256ByteRows) {
  BankRules rules = gfx950();
  Layout bf16 =
      cantFail(Layout::repeat(cantFail(mfmaOperandA(16, 32, MfmaFormat::F16)),
                              Repeat{HwDim::Register, 4, 1}));
  EXPECT_GT(cantFail(bankConflicts(bf16, LdsLayout::rowMajor({16, 128}, 16),
                                   128, LdsAccess::Read, rules))
                .extraPhases,
            0);
  EXPECT_EQ(cantFail(bankConflicts(
                bf16,
                swizzledRows({16, 128}, 16,
                             {{0, 0, 16}, {0, 1, 32}, {0, 2, 64}, {0, 3, 128}}),
                128, LdsAccess::Read, rules)),
            (BankConflicts{4, 16, 0, 1}));
}

TEST(BankConflicts, BroadcastIsFreeAndColumnsAreNot) {
  BankRules rules = gfx950();
  // All lanes read one dword.
  Layout same = cantFail(Layout::distribute1D(1, 64, 1, 1));
  EXPECT_EQ(cantFail(bankConflicts(same, LdsLayout::rowMajor({1}, 32), 32,
                                   LdsAccess::Read, rules))
                .extraPhases,
            0);
  // 64 lanes down a column of 256-byte rows: one bank.
  Layout column =
      cantFail(Layout::blocked({64, 1}, {1, 0}, {1, 1}, {64, 1}, {1, 1}));
  auto lds = cantFail(LdsLayout::create({64, 1}, {64, 1}, 32));
  EXPECT_EQ(cantFail(bankConflicts(column, lds, 32, LdsAccess::Read, rules)),
            (BankConflicts{1, 1, 63, 64}));
  // One dword of padding per row mends it.
  lds = cantFail(LdsLayout::create({64, 1}, {65, 1}, 32));
  EXPECT_EQ(cantFail(bankConflicts(column, lds, 32, LdsAccess::Read, rules)),
            (BankConflicts{1, 1, 0, 1}));
}

// Two lanes of one bf16 pair share a dword: an access of 16 bits follows the
// dword rule.
TEST(BankConflicts, NarrowAccessesFollowTheDwordRule) {
  BankRules rules = gfx950();
  Layout row = cantFail(Layout::distribute1D(64, 64, 1, 1));
  EXPECT_EQ(cantFail(bankConflicts(row, LdsLayout::rowMajor({64}, 16), 16,
                                   LdsAccess::Read, rules)),
            (BankConflicts{1, 1, 0, 1}));
}

TEST(BankConflicts, ErrorsNameTheAccess) {
  auto message = [](Expected<BankConflicts> result) {
    return result ? std::string() : messageOf(result.takeError());
  };
  BankRules rules = gfx950();
  Layout row = cantFail(Layout::distribute1D(256, 64, 1, 4));
  LdsLayout lds = LdsLayout::rowMajor({256}, 32);
  EXPECT_EQ(message(bankConflicts(row, lds, 128, LdsAccess::Write, rules)),
            "no bank rule for writes of 128 bits");
  EXPECT_EQ(message(bankConflicts(row, lds, 96, LdsAccess::Read, rules)),
            "4 registers do not divide into accesses of 3");
  Layout spread = cantFail(Layout::distribute1D(256, 64, 1, 1));
  EXPECT_EQ(message(bankConflicts(spread, lds, 64, LdsAccess::Read, rules)),
            "register 1 of lane 0, wave 0 lies at bit 2048, expected 32: an "
            "access of 64 bits is no run of addresses");
  Layout rows =
      cantFail(Layout::blocked({64, 4}, {1, 0}, {1, 4}, {64, 1}, {1, 1}));
  EXPECT_EQ(message(bankConflicts(
                rows, cantFail(LdsLayout::create({64, 4}, {5, 1}, 32)), 128,
                LdsAccess::Read, rules)),
            "register 0 of lane 1, wave 0 lies at bit 160, expected a multiple "
            "of 128");
}

TEST(BankConflicts, SearchFindsTheKnownSwizzles) {
  BankRules rules = gfx950();
  Layout fp8 = cantFail(mfmaOperandA(16, 128, MfmaFormat::F8));
  auto found = cantFail(
      findConflictFreeSwizzle(LdsLayout::rowMajor({16, 128}, 8),
                              LdsUse{&fp8, 128, LdsAccess::Read}, rules, 0));
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->swizzle().empty());
  EXPECT_EQ(countByHand(fp8, *found, 128, LdsAccess::Read, 64).extraPhases, 0);

  // Rows of 384 bytes, and both a wide read and an 8-byte write by rows.
  Layout read =
      cantFail(Layout::repeat(cantFail(mfmaOperandA(16, 32, MfmaFormat::F16)),
                              Repeat{HwDim::Register, 6, 1}));
  Layout write =
      cantFail(Layout::blocked({16, 192}, {1, 0}, {1, 4}, {4, 16}, {1, 1}));
  found =
      cantFail(findConflictFreeSwizzle(LdsLayout::rowMajor({16, 192}, 16),
                                       {LdsUse{&read, 128, LdsAccess::Read},
                                        LdsUse{&write, 64, LdsAccess::Write}},
                                       rules, 0));
  ASSERT_TRUE(found);
  EXPECT_EQ(countByHand(read, *found, 128, LdsAccess::Read, 64).extraPhases, 0);
  EXPECT_EQ(countByHand(write, *found, 64, LdsAccess::Write, 32).extraPhases,
            0);
}

TEST(BankConflicts, SearchKeepsWhatIsFreeAndAdmitsDefeat) {
  BankRules rules = gfx950();
  Layout rows =
      cantFail(Layout::blocked({16, 16}, {1, 0}, {1, 4}, {16, 4}, {1, 1}));
  LdsLayout dense = LdsLayout::rowMajor({16, 16}, 32);
  auto found = cantFail(findConflictFreeSwizzle(
      dense, LdsUse{&rows, 128, LdsAccess::Read}, rules, 0));
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, dense);
  // A column of single dwords in rows of 16 bytes times 64: 16-byte moves
  // cannot spread 64 lanes over 64 banks.
  Layout column =
      cantFail(Layout::blocked({64, 64}, {0, 1}, {1, 1}, {64, 1}, {1, 1}));
  EXPECT_FALSE(cantFail(
      findConflictFreeSwizzle(LdsLayout::rowMajor({64, 64}, 32),
                              LdsUse{&column, 32, LdsAccess::Read}, rules, 0)));
}

namespace {
/// Rows of an operand tile as a kernel reads them whose lanes shall own 8
/// consecutive results: lane row r of fragment j is row 8 * (r / 4) + 4 * j +
/// r mod 4.
Layout permutedRows(const Layout &operand) {
  SmallVector<Basis> registers(operand.bases(HwDim::Register));
  SmallVector<Basis> lanes(operand.bases(HwDim::Lane));
  for (Basis &basis : lanes) {
    basis[0] = basis[0] >= 4 ? basis[0] * 2 : basis[0];
  }
  registers.push_back({4, 0});
  SmallVector<int64_t> shape(operand.shape());
  shape[0] *= 2;
  return cantFail(Layout::create(shape, registers, lanes, {}, {}));
}

struct Operand {
  int64_t mn, k;
  MfmaFormat format;
  unsigned bits;
};
} // namespace

// Tiles with rows of 64, 128, 256 and 384 bytes, read as operands of 16x16 and
// 32x32 instructions, rows in order and permuted: no read conflicts.
TEST(BankConflicts, CopyLayoutsOfOperandsHaveNone) {
  BankRules rules = gfx950();
  for (const Operand &operand : {Operand{16, 32, MfmaFormat::F16, 16},
                                 {32, 16, MfmaFormat::F16, 16},
                                 {16, 128, MfmaFormat::F8, 8},
                                 {32, 64, MfmaFormat::F8, 8},
                                 {16, 128, MfmaFormat::F4, 4},
                                 {32, 64, MfmaFormat::F4, 4}}) {
    for (int64_t rowBytes : {64, 128, 256, 384}) {
      int64_t rowElements = rowBytes * 8 / operand.bits;
      if (rowElements % operand.k != 0) {
        continue; // a row is no whole number of instructions
      }
      Layout atom =
          cantFail(mfmaOperandA(operand.mn, operand.k, operand.format));
      for (bool permuted : {false, true}) {
        Layout rows = permuted ? permutedRows(atom) : atom;
        Layout tile = cantFail(
            Layout::repeat(rows, {{HwDim::Register, rowElements / operand.k, 1},
                                  {HwDim::Register, 2, 0},
                                  {HwDim::Wave, 4, 0}}));
        Expected<LdsLayout> lds =
            findCopyLayout(tile.shape(), 1, operand.bits, &tile, rules);
        ASSERT_TRUE(bool(lds))
            << messageOf(lds.takeError()) << " " << operand.mn << "x"
            << operand.k << " " << operand.bits << " bits, rows of " << rowBytes
            << (permuted ? ", permuted" : "");
        // Of the whole tile, although the search looks at one instruction.
        EXPECT_EQ(countByHand(tile, *lds, 128, LdsAccess::Read, 64).extraPhases,
                  0);
        EXPECT_EQ(lds->sizeInBytes(), tile.shape()[0] * rowBytes);
      }
    }
  }
}

// Two ways to read sixteen of 32 rows, which differ in five bits between them:
// two of the bits flip the same bit of the address.
TEST(BankConflicts, CopyLayoutOfTwoReaders) {
  BankRules rules = gfx950();
  auto reader = [](int64_t fourthRow, int64_t otherRow) {
    return cantFail(Layout::create(
        {32, 512},
        {{0, 1},
         {0, 2},
         {0, 4},
         {0, 8},
         {0, 64},
         {0, 128},
         {0, 256},
         {otherRow, 0}},
        {{1, 0}, {2, 0}, {4, 0}, {fourthRow, 0}, {0, 16}, {0, 32}}, {}, {}));
  };
  Layout low = reader(8, 16), high = reader(16, 8);
  LdsLayout lds =
      cantFail(findCopyLayout({32, 512}, 1, 8, {&low, &high}, rules));
  for (const Layout *tile : {&low, &high}) {
    EXPECT_EQ(countByHand(*tile, lds, 128, LdsAccess::Read, 64).extraPhases, 0);
  }
}

// A tile with its rows along the second dim, as weights [N, K] are for an
// operand [K, N].
TEST(BankConflicts, CopyLayoutOfATransposedTile) {
  BankRules rules = gfx950();
  Layout tile =
      cantFail(Layout::repeat(cantFail(mfmaOperandB(16, 32, MfmaFormat::F16)),
                              {{HwDim::Register, 2, 0}, {HwDim::Wave, 4, 1}}));
  LdsLayout lds = cantFail(findCopyLayout({64, 64}, 0, 16, &tile, rules));
  EXPECT_EQ(lds.strides()[0], 1);
  EXPECT_EQ(countByHand(tile, lds, 128, LdsAccess::Read, 64).extraPhases, 0);
}
