//===- GemmSchedule.cpp - schedules of tenon.gemm ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Band.h"
#include "Gemm.h"

#include "tenon/Cost/MatrixProduct.h"

#include "mlir/IR/Builders.h"

#include <map>

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels::dense;

DictionaryAttr kernels::dense::toAttribute(Builder &b,
                                           const GemmSchedule &schedule) {
  SmallVector<int64_t> waves{schedule.wavesM, schedule.wavesN};
  if (schedule.wavesK > 1) {
    waves.push_back(schedule.wavesK);
  }
  SmallVector<NamedAttribute> entries = {
      b.getNamedAttr("tile", b.getI64ArrayAttr({schedule.tileM, schedule.tileN,
                                                schedule.tileK})),
      b.getNamedAttr("waves", b.getI64ArrayAttr(waves)),
      b.getNamedAttr("stages",
                     schedule.stagesOfX
                         ? Attribute(b.getI64ArrayAttr(
                               {*schedule.stagesOfX, schedule.stages}))
                         : b.getI64IntegerAttr(schedule.stages))};
  if (schedule.stagesX || schedule.stagesWeights) {
    StringRef lds = !schedule.stagesX        ? "weights"
                    : schedule.stagesWeights ? "both"
                                             : "x";
    entries.push_back(b.getNamedAttr("lds", b.getStringAttr(lds)));
  }
  if (!schedule.order.empty()) {
    entries.push_back(b.getNamedAttr("order", b.getStringAttr(schedule.order)));
  }
  if (schedule.group > 0) {
    entries.push_back(
        b.getNamedAttr("group", b.getI64IntegerAttr(schedule.group)));
  }
  if (schedule.split > 1) {
    entries.push_back(
        b.getNamedAttr("split", b.getI64IntegerAttr(schedule.split)));
  }
  return b.getDictionaryAttr(entries);
}

/// The integers of the array \p name, or nothing when there are not \p count.
static std::optional<SmallVector<int64_t>>
integers(DictionaryAttr attribute, StringRef name, size_t count) {
  auto array = attribute.getAs<ArrayAttr>(name);
  if (!array || array.size() != count) {
    return std::nullopt;
  }
  SmallVector<int64_t> values;
  for (Attribute element : array) {
    auto integer = dyn_cast<IntegerAttr>(element);
    if (!integer || integer.getInt() < 1) {
      return std::nullopt;
    }
    values.push_back(integer.getInt());
  }
  return values;
}

/// Elements along K of the 16x16 instruction for the op's types, or of those
/// that share what a lane reads of FP4 weights.
static int64_t instructionDepth(spec::GemmOp op) {
  return op.getFormat() == spec::GemmFormat::BF16 ? 32 : 128;
}

/// Bytes of \p rows rows of \p operand in one step.
static int64_t stepBytes(const GemmSchedule &schedule, int64_t rows,
                         Value operand) {
  return rows * schedule.tileK * bitsOf(operand) / 8;
}

/// Bytes of one copy into LDS by all waves, 16 per lane.
static int64_t copyBytes(const GemmSchedule &schedule) {
  return schedule.waves() * 64 * 16;
}

/// The last workgroup of a tile reads the sums of all: more of them would not
/// be faster.
static constexpr int64_t mostShares = 64;

/// Whether steps load scales, which go into registers.
static bool hasBlockScales(spec::GemmOp op) {
  return op.getFormat() != spec::GemmFormat::BF16 &&
         op.getFormat() != spec::GemmFormat::FP8;
}

