//===- DecodeLayouts.cpp - where tiles of MLA decode lie --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys are rows of the instruction for scores, rows of queries its columns, so
// that a lane has what belongs to one row of queries, in all products. Waves
// share the scores by halves of the columns and halves of the keys; they meet
// in LDS, and every wave works out all weights, which are the right operand of
// its own 128 columns of values. With FP8 weights each wave has sixteen keys of
// 64 to itself and works out their weights, which meet in LDS. Two groups of
// four waves take sixteen rows in turn, each as if it were alone; with weights
// of BF16 each of their waves works out those of a quarter of the keys.
//
//===----------------------------------------------------------------------===//

#include "DecodeProgram.h"

#include "tenon/Layout/BankConflicts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels::mla;
using layout::Basis;
using layout::HwDim;

static constexpr int64_t instructionRows = 16;
/// Waves that share the columns of a score, and the keys.
static constexpr int64_t depthWaves = 2;
static constexpr int64_t keyWaves = groupWaves / depthWaves;
/// Keys side by side of a lane's weights of bf16, as products take them.
static constexpr int64_t weightRun = 8;

/// Appends the bits of \p first up to \p end along \p dim of \p rank dims.
static void addBits(SmallVectorImpl<Basis> &bases, unsigned rank, unsigned dim,
                    int64_t first, int64_t end) {
  for (int64_t bit = first; bit < end; bit *= 2) {
    Basis basis(rank, 0);
    basis[dim] = bit;
    bases.push_back(basis);
  }
}

/// More than the rows that the lanes of all groups of waves hold, in registers.
static SmallVector<layout::OuterMode> rowBlocks(unsigned dim, int64_t rows,
                                                int64_t groups) {
  int64_t together = instructionRows * groups;
  if (rows == together) {
    return {};
  }
  return {{HwDim::Register, rows / together, dim, together}};
}

/// \p layout with its bits moved to the coordinates that \p map makes of them.
static layout::Layout mapped(const layout::Layout &layout,
                             ArrayRef<int64_t> shape,
                             function_ref<Basis(const Basis &)> map,
                             function_ref<unsigned(unsigned)> dimOf) {
  auto bases = [&](HwDim dim) {
    return llvm::map_to_vector(layout.bases(dim), map);
  };
  SmallVector<layout::OuterMode> modes(layout.outerModes());
  for (layout::OuterMode &mode : modes) {
    mode.dim = dimOf(mode.dim);
  }
  return llvm::cantFail(layout::Layout::create(shape, bases(HwDim::Register),
                                               bases(HwDim::Lane),
                                               bases(HwDim::Wave), modes));
}

/// Operands of the two halves along the columns, [2, T, half] and
/// [2, half, R], as they lie in tiles of all columns, [T, columns] and
/// [R, columns].
static std::pair<layout::Layout, layout::Layout>
halves(const layout::Layout &scores, int64_t depth, int64_t columns,
       layout::MfmaFormat format) {
  int64_t half = columns / depthWaves;
  auto operands = llvm::cantFail(layout::mfmaOperands(
      scores.slice({0}), instructionRows, depth, half, format, format));
  auto lhs = llvm::cantFail(layout::sliceOverWaves(operands.lhs, depthWaves));
  auto rhs = llvm::cantFail(layout::sliceOverWaves(operands.rhs, depthWaves));
  return {
      mapped(
          lhs, {scores.shape()[1], columns},
          [&](const Basis &b) -> Basis { return {b[1], b[2] + b[0] * half}; },
          [](unsigned dim) { return dim - 1; }),
      mapped(
          rhs, {scores.shape()[2], columns},
          [&](const Basis &b) -> Basis { return {b[2], b[1] + b[0] * half}; },
          [](unsigned dim) { return 2 - dim; })};
}

/// The keys of a row side by side, swizzled such that neither writing nor
/// reading has bank conflicts, if that goes.
static layout::LdsLayout exchangeLayout(int64_t keys, int64_t rows,
                                        const layout::Layout &written,
                                        const layout::Layout &read,
                                        unsigned readBits,
                                        const layout::BankRules &rules) {
  auto plain = llvm::cantFail(layout::LdsLayout::create(
      {depthWaves, keys, rows}, {keys * rows, 1, keys}, 32));
  auto swizzled = llvm::cantFail(layout::findConflictFreeSwizzle(
      plain,
      {{&written, 128, layout::LdsAccess::Write},
       {&read, readBits, layout::LdsAccess::Read}},
      rules, /*rowDim=*/2));
  return swizzled.value_or(plain);
}

