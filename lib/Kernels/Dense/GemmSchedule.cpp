//===- GemmSchedule.cpp - schedules of tenon.gemm ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmStep.h"

#include "tenon/Cost/MatrixProduct.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels::dense;

/// Whether sums of tiles of \p rows are so many that weights which waves read
/// themselves go into accumulation registers. One wave on a SIMD has as many of
/// these as others; tiles of other heights keep to half of both, for two waves.
static bool isTall(int64_t rows) { return rows == 160 || rows == 192; }

/// The variants of schedules of \p ranked, times with the fastest first, that
/// seldom win (decision 0010), for whoever measures: two groups
/// of waves in turn, and what is asked of the register allocator. \p sumsOf:
/// sums of a lane, \p wavesOf: waves on a SIMD that the cost counts on.
static SmallVector<GemmSchedule>
variants(ArrayRef<std::pair<double, GemmSchedule>> ranked,
         llvm::function_ref<int64_t(const GemmSchedule &)> sumsOf,
         llvm::function_ref<int64_t(const GemmSchedule &)> wavesOf) {
  SmallVector<GemmSchedule> result;
  const auto &[least, fastest] = ranked.front();
  // Of a schedule that the model takes for much slower no order makes a winner.
  constexpr double worthTrying = 1.25;
  for (const auto &[time, schedule] : ranked) {
    if (time > worthTrying * least) {
      break;
    }
    if (schedule.canPingPong()) {
      result.push_back(schedule);
      result.back().order = pingPong;
      break;
    }
  }
  constexpr int64_t mostAgprs = 256;
  if (int64_t sums = sumsOf(fastest); sums <= mostAgprs) {
    result.push_back(fastest);
    result.back().agprs = sums;
  }
  result.push_back(fastest);
  result.back().wavesPerSimd = std::clamp<int64_t>(wavesOf(fastest), 1, 8);
  result.push_back(fastest);
  result.back().pinned = true;
  return result;
}

/// Of schedules of \p ranked that differ in the stages of their copies alone
/// and have the same cost, puts those with more stages first: copies are late
/// now and then, which the cost does not know.
static void
preferDeep(MutableArrayRef<std::pair<double, GemmSchedule>> ranked) {
  for (size_t i = 0; i < ranked.size(); ++i) {
    GemmSchedule &earlier = ranked[i].second;
    if (!earlier.stagesX || !earlier.stagesWeights) {
      continue;
    }
    for (size_t j = i + 1;
         j < ranked.size() && ranked[j].first == ranked[i].first; ++j) {
      GemmSchedule &later = ranked[j].second;
      GemmSchedule twin = earlier;
      twin.stages = later.stages;
      if (later.stages > earlier.stages && twin == later) {
        std::swap(earlier, later);
      }
    }
  }
}