FailureOr<GemmSchedule> kernels::dense::readSchedule(Operation *op,
                                                     DictionaryAttr attribute) {
  auto tile = integers(attribute, "tile", 3);
  auto waves = integers(attribute, "waves", 2);
  if (!waves) {
    waves = integers(attribute, "waves", 3);
  }
  std::optional<SmallVector<int64_t>> stages;
  if (auto number = attribute.getAs<IntegerAttr>("stages")) {
    stages = {number.getInt()};
  } else {
    stages = integers(attribute, "stages", 2);
  }
  auto lds = attribute.getAs<StringAttr>("lds");
  StringRef staged = lds ? lds.getValue() : "none";
  auto order = attribute.getAs<StringAttr>("order");
  auto split = attribute.getAs<IntegerAttr>("split");
  auto group = attribute.getAs<IntegerAttr>("group");
  size_t known =
      3 + (lds ? 1 : 0) + (order ? 1 : 0) + (split ? 1 : 0) + (group ? 1 : 0);
  bool knownLds =
      llvm::is_contained({"none", "x", "weights", "both"}, staged) &&
      (!order || (llvm::is_contained({"interleave", "prefetch", "balanced"},
                                     order.getValue()) &&
                  staged != "none"));
  if (!tile || !waves || !stages || !knownLds || attribute.size() != known) {
    return op->emitOpError(
               "a schedule is {tile = [m, n, k], waves = [m, n], "
               "stages = s} of positive integers, with lds = \"x\", "
               "\"weights\" or \"both\", order = \"interleave\", "
               "\"prefetch\" or \"balanced\", group = g and "
               "split = s if wanted; found ")
           << attribute;
  }
  GemmSchedule schedule;
  schedule.tileM = (*tile)[0];
  schedule.tileN = (*tile)[1];
  schedule.tileK = (*tile)[2];
  schedule.wavesM = (*waves)[0];
  schedule.wavesN = (*waves)[1];
  schedule.wavesK = waves->size() == 3 ? waves->back() : 1;
  schedule.stages = stages->back();
  if (stages->size() == 2 && stages->front() != stages->back()) {
    schedule.stagesOfX = stages->front();
  }
  schedule.order = order ? order.getValue().str() : "";
  schedule.group = group ? group.getInt() : 0;
  if (group && (schedule.group < 1 || schedule.group > 1024 || split)) {
    return op->emitOpError("group must be 1 to 1024, without split; found ")
           << attribute;
  }
  schedule.split = split ? split.getInt() : 1;
  if (schedule.split < 1 || schedule.split > mostShares) {
    return op->emitOpError("split must be 1 to ")
           << mostShares << ", found " << schedule.split;
  }
  schedule.stagesX = staged == "x" || staged == "both";
  schedule.stagesWeights = staged == "weights" || staged == "both";
  int64_t count = schedule.waves();
  if (count > 16 || !llvm::isPowerOf2_64(count)) {
    return op->emitOpError("a workgroup has 1, 2, 4, 8 or 16 waves, found ")
           << schedule.wavesM << " x " << schedule.wavesN << " x "
           << schedule.wavesK;
  }
  int64_t most = std::max(schedule.stages, schedule.stagesOfX.value_or(0));
  if (schedule.stages < 1 || most > 16) {
    return op->emitOpError("a schedule has 1 to 16 stages, found ") << most;
  }
  return schedule;
}

