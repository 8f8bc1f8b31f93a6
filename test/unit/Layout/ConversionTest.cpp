//===- ConversionTest.cpp - conversions against data movement ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Layout/Conversion.h"
#include "RandomLayout.h"
#include "tenon/Layout/Mfma.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

using namespace llvm;
using namespace tenon::layout;

namespace {
/// Who holds what, by enumeration.
struct Reach {
  bool everyThreadHolds = true; ///< What it needs is in its own registers.
  bool everyRowHolds = true;
  bool everyWaveHolds = true;
};

Reach enumerateReach(const Layout &src, const Layout &dst) {
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> holders;
  forEachPlace(src, [&](int64_t reg, int64_t lane, int64_t wave) {
    int64_t element =
        elementNumber(src.shape(), src.coordinates(reg, lane, wave));
    holders[element].emplace_back(lane, wave);
  });
  Reach reach;
  forEachPlace(dst, [&](int64_t reg, int64_t lane, int64_t wave) {
    auto &places =
        holders[elementNumber(dst.shape(), dst.coordinates(reg, lane, wave))];
    auto holds = [&](int64_t lanesTogether) {
      return any_of(places, [&](std::pair<int64_t, int64_t> place) {
        return place.second == wave &&
               place.first / lanesTogether == lane / lanesTogether;
      });
    };
    reach.everyThreadHolds &= holds(1);
    reach.everyRowHolds &= holds(16);
    reach.everyWaveHolds &= holds(64);
  });
  return reach;
}

void expectMovesRightData(const Layout &src, const Layout &dst,
                          const Conversion &conversion) {
  forEachPlace(dst, [&](int64_t reg, int64_t lane, int64_t wave) {
    int64_t from = conversion.sourceRegister(reg, lane, wave);
    unsigned fromLane = conversion.sourceLane(reg, lane);
    ASSERT_EQ(src.coordinates(from, fromLane, wave),
              dst.coordinates(reg, lane, wave))
        << src << " / " << dst;
  });
}

/// What the registers of one wave hold, moved by the instructions that
/// `swaps` asks for.
using WaveFile = std::vector<std::array<int64_t, 64>>;

/// v_permlane32_swap: the upper half of a with the lower half of b.
/// v_permlane16_swap: the odd rows of a with the even rows of b.
void permlaneSwap(std::array<int64_t, 64> &a, std::array<int64_t, 64> &b,
                  unsigned laneBit) {
  unsigned half = 1u << laneBit;
  for (unsigned lane = 0; lane < 64; ++lane) {
    if ((lane & half) != 0) {
      std::swap(a[lane], b[lane ^ half]);
    }
  }
}

WaveFile fileOf(const Layout &layout, int64_t wave) {
  WaveFile file(layout.numRegisters());
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    for (unsigned lane = 0; lane < 64; ++lane) {
      file[reg][lane] =
          elementNumber(layout.shape(), layout.coordinates(reg, lane, wave));
    }
  }
  return file;
}

/// Carries out the exchanges as a compiler would: pairs of source registers
/// first, then the register renaming that is left.
void expectSwapsMoveRightData(const Layout &src, const Layout &dst,
                              const Conversion &conversion) {
  for (int64_t wave = 0; wave < src.numWaves(); ++wave) {
    WaveFile file = fileOf(src, wave);
    for (const RegisterLaneSwap &swap : conversion.swaps) {
      int64_t high = int64_t(1) << swap.sourceRegisterBit;
      for (int64_t reg = 0; reg < src.numRegisters(); ++reg) {
        if ((reg & high) == 0) {
          permlaneSwap(file[reg], file[reg | high], swap.laneBit);
        }
      }
    }
    WaveFile wanted = fileOf(dst, wave);
    for (int64_t reg = 0; reg < dst.numRegisters(); ++reg) {
      // The renaming: what register bits were exchanged for lane bits now
      // says which half of the pair to take.
      int64_t from = conversion.registers[reg];
      for (const RegisterLaneSwap &swap : conversion.swaps) {
        if ((reg >> swap.targetRegisterBit) & 1) {
          from |= int64_t(1) << swap.sourceRegisterBit;
        }
      }
      ASSERT_EQ(file[from], wanted[reg]) << src << " / " << dst;
    }
  }
}
/// Carries out the DPP moves of each selected register, and the selects.
void expectDppMovesRightData(const Layout &src, const Layout &dst,
                             const Conversion &conversion) {
  for (int64_t wave = 0; wave < src.numWaves(); ++wave) {
    WaveFile file = fileOf(src, wave);
    WaveFile wanted = fileOf(dst, wave);
    for (int64_t reg = 0; reg < dst.numRegisters(); ++reg) {
      std::array<int64_t, 64> result;
      result.fill(-1);
      for (int64_t selector : conversion.selectors()) {
        std::array<int64_t, 64> value =
            file[conversion.registers[reg] ^ conversion.waveRegisters[wave] ^
                 selector];
        auto steps = dppSteps(conversion.laneMap(reg, selector));
        ASSERT_TRUE(steps);
        for (const DppStep &step : *steps) {
          std::array<int64_t, 64> moved;
          for (unsigned lane = 0; lane < 64; ++lane) {
            moved[lane] = value[step.sourceLane(lane)];
          }
          value = moved;
        }
        for (unsigned lane = 0; lane < 64; ++lane) {
          if ((conversion.lanesOf(selector) >> lane) & 1) {
            result[lane] = value[lane];
          }
        }
      }
      ASSERT_EQ(result, wanted[reg]) << src << " / " << dst;
    }
  }
}
} // namespace

