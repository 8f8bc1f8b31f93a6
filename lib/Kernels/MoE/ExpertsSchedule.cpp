//===- ExpertsSchedule.cpp - schedules of tenon.moe_experts -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExpertStage.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::moe;
using dense::GemmSchedule;

GemmSchedule moe::cutTiles(int64_t tileM, int64_t tileN, int64_t tileK,
                           int64_t wavesM, int64_t wavesN, int64_t wavesK,
                           int64_t stages) {
  GemmSchedule schedule;
  schedule.tileM = tileM;
  schedule.tileN = tileN;
  schedule.tileK = tileK;
  schedule.wavesM = wavesM;
  schedule.wavesN = wavesN;
  schedule.wavesK = wavesK;
  schedule.stages = stages;
  return schedule;
}

/// Checks that \p schedule cuts \p stage at the edges of packed weights and of
/// blocks that share a scale, and steps of its \p input into whole copies.
static LogicalResult checkStage(spec::MoeExpertsOp op, StringRef stage,
                                spec::Format input, bool isDirect,
                                const GemmSchedule &schedule) {
  constexpr int64_t block = tile::MmaOp::scaleBlock;
  int64_t slice = schedule.tileK / schedule.wavesK;
  if (!llvm::isPowerOf2_64(schedule.tileM) ||
      !llvm::isPowerOf2_64(schedule.tileN) || schedule.tileN % block != 0 ||
      schedule.tileM % (16 * schedule.wavesM) != 0 ||
      schedule.tileN % (16 * schedule.wavesN) != 0) {
    return op.emitOpError(stage)
           << ": tiles have powers of two of rows and of 32 columns or more, "
              "that waves share by 16, found "
           << schedule.tileM << " x " << schedule.tileN << " on "
           << schedule.wavesM << " x " << schedule.wavesN << " waves";
  }
  if (schedule.tileK % schedule.wavesK != 0 ||
      (slice != 128 && slice % 256 != 0)) {
    return op.emitOpError(stage)
           << ": a step has 128 or a multiple of 256 values along K for each "
              "of its slices, found "
           << slice;
  }
  if (schedule.stagesWeights || schedule.split != 1 || schedule.stagesOfX ||
      schedule.walks() || schedule.agprs != 0 || schedule.wavesPerSimd != 0 ||
      schedule.pinned) {
    return op.emitOpError(stage)
           << ": weights go into registers, without split and stages of their "
              "own, persistent and stream-K forms and register policies";
  }
  if (isDirect && (schedule.group != 0 || schedule.stagesX)) {
    return op.emitOpError(stage)
           << ": a direct schedule has neither group nor lds";
  }
  if (!schedule.stagesX) {
    return success();
  }
  constexpr int64_t laneBytes = 16;
  int64_t copyBytes = schedule.waves() * 64 * laneBytes;
  int64_t step = schedule.tileM * schedule.tileK * bitsOf(input) / 8;
  if (schedule.wavesK != 1 || step % copyBytes != 0) {
    return op.emitOpError(stage)
           << ": waves, of which there is one along K, copy steps into LDS by "
              "instructions of "
           << copyBytes << " bytes; found " << step << " bytes and "
           << schedule.wavesK << " waves along K";
  }
  return success();
}

FailureOr<ExpertsSchedule> moe::parseExpertsSchedule(spec::MoeExpertsOp op,
                                                     DictionaryAttr attribute) {
  auto form = attribute.getAs<StringAttr>("form");
  auto up = attribute.getAs<DictionaryAttr>("up");
  auto down = attribute.getAs<DictionaryAttr>("down");
  auto sum = attribute.getAs<StringAttr>("sum");
  auto fused = attribute.getAs<IntegerAttr>("fused");
  size_t known = 3 + (sum ? 1 : 0) + (fused ? 1 : 0);
  if (!form || !up || !down || attribute.size() != known ||
      (form != "direct" && form != "sorted") ||
      (sum && sum != "atomic" && sum != "ordered")) {
    return op.emitOpError(
               "a schedule is {form = \"direct\" or \"sorted\", up = "
               "{...}, down = {...}} and may have sum = \"ordered\" (the "
               "default) or \"atomic\" and fused = N; found ")
           << attribute;
  }
  bool isDirect = form == "direct";
  bool atomic = sum && sum == "atomic";
  if (atomic && op.hasRouteRows()) {
    return op.emitOpError("sum = \"atomic\": the result is rows of routes, "
                          "which are not summed");
  }
  if (fused && (!isDirect || atomic || fused.getInt() < 1 ||
                fused.getInt() > directTokens || !canFuse(op))) {
    return op.emitOpError("fused = N, from 1 to ")
           << directTokens
           << " tokens, goes with form = \"direct\", ordered sums over routes "
              "and a D that is a multiple of 512; found fused = "
           << fused.getInt() << " and D = " << op.getWidth();
  }
  FailureOr<GemmSchedule> upCut = dense::readSchedule(op, up);
  FailureOr<GemmSchedule> downCut = dense::readSchedule(op, down);
  if (failed(upCut) || failed(downCut) ||
      failed(checkStage(op, "up", op.getInput(), isDirect, *upCut)) ||
      failed(
          checkStage(op, "down", op.getIntermediate(), isDirect, *downCut))) {
    return failure();
  }
  ExpertsSchedule schedule{isDirect, atomic, fused ? fused.getInt() : 0, *upCut,
                           *downCut};
  if (schedule.up.tileM != schedule.down.tileM) {
    return op.emitOpError("up and down have tiles of as many rows, found ")
           << schedule.up.tileM << " and " << schedule.down.tileM;
  }
  if (schedule.direct && schedule.up.tileM != directTokens) {
    return op.emitOpError("a direct schedule has tiles of ")
           << directTokens << " rows, found " << schedule.up.tileM;
  }
  return schedule;
}