FailureOr<SmallVector<DictionaryAttr>>
kernels::dense::rankGemmSchedules(spec::GemmOp op,
                                  const target::TargetInfo &target) {
  auto weights = cast<MemRefType>(op.getWeights().getType());
  auto sizeOr = [](int64_t size, int64_t usual) {
    return ShapedType::isDynamic(size) ? usual : size;
  };
  cost::MatrixProduct product;
  product.m = op.getExpectedTokens().value_or(16);
  product.n = sizeOr(weights.getDimSize(0), 4096);
  product.k = sizeOr(weights.getDimSize(1), 4096);
  product.lhsBits = bitsOf(op.getX());
  product.rhsBits = bitsOf(op.getWeights());
  // A step is 128 bytes of a row, a line of the caches.
  constexpr int64_t lineBits = 128 * 8;
  int64_t stepDepth =
      std::max<int64_t>(lineBits / std::max(product.lhsBits, product.rhsBits),
                        instructionDepth(op));

  bool isDequantized = op.getFormat() == spec::GemmFormat::BF16MXFP4;
  // Scales go into registers, which have the stages of the loop.
  bool hasScales = hasBlockScales(op);
  // Packed weights fix which blocks of K a lane has: of row-major scales one by
  // one. Others leave it a word of four.
  bool hasScaleRows = op.hasBlockScaledX() && !op.hasPackedXScale();
  unsigned scaleDepth =
      !hasScaleRows ? 0 : instructionDepth(op) * (op.getWeightOrder() ? 1 : 4);

  SmallVector<std::pair<double, GemmSchedule>> ranked;
  auto tileOf = [&](const GemmSchedule &schedule) {
    cost::MatrixTile tile;
    tile.m = schedule.tileM;
    tile.n = schedule.tileN;
    tile.k = schedule.tileK;
    tile.wavesM = schedule.wavesM;
    tile.wavesN = schedule.wavesN;
    tile.wavesK = schedule.wavesK;
    tile.stages = schedule.stages;
    tile.lhsStages = schedule.stagesOfX.value_or(0);
    tile.lhsInLds = schedule.stagesX;
    tile.rhsInLds = schedule.stagesWeights;
    tile.readsIntoAgprs = isTall(schedule.tileM);
    tile.lhsScaleDepth = scaleDepth;
    // Gate and up are two products that share their tokens.
    tile.products = op.isGated() ? 2 : 1;
    tile.split = schedule.split;
    tile.persistent = schedule.persistent;
    tile.streamK = schedule.streamK;
    return tile;
  };
  auto considerOne = [&](const GemmSchedule &schedule) {
    std::optional<double> time =
        cost::matrixProductCost(product, tileOf(schedule), target);
    if (time) {
      ranked.emplace_back(*time, schedule);
    }
  };
  auto consider = [&](GemmSchedule schedule) {
    if (!fitsPackedTiles(op, schedule.tileM, schedule.tileN,
                         schedule.tileK / schedule.wavesK)) {
      return;
    }
    int64_t columns = schedule.tileN * (op.isGated() ? 2 : 1);
    int64_t tiles = llvm::divideCeil(product.m, schedule.tileM) *
                    llvm::divideCeil(product.n, columns);
    int64_t steps = llvm::divideCeil(product.k, schedule.tileK);
    // Of two rounds of tiles and more, those of a die better lie together,
    // unless its L2 holds its columns anyway: where a band has all rows, each
    // column is read by one die. Of more rows it helps in FP4, whose steps are
    // over before a die has fetched what the tiles of another round-robin share
    // of them read. (Steps of BF16 leave it the time, and lose by the uneven
    // ends of bands.)
    constexpr int64_t rowsOfBand = 8;
    int64_t tileRows = llvm::divideCeil(product.m, schedule.tileM);
    bool hasRounds = tiles >= 2 * target.facts().computeUnits;
    bool staysInL2 = product.n * product.k * product.rhsBits / 8 <=
                     int64_t(target.facts().l2Bytes) * target.facts().xcds;
    bool isOneBand = tileRows > 1 && tileRows <= rowsOfBand;
    bool gains = op.hasBlockScaledX() || isOneBand;
    int64_t group = hasRounds && !staysInL2 && gains ? rowsOfBand : 0;
    for (int64_t split = 1; split <= 16; ++split) {
      // Sharing K is for tiles that do not fill the chip, and shares of no
      // steps help nobody.
      int64_t each = llvm::divideCeil(steps, split);
      bool fills = tiles * (split - 1) >= 2 * target.facts().computeUnits;
      if (split > 1 && (fills || each * (split - 1) >= steps)) {
        continue;
      }
      schedule.split = split;
      schedule.group = split == 1 ? group : 0;
      considerOne(schedule);
    }
    // Beside values that are dequantized tall tiles leave no registers for a
    // walk.
    if (isTall(schedule.tileM) && isDequantized) {
      return;
    }
    // As many workgroups as the chip holds at a time walk over the tiles.
    schedule.split = 1;
    schedule.group = group;
    int64_t walkers =
        target.facts().computeUnits *
        cost::residentWorkgroups(product, tileOf(schedule), target);
    bool isEven = walkers != 0 && tiles % walkers == 0;
    if (tiles > walkers && walkers != 0) {
      schedule.persistent = walkers;
      considerOne(schedule);
      schedule.persistent = 0;
    }
    // Runs of a few steps are not worth the way of the sums through memory.
    constexpr int64_t fewestSteps = 4;
    // Beside scales and many sums there are no registers for the addresses of
    // their parts, unless there is one wave on a SIMD.
    constexpr int64_t manySums = 64;
    int64_t sums = schedule.tileM * columns / (64 * schedule.waves());
    bool hasRoom = !hasScales || sums <= manySums || isTall(schedule.tileM);
    if (!isEven && hasRoom && walkers != 0 &&
        tiles * steps >= fewestSteps * walkers) {
      schedule.streamK = walkers;
      considerOne(schedule);
    }
  };
  // Of x in FP8 two groups of waves in turn may win where copies have more than
  // a step (decision 0010); the cost does not tell the two orders apart.
  auto considerInTurn = [&](GemmSchedule schedule) {
    if (product.lhsBits == 8 && schedule.canPingPong()) {
      schedule.order = pingPong;
      consider(schedule);
    }
  };
  constexpr int64_t tileWidths[] = {16, 32, 48, 64, 96, 128, 256};
  // Layouts over several waves are over powers of two.
  auto divides = [](int64_t tile, int64_t waves) {
    return tile % (16 * waves) == 0 &&
           (waves == 1 || llvm::isPowerOf2_64(tile));
  };
  // Copies of 16 bytes per lane fill swizzled tiles.
  bool copiesWide = llvm::is_contained(target.facts().directToLdsWidths, 16u);
  auto canCopy = [&](const GemmSchedule &schedule) {
    auto isWhole = [&](int64_t rows, Value operand) {
      return stepBytes(schedule, rows, operand) % copyBytes(schedule) == 0;
    };
    return copiesWide && isWhole(schedule.tileM, op.getX()) &&
           isWhole(schedule.tileN, op.getWeights());
  };
  auto considerTall = [&](int64_t tileM) {
    GemmSchedule tall;
    tall.tileM = tileM;
    tall.wavesM = 1;
    tall.stagesX = true;
    // Of a word of packed scales no part is left for another step.
    tall.tileK = hasScales && !isDequantized
                     ? std::max(stepDepth, 2 * instructionDepth(op))
                     : stepDepth;
    // LLVM moves registers about where two short stages take turns, and finds
    // none for more than three.
    bool isShort = tall.tileK * product.lhsBits <= lineBits;
    SmallVector<int64_t> depths{isShort ? 3 : 2};
    if (isDequantized) {
      depths = {2, 3};
    } else {
      // Loads in a row would hold up the only wave of a SIMD.
      tall.order = "interleave";
    }
    for (int64_t tileN : tileWidths) {
      for (int64_t wavesN : {1, 2, 4}) {
        tall.tileN = tileN;
        tall.wavesN = wavesN;
        for (int64_t stages : depths) {
          tall.stages = stages;
          if (divides(tileN, wavesN) && canCopy(tall)) {
            consider(tall);
          }
        }
      }
    }
  };
  // Tall tiles read packed weights. Scales that come one by one would take the
  // registers that they lack, and what is dequantized those of the most sums.
  if (op.getWeightOrder() && !hasScaleRows) {
    considerTall(160);
    if (!isDequantized) {
      considerTall(192);
    }
  }
  for (int64_t tileM : {16, 32, 48, 64, 80, 96, 128, 256}) {
    for (int64_t tileN : tileWidths) {
      for (int64_t wavesM : {1, 2, 4}) {
        for (int64_t wavesN : {1, 2, 4, 8}) {
          // Eight share columns where each reads packed weights of its own;
          // more rows than 128 would not leave registers for these, nor more
          // than 96 for what is dequantized, of which a whole step is there.
          int64_t mostOwn = isDequantized ? 96 : 128;
          bool readsOwn =
              wavesM == 1 && tileM <= mostOwn && op.getWeightOrder();
          if (wavesN == 8 && !readsOwn) {
            continue;
          }
          if (!divides(tileM, wavesM) || !divides(tileN, wavesN)) {
            continue;
          }
          for (int64_t stages : {2, 3, 4}) {
            GemmSchedule plain;
            plain.tileM = tileM;
            plain.tileN = tileN;
            plain.wavesM = wavesM;
            plain.wavesN = wavesN;
            plain.stages = stages;
            for (int64_t wavesK : {1, 2, 4, 8}) {
              plain.wavesK = wavesK;
              plain.tileK = stepDepth * wavesK;
              // Sums of waves are added in a layout over powers of two.
              bool adds = wavesK == 1 || (llvm::isPowerOf2_64(tileM) &&
                                          llvm::isPowerOf2_64(tileN));
              if (plain.waves() <= 8 && adds) {
                consider(plain);
              }
            }
            GemmSchedule staged = plain;
            staged.wavesK = 1;
            staged.tileK = stepDepth;
            staged.stagesX = staged.stagesWeights = true;
            // Four waves on a SIMD have 128 registers each, too few beside
            // scales.
            constexpr int64_t mostWithScales = 8;
            if (!canCopy(staged) ||
                (hasScales && staged.waves() > mostWithScales)) {
              continue;
            }
            // Packed weights are read by whole lines, each by one wave alone:
            // LDS is for x then.
            if (op.getWeightOrder() && wavesM == 1) {
              GemmSchedule direct = staged;
              direct.stagesWeights = false;
              consider(direct);
            }
            // Copies that are waited for in the next step must not be late.
            staged.order = stages == 2 ? "balanced" : "prefetch";
            consider(staged);
            if (stages > 2) {
              considerInTurn(staged);
            }
            // Where LDS has no room for a stage more it may have for one of an
            // operand: the one with more rows, of which more workgroups of a
            // die are the first to read theirs.
            GemmSchedule deeper = staged;
            ++deeper.stages;
            bool hasRoom =
                cost::residentWorkgroups(product, tileOf(deeper), target) != 0;
            if (!hasScales && !hasRoom) {
              bool isX = product.m > product.n;
              staged.stages = isX ? stages : stages + 1;
              staged.stagesOfX = isX ? stages + 1 : stages;
              consider(staged);
              considerInTurn(staged);
            }
          }
        }
      }
    }
  }
  llvm::stable_sort(ranked, [](const auto &left, const auto &right) {
    return left.first < right.first;
  });
  preferDeep(ranked);
  if (ranked.empty()) {
    return op.emitOpError("no schedule fits the registers of the chip");
  }
  Builder builder(op.getContext());
  SmallVector<DictionaryAttr> schedules;
  // Schedules of one tile are alike: where the model errs with one it does with
  // all.
  constexpr size_t mostSchedules = 12;
  constexpr unsigned mostOfTile = 3;
  std::map<std::tuple<int64_t, int64_t, int64_t, bool, bool>, unsigned> ofTile;
  for (const auto &[time, schedule] : ranked) {
    unsigned &same = ofTile[{schedule.tileM, schedule.tileN, schedule.wavesK,
                             schedule.stagesX, schedule.walks()}];
    unsigned most = schedule.walks() ? 1 : mostOfTile;
    if (same < most && schedules.size() < mostSchedules) {
      ++same;
      schedules.push_back(toAttribute(builder, schedule));
    }
  }
  auto sumsOf = [&](const GemmSchedule &schedule) {
    int64_t columns = schedule.tileN * (op.isGated() ? 2 : 1);
    return schedule.tileM * columns * schedule.wavesK /
           (target.waveSize() * schedule.waves());
  };
  auto wavesOf = [&](const GemmSchedule &schedule) -> int64_t {
    return cost::residentWorkgroups(product, tileOf(schedule), target) *
           schedule.waves() / target.facts().simdsPerCu;
  };
  for (const GemmSchedule &schedule : variants(ranked, sumsOf, wavesOf)) {
    DictionaryAttr variant = toAttribute(builder, schedule);
    if (!llvm::is_contained(schedules, variant)) {
      schedules.push_back(variant);
    }
  }
  return schedules;
}
