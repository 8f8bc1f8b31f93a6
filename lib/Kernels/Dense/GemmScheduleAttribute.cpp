//===- GemmScheduleAttribute.cpp - schedules as people write them *- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "GemmStep.h"

#include "mlir/IR/Builders.h"

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
  auto addNumber = [&](StringRef name, int64_t value, int64_t usual = 0) {
    if (value != usual) {
      entries.push_back(b.getNamedAttr(name, b.getI64IntegerAttr(value)));
    }
  };
  addNumber("group", schedule.group);
  addNumber("split", schedule.split, /*usual=*/1);
  addNumber("persistent", schedule.persistent);
  addNumber("stream_k", schedule.streamK);
  addNumber("agprs", schedule.agprs);
  addNumber("waves_per_simd", schedule.wavesPerSimd);
  if (schedule.pinned) {
    entries.push_back(b.getNamedAttr("pinned", b.getUnitAttr()));
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

/// The last workgroup of a tile reads the sums of all: more of them would not
/// be faster.
static constexpr int64_t mostShares = 64;
/// Some for every compute unit of a chip.
static constexpr int64_t mostWalkers = 4096;

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
  size_t known = 3 + (lds ? 1 : 0) + (order ? 1 : 0);
  // The entry of a name, which must be from `least` to `most`.
  std::string outside;
  auto number = [&](StringRef name, int64_t usual, int64_t least,
                    int64_t most) {
    auto entry = attribute.getAs<IntegerAttr>(name);
    if (!entry) {
      return usual;
    }
    ++known;
    if (entry.getInt() < least || entry.getInt() > most) {
      outside = (name + " must be " + Twine(least) + " to " + Twine(most) +
                 ", found " + Twine(entry.getInt()))
                    .str();
    }
    return entry.getInt();
  };
  GemmSchedule schedule;
  schedule.group = number("group", 0, 1, 1024);
  schedule.split = number("split", 1, 1, mostShares);
  schedule.persistent = number("persistent", 0, 1, mostWalkers);
  schedule.streamK = number("stream_k", 0, 1, mostWalkers);
  schedule.agprs = number("agprs", 0, 0, 256);
  schedule.wavesPerSimd = number("waves_per_simd", 0, 1, 8);
  schedule.pinned = attribute.getAs<UnitAttr>("pinned") != nullptr;
  known += schedule.pinned ? 1 : 0;
  bool knownLds =
      llvm::is_contained({"none", "x", "weights", "both"}, staged) &&
      (!order ||
       (llvm::is_contained({"interleave", "prefetch", "balanced", "ping-pong"},
                           order.getValue()) &&
        staged != "none"));
  if (!tile || !waves || !stages || !knownLds || attribute.size() != known) {
    return op->emitOpError(
               "a schedule is {tile = [m, n, k], waves = [m, n], "
               "stages = s} of positive integers, with lds = \"x\", "
               "\"weights\" or \"both\", order = \"interleave\", "
               "\"prefetch\", \"balanced\" or \"ping-pong\", group = g, "
               "split = s, persistent = g, stream_k = g, agprs = n, "
               "waves_per_simd = n and pinned if wanted; found ")
           << attribute;
  }
  if (!outside.empty()) {
    return op->emitOpError(outside);
  }
  int forms = (schedule.split > 1) + (schedule.persistent != 0) +
              (schedule.streamK != 0);
  if (forms > 1 || (schedule.split > 1 && schedule.group != 0)) {
    return op->emitOpError("a schedule has one of split, persistent and "
                           "stream_k, and group without split; found ")
           << attribute;
  }
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
  if (schedule.order == pingPong && !schedule.canPingPong()) {
    return op.emitOpError(
        "order = \"ping-pong\" is for 8 waves that read x and "
        "weights from lds, in two or more stages");
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
