//===- DecodeSchedule.cpp - schedules of tenon.mla_decode -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A workgroup has a compute unit to itself: the keys in flight take its LDS.
// What a step costs is the longest of its share of the bandwidth of HBM, the
// round trip to memory that the stages do not cover, and its own work.
//
//===----------------------------------------------------------------------===//

#include "Decode.h"
#include "DecodePlan.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::mla;

static constexpr int64_t mostStages = 4;
/// Rows of a workgroup: those of a group of waves, or 32 of each of two.
static constexpr int64_t rowsOfSchedules[] = {16, 32, 48, 64};

DecodeShape mla::decodeShape(spec::MlaDecodeOp op) {
  auto elementOf = [](Value operand) {
    return cast<MemRefType>(operand.getType()).getElementType();
  };
  return {op.getHeads(),
          int64_t(op.getMaxQueries()),
          op.getCausal(),
          op.getScale().convertToDouble(),
          int64_t(op.getCpSize()),
          int64_t(op.getCpInterleave()),
          op.isPacked(),
          static_cast<bool>(op.getPlan()),
          static_cast<bool>(op.getQRope()),
          static_cast<bool>(op.getLse()),
          op.hasFp8Probabilities(),
          elementOf(op.getQ()),
          elementOf(op.getKv())};
}

/// Keys of a step: FP8 weights of 128 are what an f8f6f4 instruction adds up.
static int64_t leastKeys(const DecodeShape &shape) {
  return shape.fp8Weights ? 64 : 32;
}
static int64_t mostKeys(const DecodeShape &shape) {
  return 2 * leastKeys(shape);
}

static DictionaryAttr toAttribute(Builder &b, const DecodeSchedule &schedule) {
  auto number = [&](StringRef name, int64_t value) {
    return b.getNamedAttr(name, b.getI64IntegerAttr(value));
  };
  return b.getDictionaryAttr({number("rows", schedule.rows),
                              number("keys", schedule.keys),
                              number("stages", schedule.stages)});
}

FailureOr<DecodeSchedule> mla::parseDecodeSchedule(spec::MlaDecodeOp op,
                                                   DictionaryAttr attribute) {
  DecodeSchedule schedule;
  for (auto [name, value] :
       {std::pair("rows", &schedule.rows), std::pair("keys", &schedule.keys),
        std::pair("stages", &schedule.stages)}) {
    auto number = attribute.getAs<IntegerAttr>(name);
    if (!number) {
      return op.emitOpError("a schedule is {rows = r, keys = k, stages = s}, "
                            "found ")
             << attribute;
    }
    *value = number.getInt();
  }
  DecodeShape shape = decodeShape(op);
  if (attribute.size() != 3 ||
      !llvm::is_contained(rowsOfSchedules, schedule.rows) ||
      schedule.keys < leastKeys(shape) || schedule.keys > mostKeys(shape) ||
      !llvm::isPowerOf2_64(schedule.keys) || schedule.stages < 2 ||
      schedule.stages > mostStages) {
    return op.emitOpError("a schedule has 16, 32, 48 or 64 rows, ")
           << leastKeys(shape) << " or " << mostKeys(shape)
           << " keys and 2 to 4 stages, found " << attribute;
  }
  return schedule;
}

/// Bytes of LDS that a workgroup needs.
static int64_t ldsBytes(const DecodeShape &shape,
                        const DecodeSchedule &schedule) {
  int64_t keyBytes = decodeColumns * shape.cache.getIntOrFloatBitWidth() / 8;
  int64_t stage = schedule.keys * keyBytes + 64 * groupWaves * 8;
  int64_t exchange = 0;
  if (!shape.scoresOwnKeys()) {
    exchange += 2 * schedule.keys * schedule.rows * 4;
  }
  if (shape.weighsOwnKeys(schedule)) {
    exchange +=
        schedule.rows * (schedule.keys * shape.weightBits() / 8 +
                         mostWeightPadding(schedule.rows) + groupWaves * 4);
  }
  return schedule.stages * stage + exchange;
}

/// Seconds per key of a request that all workgroups together need.
static double costPerKey(const DecodeShape &shape,
                         const DecodeSchedule &schedule,
                         const target::TargetInfo &target) {
  const target::ChipFacts &facts = target.facts();
  // Round trip of a load that misses every cache; about 2 us is what streaming
  // kernels behave like.
  constexpr double memoryLatency = 2.0e-6;
  // Of the simulator's clocks for a step: barriers and exchanges, what goes
  // with the keys, and what goes with keys and rows.
  const bool own = shape.fp8Weights;
  const double stepClocks = own ? 3000 : 1600, keyClocks = own ? 0 : 12;
  double rowClocks = own ? 0.75 : 1.6;
  if (schedule.groups() > 1) {
    rowClocks = own ? 0.41 : 0.57;
  }
  double keys = schedule.keys;
  double bytes = keys * decodeColumns * shape.cache.getIntOrFloatBitWidth() / 8;
  double blocks = llvm::divideCeil(shape.rows(), schedule.rows);
  // Parts at a time: blocks of rows of one part read the same keys.
  double parts = facts.computeUnits / blocks;
  double memory = bytes * parts / facts.hbmAttainableBandwidth;
  double roundTrip = memoryLatency / (schedule.stages - 1);
  double work = (stepClocks + keys * (keyClocks + rowClocks * schedule.rows)) /
                facts.clockHz;
  return std::max({memory, roundTrip, work}) / (keys * parts);
}

FailureOr<SmallVector<DictionaryAttr>>
mla::rankDecodeSchedules(spec::MlaDecodeOp op,
                         const target::TargetInfo &target) {
  DecodeShape shape = decodeShape(op);
  SmallVector<std::pair<double, DecodeSchedule>> ranked;
  for (int64_t rows : rowsOfSchedules) {
    // Two groups of waves are for rows that one has no room for.
    if (rows > mostGroupRows && shape.rows() <= mostGroupRows) {
      continue;
    }
    for (int64_t keys = leastKeys(shape); keys <= mostKeys(shape); keys *= 2) {
      // Of equal cost the one with fewer stages.
      for (int64_t stages = 2; stages <= mostStages; ++stages) {
        DecodeSchedule schedule{rows, keys, stages};
        if (ldsBytes(shape, schedule) <= target.facts().ldsBytes) {
          ranked.emplace_back(costPerKey(shape, schedule, target), schedule);
        }
      }
    }
  }
  llvm::stable_sort(ranked, [](const auto &left, const auto &right) {
    return left.first < right.first;
  });
  Builder b(op.getContext());
  SmallVector<DictionaryAttr> schedules;
  for (const auto &[cost, schedule] : ranked) {
    schedules.push_back(toAttribute(b, schedule));
  }
  return schedules;
}