// All claims of classifyConversion on random pairs: the data are right, and
// the kind is the least that enumeration allows.
TEST(Conversion, ClassIsRightAndLeast) {
  LayoutGenerator generator(61);
  std::map<ConversionKind, int> seen;
  int swapped = 0;
  int selected = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    bool withModes = trial % 3 == 0;
    auto tile = generator.tile(withModes);
    RawLayout rawSrc =
        generator.layout(tile, 3 * generator.pick(0, 1), trial % 2);
    RawLayout rawDst =
        generator.layout(tile, 3 * generator.pick(0, 1), trial % 2);
    // Most random pairs need LDS: let many share their waves, and their lanes.
    int64_t likeness = generator.pick(0, 4);
    if (likeness > 0) {
      rawDst = rawSrc;
      std::mt19937 order(trial);
      auto &registers = rawDst.bases[0];
      auto &lanes = rawDst.bases[1];
      std::shuffle(registers.begin(), registers.end(), order);
      if (likeness == 2) {
        std::shuffle(lanes.begin(), lanes.begin() + 2, order);
      } else if (likeness == 3) {
        std::shuffle(lanes.begin(), lanes.end(), order);
      } else if (likeness == 4 && !registers.empty()) {
        std::swap(registers.front(), lanes[generator.pick(0, 5)]);
        if (registers.size() > 1) {
          std::swap(registers.back(), lanes[generator.pick(0, 5)]);
        }
      }
    }
    Layout src = cantFail(rawSrc.create());
    Layout dst = cantFail(rawDst.create());
    Conversion conversion = classifyConversion(src, dst);
    ++seen[conversion.kind];
    Reach reach = enumerateReach(src, dst);
    if (conversion.kind == ConversionKind::Lds) {
      // Without modes every movement within waves is affine; it may still
      // differ from wave to wave.
      if (!withModes && src.bases(HwDim::Wave) == dst.bases(HwDim::Wave)) {
        ASSERT_FALSE(reach.everyWaveHolds) << src << " / " << dst;
      }
      if (!withModes) {
        ASSERT_FALSE(reach.everyThreadHolds) << src << " / " << dst;
      }
      continue;
    }
    expectMovesRightData(src, dst, conversion);
    ASSERT_TRUE(reach.everyWaveHolds);
    bool stays = conversion.kind <= ConversionKind::WithinLane;
    ASSERT_EQ(stays, reach.everyThreadHolds) << src << " / " << dst;
    ASSERT_EQ(stays, conversion.movedLaneBits() == 0);
    if (conversion.kind == ConversionKind::WithinRow) {
      ASSERT_TRUE(reach.everyRowHolds);
      expectDppMovesRightData(src, dst, conversion);
      selected += conversion.selectsByLane();
    }
    // A tile that only exchanges register bits with lane bits of a row never
    // needs more than DPP.
    if (likeness == 4 && reach.everyRowHolds && !dst.isReplicated()) {
      ASSERT_LE(conversion.kind, ConversionKind::WithinRow)
          << src << " / " << dst;
    }
    if (conversion.kind == ConversionKind::Free) {
      ASSERT_FALSE(conversion.selectsByLane());
      ASSERT_FALSE(conversion.selectsByWave());
      ASSERT_TRUE(llvm::is_sorted(conversion.registers) ||
                  src.freeRegisterMask() != 0 || dst.freeRegisterMask() != 0);
    }
    if (!conversion.swaps.empty()) {
      ++swapped;
      expectSwapsMoveRightData(src, dst, conversion);
    }
  }
  EXPECT_GT(seen[ConversionKind::Free], 30);
  EXPECT_GT(seen[ConversionKind::WithinLane], 30);
  EXPECT_GT(seen[ConversionKind::WithinRow], 20);
  EXPECT_GT(seen[ConversionKind::CrossLane], 100);
  EXPECT_GT(seen[ConversionKind::Lds], 100);
  EXPECT_GT(swapped, 20);
  EXPECT_GT(selected, 20);
}