/// Weights of a step in LDS, the keys of a row side by side. Rows are as
/// far apart as has the fewest bank conflicts: parts of it cannot be swizzled.
/// A lane writes \p run keys side by side.
static layout::LdsLayout weightsLayout(const layout::Layout &written,
                                       const layout::Layout &read, int64_t run,
                                       unsigned elementBits,
                                       const layout::BankRules &rules) {
  std::optional<layout::LdsLayout> best;
  int64_t least = std::numeric_limits<int64_t>::max();
  int64_t keys = read.shape()[0];
  int64_t most = mostWeightPadding(read.shape()[1]);
  for (int64_t padding = 0; padding <= most; padding += 16) {
    auto spread = [&](ArrayRef<int64_t> shape) {
      return llvm::cantFail(layout::LdsLayout::create(
          shape, {1, keys + padding * 8 / elementBits}, elementBits));
    };
    auto conflicts = [&](const layout::Layout &tile, unsigned bits,
                         layout::LdsAccess kind) {
      return llvm::cantFail(layout::bankConflicts(tile, spread(tile.shape()),
                                                  bits, kind, rules))
          .extraPhases;
    };
    int64_t found =
        2 * conflicts(written, run * elementBits, layout::LdsAccess::Write) +
        conflicts(read, 128, layout::LdsAccess::Read);
    if (found < least) {
      least = found;
      best = spread(read.shape());
    }
  }
  return *best;
}

/// Waves share the columns by halves, and the keys by halves.
void DecodeLayouts::scoreByHalfColumns(layout::MfmaFormat format,
                                       const target::TargetInfo &target) {
  SmallVector<Basis> registers, lanes;
  addBits(registers, 3, 1, 1, 4);
  addBits(registers, 3, 1, instructionRows, keys / keyWaves);
  addBits(lanes, 3, 2, 1, instructionRows);
  addBits(lanes, 3, 1, 4, instructionRows);
  SmallVector<Basis> waves{{1, 0, 0}, {0, keys / keyWaves, 0}};
  addBits(waves, 3, 2, instructionRows, instructionRows * groups);
  scores = llvm::cantFail(layout::Layout::create({depthWaves, keys, rows},
                                                 registers, lanes, waves,
                                                 rowBlocks(2, rows, groups)));
  std::tie(keyValues, queryValues) =
      halves(scores, depthOfValues, pieceColumns(), format);
  std::tie(keyRope, queryRope) =
      halves(scores, depthOfRope, ropeColumns, format);

  if (groups == 1) {
    weighed = weights;
    totals = llvm::cantFail(weights.split({{weightRun}, {}})).slice({0});
  }
  // Both halves in registers.
  auto widened = [&](HwDim dim) {
    return llvm::map_to_vector(weighed.bases(dim), [](const Basis &basis) {
      return Basis{0, basis[0], basis[1]};
    });
  };
  SmallVector<Basis> both = widened(HwDim::Register);
  both.push_back({1, 0, 0});
  SmallVector<layout::OuterMode> modes(weighed.outerModes());
  for (layout::OuterMode &mode : modes) {
    ++mode.dim;
  }
  halved = llvm::cantFail(layout::Layout::create({depthWaves, keys, rows}, both,
                                                 widened(HwDim::Lane),
                                                 widened(HwDim::Wave), modes));
  int64_t run = groups == 1 ? weightRun : ownRun();
  scoresInLds = exchangeLayout(keys, rows, scores, *halved,
                               std::min<int64_t>(128, run * 32),
                               tile::ldsBankRules(target));
}

/// Of 64 keys each wave has sixteen, and all columns.
void DecodeLayouts::scoreOwnKeys(layout::MfmaFormat format) {
  scores = weighed;
  auto place = [&](int64_t depth, int64_t columns) {
    auto operands = llvm::cantFail(layout::mfmaOperands(
        scores, instructionRows, depth, columns, format, format));
    return std::pair(operands.lhs, operands.rhs.transposed({1, 0}));
  };
  std::tie(keyValues, queryValues) = place(depthOfValues, pieceColumns());
  std::tie(keyRope, queryRope) = place(depthOfRope, ropeColumns);
}