FailureOr<GemmSchedule>
kernels::dense::parseSchedule(spec::GemmOp op, DictionaryAttr attribute) {
  FailureOr<GemmSchedule> read = readSchedule(op, attribute);
  if (failed(read)) {
    return failure();
  }
  const GemmSchedule &schedule = *read;
  int64_t depth = instructionDepth(op);
  if (schedule.tileM % (16 * schedule.wavesM) != 0 ||
      schedule.tileN % (16 * schedule.wavesN) != 0 ||
      schedule.tileK % (depth * schedule.wavesK) != 0) {
    return op.emitOpError("a tile of ")
           << schedule.tileM << " x " << schedule.tileN << " x "
           << schedule.tileK << " does not divide into " << schedule.wavesM
           << " x " << schedule.wavesN << " x " << schedule.wavesK
           << " waves of 16x16x" << depth << " matrix instructions";
  }
  if (failed(checkPackedTile(op, schedule.tileM, schedule.tileN,
                             schedule.tileK / schedule.wavesK))) {
    return failure();
  }
  if (schedule.wavesK > 1 && (schedule.stagesX || schedule.stagesWeights)) {
    return op.emitOpError("waves along K read their operands into registers, a "
                          "schedule with them has no lds");
  }
  auto checkCopy = [&](bool isStaged, StringRef operand, int64_t rows,
                       Value value) -> LogicalResult {
    int64_t bytes = stepBytes(schedule, rows, value);
    if (isStaged && bytes % copyBytes(schedule) != 0) {
      return op.emitOpError("a step of ")
             << operand << " is " << bytes << " bytes, which "
             << schedule.waves()
             << " waves do not copy into LDS in whole instructions of "
             << copyBytes(schedule) << " bytes";
    }
    return success();
  };
  if (failed(checkCopy(schedule.stagesX, "x", schedule.tileM, op.getX())) ||
      failed(checkCopy(schedule.stagesWeights, "weights", schedule.tileN,
                       op.getWeights()))) {
    return failure();
  }
  if (schedule.stagesOfX) {
    if (!schedule.stagesX || !schedule.stagesWeights || hasBlockScales(op) ||
        std::min(schedule.stages, *schedule.stagesOfX) < 2) {
      return op.emitOpError("x and weights that have different stages are both "
                            "in lds, without block scales, in two or more");
    }
  }
  return schedule;
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
  int64_t stepDepth =
      std::max<int64_t>(128 * 8 / std::max(product.lhsBits, product.rhsBits),
                        instructionDepth(op));

  // Scales go into registers, which have the stages of the loop.
  bool hasScales = hasBlockScales(op);

  SmallVector<std::pair<double, GemmSchedule>> ranked;
  auto considerOne = [&](const GemmSchedule &schedule) {
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
    // Gate and up are two products that share their tokens.
    tile.products = op.isGated() ? 2 : 1;
    tile.split = schedule.split;
    std::optional<double> time = cost::matrixProductCost(product, tile, target);
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
    for (int64_t split = 1; split <= 16; ++split) {
      // Sharing K is for tiles that do not fill the chip, and shares of no
      // steps help nobody.
      int64_t each = llvm::divideCeil(steps, split);
      bool fills = tiles * (split - 1) >= 2 * target.facts().computeUnits;
      if (split > 1 && (fills || each * (split - 1) >= steps)) {
        continue;
      }
      schedule.split = split;
      // Steps of FP4 are over before a die has fetched what the tiles of
      // another round-robin share of them read; of two rounds of tiles and
      // more, those of a die then better lie together. (Steps of BF16 leave it
      // the time, and lose by the uneven ends.)
      bool hasRounds = tiles >= 2 * target.facts().computeUnits;
      schedule.group = split == 1 && hasRounds && op.hasBlockScaledX() ? 8 : 0;
      considerOne(schedule);
    }
  };
  // Copies of 16 bytes per lane fill swizzled tiles.
  bool copiesWide = llvm::is_contained(target.facts().directToLdsWidths, 16u);
  for (int64_t tileM : {16, 32, 48, 64, 80, 96, 128, 256}) {
    for (int64_t tileN : {16, 32, 48, 64, 96, 128, 256}) {
      for (int64_t wavesM : {1, 2, 4}) {
        for (int64_t wavesN : {1, 2, 4, 8}) {
          // Eight share columns where each reads packed weights of its own;
          // more rows than 128 would not leave registers for these.
          bool readsOwn = wavesM == 1 && tileM <= 128 && op.getWeightOrder();
          if (wavesN == 8 && !readsOwn) {
            continue;
          }
          // Layouts over several waves are over powers of two.
          auto divides = [](int64_t tile, int64_t waves) {
            return tile % (16 * waves) == 0 &&
                   (waves == 1 || llvm::isPowerOf2_64(tile));
          };
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
            bool copiesWhole =
                stepBytes(staged, tileM, op.getX()) % copyBytes(staged) == 0 &&
                stepBytes(staged, tileN, op.getWeights()) % copyBytes(staged) ==
                    0;
            if (!copiesWide || !copiesWhole) {
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
            // One operand has room for a stage more: the one with more rows,
            // of which more workgroups of a die are the first to read theirs.
            if (!hasScales) {
              bool isX = product.m > product.n;
              staged.stages = isX ? stages : stages + 1;
              staged.stagesOfX = isX ? stages + 1 : stages;
              consider(staged);
            }
          }
        }
      }
    }
  }
  llvm::stable_sort(ranked, [](const auto &left, const auto &right) {
    return left.first < right.first;
  });
  if (ranked.empty()) {
    return op.emitOpError("no schedule fits the registers of the chip");
  }
  Builder builder(op.getContext());
  SmallVector<DictionaryAttr> schedules;
  // Schedules of one tile are alike: where the model errs with one it does with
  // all.
  constexpr size_t mostSchedules = 12;
  constexpr unsigned mostOfTile = 3;
  std::map<std::tuple<int64_t, int64_t, int64_t, bool>, unsigned> ofTile;
  for (const auto &[time, schedule] : ranked) {
    unsigned &same = ofTile[{schedule.tileM, schedule.tileN, schedule.wavesK,
                             schedule.stagesX}];
    if (same < mostOfTile && schedules.size() < mostSchedules) {
      ++same;
      schedules.push_back(toAttribute(builder, schedule));
    }
  }
  return schedules;
}