TEST(Conversion, SameLayoutIsFree) {
  LayoutGenerator generator(62);
  for (int trial = 0; trial < 100; ++trial) {
    Layout layout = cantFail(generator.anyLayout().create());
    EXPECT_EQ(classifyConversion(layout, layout).kind, ConversionKind::Free)
        << layout;
  }
}

// Replicas of a register may be dropped and added for nothing.
TEST(Conversion, ReplicasAreFree) {
  RawLayout raw;
  raw.shape = {256};
  raw.bases[0] = {{64}, {128}};
  raw.bases[1] = {{1}, {2}, {4}, {8}, {16}, {32}};
  Layout plain = cantFail(raw.create());
  raw.bases[0] = {{64}, {0}, {128}};
  Layout doubled = cantFail(raw.create());
  Conversion drop = classifyConversion(doubled, plain);
  EXPECT_EQ(drop.kind, ConversionKind::Free);
  EXPECT_EQ(drop.registers, (SmallVector<int64_t>{0, 1, 4, 5}));
  Conversion add = classifyConversion(plain, doubled);
  EXPECT_EQ(add.kind, ConversionKind::Free);
  EXPECT_EQ(add.registers, (SmallVector<int64_t>{0, 1, 0, 1, 2, 3, 2, 3}));
  raw.bases[0] = {{128}, {64}};
  Conversion renamed = classifyConversion(plain, cantFail(raw.create()));
  EXPECT_EQ(renamed.kind, ConversionKind::WithinLane);
  EXPECT_EQ(renamed.registers, (SmallVector<int64_t>{0, 2, 1, 3}));
}

// A thread that holds all copies picks its own by lane or by wave.
TEST(Conversion, DistributionOfReplicasSelects) {
  RawLayout raw;
  raw.shape = {256};
  raw.bases[0] = {{1}, {2}};
  raw.bases[1] = {{0}, {4}, {8}, {16}, {32}, {64}};
  raw.bases[2] = {{0}, {128}};
  Layout src = cantFail(raw.create());
  raw.bases[0] = {};
  raw.bases[1][0] = {1};
  raw.bases[2][0] = {2};
  Layout dst = cantFail(raw.create());
  Conversion conversion = classifyConversion(src, dst);
  EXPECT_EQ(conversion.kind, ConversionKind::WithinLane);
  EXPECT_TRUE(conversion.selectsByLane());
  EXPECT_TRUE(conversion.selectsByWave());
  EXPECT_EQ(conversion.sourceRegister(0, 1, 3), 3);
  EXPECT_EQ(conversion.sourceRegister(0, 2, 2), 0);
}

// The contraction index may be relabelled when both operands agree: then an
// accumulator is an operand as it stands. Register v of the transposed 16x16
// accumulator holds row 4g + v, which is what a 16x16x16 B operand wants.
TEST(Conversion, AccumulatorServesAsOperand) {
  Layout accumulator = cantFail(mfmaAccumulator(16));
  Layout operand = cantFail(mfmaOperandB(16, 16, MfmaFormat::F16));
  EXPECT_EQ(classifyConversion(accumulator, operand).kind,
            ConversionKind::Free);
  Layout f64 = cantFail(mfmaAccumulator(16, MfmaFormat::F64));
  EXPECT_EQ(classifyConversion(f64, operand).kind, ConversionKind::CrossLane);
}

// P = softmax(S) to the operand of the next product: one permlane32 swap per
// pair of registers for 32x32, one permlane16 and one permlane32 for 16x16.
TEST(Conversion, AccumulatorToWideOperandIsSwaps) {
  Layout accumulator = cantFail(mfmaAccumulator(32));
  Layout operand =
      cantFail(Layout::repeat(cantFail(mfmaOperandB(32, 16, MfmaFormat::F16)),
                              Repeat{HwDim::Register, 2, 0}));
  Conversion conversion = classifyConversion(accumulator, operand);
  EXPECT_EQ(conversion.kind, ConversionKind::CrossLane);
  EXPECT_EQ(conversion.swaps, (SmallVector<RegisterLaneSwap, 2>{{5, 2, 2}}));
  EXPECT_EQ(conversion.movedLaneBits(), 32u);
  expectMovesRightData(accumulator, operand, conversion);
  expectSwapsMoveRightData(accumulator, operand, conversion);

  // Exchange lane bits 4 and 5 with register bits 2 and 3 at once.
  RawLayout raw;
  raw.shape = {16, 64};
  raw.bases[0] = {{1, 0}, {2, 0}, {0, 16}, {0, 32}};
  raw.bases[1] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {4, 0}, {8, 0}};
  Layout src = cantFail(raw.create());
  raw.bases[0] = {{1, 0}, {2, 0}, {8, 0}, {4, 0}};
  raw.bases[1] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}};
  Layout dst = cantFail(raw.create());
  Conversion both = classifyConversion(src, dst);
  EXPECT_EQ(both.swaps,
            (SmallVector<RegisterLaneSwap, 2>{{4, 2, 3}, {5, 3, 2}}));
  expectSwapsMoveRightData(src, dst, both);
}