/// Each wave of a group makes weights of a quarter of the keys.
void DecodeLayouts::weighOwnKeys(unsigned weightBits,
                                 const target::TargetInfo &target) {
  SmallVector<Basis> registers, lanes, waves;
  addBits(registers, 2, 0, 1, ownRun());
  addBits(lanes, 2, 1, 1, instructionRows);
  addBits(lanes, 2, 0, ownRun(), 4 * ownRun());
  addBits(waves, 2, 0, 4 * ownRun(), scoredKeys);
  addBits(waves, 2, 1, instructionRows, instructionRows * groups);
  weighed = llvm::cantFail(layout::Layout::create(
      {scoredKeys, rows}, registers, lanes, waves, rowBlocks(1, rows, groups)));
  totals = llvm::cantFail(weighed.split({{ownRun()}, {}})).slice({0});

  auto widened = [&](HwDim dim) {
    return llvm::map_to_vector(perRow.bases(dim), [](const Basis &basis) {
      return Basis{0, basis[0]};
    });
  };
  registers = widened(HwDim::Register);
  addBits(registers, 2, 0, 1, groupWaves);
  SmallVector<layout::OuterMode> modes(perRow.outerModes());
  for (layout::OuterMode &mode : modes) {
    ++mode.dim;
  }
  ofWaves = llvm::cantFail(layout::Layout::create({groupWaves, rows}, registers,
                                                  widened(HwDim::Lane),
                                                  widened(HwDim::Wave), modes));
  weightsInLds = weightsLayout(weighed, weights, ownRun(), weightBits,
                               tile::ldsBankRules(target));
}

DecodeLayouts::DecodeLayouts(const DecodeShape &shape,
                             const DecodeSchedule &schedule,
                             const target::TargetInfo &target)
    : keys(schedule.keys), rows(schedule.rows), groups(schedule.groups()),
      scoredKeys(std::min<int64_t>(keys, 64)), pieces(1), outPieces(1) {
  bool isSmall = shape.hasSmallScores();
  auto format = isSmall ? layout::MfmaFormat::F8 : layout::MfmaFormat::F16;
  auto weightFormat =
      shape.fp8Weights ? layout::MfmaFormat::F8 : layout::MfmaFormat::F16;
  depthOfValues = isSmall ? 128 : 32;
  // Where a wave has all of the 64 columns they are half an instruction's, as
  // 64 keys are.
  depthOfRope = isSmall && shape.scoresOwnKeys() ? 128 : 32;
  depthOfKeys = shape.fp8Weights ? 128 : 32;
  if (groups > 1) {
    // A copy of one instruction of all waves for each.
    pieces = scoredKeys * valueColumns * shape.cache.getIntOrFloatBitWidth() /
             8 / (64 * schedule.waves() * tile::CopyToLdsOp::getLaneBytes()[0]);
    int64_t least = depthOfValues * (shape.scoresOwnKeys() ? 1 : depthWaves);
    pieces = std::min(pieces, valueColumns / least);
    outPieces = 4;
  }

  // Lanes: 16 rows of queries; four values side by side of each sixteen.
  SmallVector<Basis> registers, lanes, waves;
  addBits(registers, 2, 0, 1, 4);
  addBits(registers, 2, 0, instructionRows, outColumns() / groupWaves);
  addBits(lanes, 2, 1, 1, instructionRows);
  addBits(lanes, 2, 0, 4, instructionRows);
  addBits(waves, 2, 0, outColumns() / groupWaves, outColumns());
  addBits(waves, 2, 1, instructionRows, instructionRows * groups);
  out = llvm::cantFail(layout::Layout::create({outColumns(), rows}, registers,
                                              lanes, waves,
                                              rowBlocks(1, rows, groups)));
  auto operands = llvm::cantFail(layout::mfmaOperands(
      out, instructionRows, depthOfKeys, keys, weightFormat, weightFormat));
  values = operands.lhs.transposed({1, 0});
  weights = operands.rhs;
  perRow = weights.slice({0});
  if (shape.weighsOwnKeys(schedule)) {
    weighOwnKeys(shape.weightBits(), target);
  }
  if (shape.scoresOwnKeys()) {
    scoreOwnKeys(format);
  } else {
    scoreByHalfColumns(format, target);
  }

  lanes.clear();
  waves.clear();
  addBits(lanes, 1, 0, 1, 64);
  addBits(waves, 1, 0, 64, lookedUp);
  // All groups of waves alike.
  waves.resize(llvm::Log2_64(schedule.waves()), Basis{0});
  perThread =
      llvm::cantFail(layout::Layout::create({lookedUp}, {}, lanes, waves, {}));
}