/// The cut of a product (\p isUp: by w13) for many rows to an expert: waves
/// share rows of codes in LDS, and the tiles of a die share weights in its L2.
/// Nothing for other rows, and for a \p depth with a rest.
static std::optional<GemmSchedule> cutSharing(spec::Format input, int64_t depth,
                                              int64_t tileM, bool isUp) {
  int64_t tileK = isUp ? 256 : 128;
  if (!hasScales(input) || depth % tileK != 0) {
    return std::nullopt;
  }
  // With 128 rows to itself a wave would have no registers left for two steps
  // of w13, or of rows in FP8.
  bool isTall = tileM > 64 && (isUp || input == spec::Format::FP8);
  GemmSchedule schedule = cutTiles(tileM, isUp ? 128 : 256, tileK,
                                   isTall ? 2 : 1, 4, 1, isUp ? 2 : 3);
  schedule.stagesX = true;
  schedule.group = 4;
  return schedule;
}

/// Up to how many tokens one kernel is faster than a launch for each product:
/// workgroups of tokens with an expert in common each read its weights.
static constexpr int64_t fusedTokens = 3;

SmallVector<DictionaryAttr>
moe::rankExpertsSchedules(spec::MoeExpertsOp op,
                          const target::TargetInfo &target) {
  int64_t tokens = op.getExpectedTokens().value_or(16);
  // Rows of an expert that tokens have, on average.
  double rows = static_cast<double>(tokens) * op.getExpertsPerToken() /
                static_cast<double>(op.getIdLimit());
  Builder b(op.getContext());
  SmallVector<DictionaryAttr> schedules;
  auto add = [&](bool direct, const GemmSchedule &up,
                 const GemmSchedule &down) {
    NamedAttrList schedule;
    schedule.append("form", b.getStringAttr(direct ? "direct" : "sorted"));
    schedule.append("up", dense::toAttribute(b, up));
    schedule.append("down", dense::toAttribute(b, down));
    if (direct && canFuse(op)) {
      schedule.append("fused", b.getI64IntegerAttr(fusedTokens));
    }
    schedules.push_back(schedule.getDictionary(op.getContext()));
  };
  bool direct = tokens <= directTokens;
  int64_t tileM = 16;
  while (!direct && tileM < 128 && rows > 0.75 * static_cast<double>(tileM)) {
    tileM *= 2;
  }
  auto sharing = [&](const GemmSchedule &plain, bool isUp) {
    return cutSharing(isUp ? op.getInput() : op.getIntermediate(),
                      isUp ? op.getWidth() : op.getExpertWidth(), tileM, isUp)
        .value_or(plain);
  };
  if (tileM <= 32) {
    // All that a wave reads of the weights is on its way at once: up to 3584
    // values along K in seven steps.
    GemmSchedule up = cutTiles(tileM, 32, 512, 1, 1, 4, 7);
    GemmSchedule down = cutTiles(tileM, 128, 128, 1, 4, 1, 3);
    // Each wave reading 32 rows of FP8 by itself would keep the L1 busier than
    // the weights do.
    bool sharesX = tileM == 32 && op.getInput() == spec::Format::FP8;
    bool sharesMid = tileM == 32 && op.getIntermediate() == spec::Format::FP8;
    if (sharesX || sharesMid) {
      add(direct, sharesX ? sharing(up, true) : up,
          sharesMid ? sharing(down, false) : down);
    }
    add(direct, up, down);
    add(direct, cutTiles(tileM, 64, 128, 1, 4, 1, 3),
        cutTiles(tileM, 64, 128, 1, 4, 1, 2));
  } else {
    GemmSchedule up = cutTiles(tileM, 64, 128, 2, 2, 1, 2);
    GemmSchedule down = cutTiles(tileM, 128, 128, 2, 2, 1, 2);
    add(direct, sharing(up, true), sharing(down, false));
    add(direct, up, down);
  }
  add(direct, cutTiles(tileM, 64, 128, 1, 4, 1, 2),
      cutTiles(tileM, 64, 128, 1, 4, 1, 2));
  if (!direct) {
    add(direct, cutTiles(64, 64, 128, 2, 2, 1, 2),
        cutTiles(64, 64, 128, 2, 2, 1, 2));
  }
  return schedules;
}