TEST(Conversion, LaneXorWithinRowsIsDpp) {
  // Each register xors the lane by its number: register bits move lanes.
  RawLayout raw;
  raw.shape = {16, 64};
  raw.bases[0] = {{1, 0}, {2, 0}, {4, 0}, {8, 0}};
  raw.bases[1] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}};
  Layout src = cantFail(raw.create());
  raw.bases[0] = {{1, 1}, {2, 2}, {4, 4}, {8, 8}};
  Layout dst = cantFail(raw.create());
  Conversion conversion = classifyConversion(src, dst);
  EXPECT_EQ(conversion.kind, ConversionKind::WithinRow);
  for (unsigned reg = 0; reg < 16; ++reg) {
    EXPECT_EQ(conversion.sourceLane(reg, 37), 37 ^ reg);
    EXPECT_EQ(conversion.sourceRegister(reg, 37, 0), reg);
  }
  raw.bases[0][0] = {1, 16};
  EXPECT_EQ(classifyConversion(src, cantFail(raw.create())).kind,
            ConversionKind::CrossLane);
}

// Swaps say nothing about a choice of registers by wave.
TEST(Conversion, SwapsAreForAllWavesAlike) {
  RawLayout raw;
  raw.shape = {512};
  raw.bases[0] = {{64}, {128}, {256}};
  raw.bases[1] = {{1}, {2}, {4}, {8}, {16}, {32}};
  raw.bases[2] = {{0}};
  Layout src = cantFail(raw.create());
  // Every wave holds all; each keeps half of it.
  raw.bases[0] = {{32}, {128}};
  raw.bases[1][5] = {64};
  raw.bases[2] = {{256}};
  Layout dst = cantFail(raw.create());
  Conversion conversion = classifyConversion(src, dst);
  EXPECT_EQ(conversion.kind, ConversionKind::CrossLane);
  EXPECT_TRUE(conversion.selectsByWave());
  EXPECT_TRUE(conversion.swaps.empty());
  expectMovesRightData(src, dst, conversion);
}

// The transpose of 4x4 blocks within quads: each register is put together from
// four.
TEST(Conversion, ExchangeWithinAQuadIsDppAndSelects) {
  RawLayout raw;
  raw.shape = {4, 64};
  raw.bases[0] = {{1, 0}, {2, 0}};
  raw.bases[1] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {0, 32}};
  Layout src = cantFail(raw.create());
  raw.bases[0] = {{0, 1}, {0, 2}};
  raw.bases[1][0] = {1, 0};
  raw.bases[1][1] = {2, 0};
  Layout dst = cantFail(raw.create());
  Conversion conversion = classifyConversion(src, dst);
  EXPECT_EQ(conversion.kind, ConversionKind::WithinRow);
  EXPECT_EQ(conversion.selectors(), (SmallVector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(conversion.lanesOf(1), 0x2222222222222222u);
  LaneMap exchange = LaneMap::identity();
  exchange.offset = 3; // Register 2 and lanes 1 mod 4 differ in both bits.
  EXPECT_EQ(conversion.laneMap(2, 1), exchange);
  expectDppMovesRightData(src, dst, conversion);
}

TEST(Conversion, DataOfOtherWavesGoThroughLds) {
  RawLayout raw;
  raw.shape = {128};
  raw.bases[1] = {{1}, {2}, {4}, {8}, {16}, {32}};
  raw.bases[2] = {{64}};
  Layout src = cantFail(raw.create());
  std::swap(raw.bases[1][0], raw.bases[2][0]);
  Layout dst = cantFail(raw.create());
  Conversion conversion = classifyConversion(src, dst);
  EXPECT_EQ(conversion.kind, ConversionKind::Lds);
  EXPECT_TRUE(conversion.registers.empty());
}
