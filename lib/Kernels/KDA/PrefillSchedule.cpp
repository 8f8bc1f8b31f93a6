//===- PrefillSchedule.cpp - schedules of tenon.kda_prefill -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PrefillSchedule.h"

#include "Prefill.h"
#include "PrefillPrologue.h"
#include "PrefillScan.h"

#include "tenon/Cost/GroupedWalk.h"

#include "mlir/IR/Builders.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tenon;
using namespace tenon::kernels;
using namespace tenon::kernels::kda;

/// Ways to walk groups that the driver is offered.
static constexpr unsigned mostRanked = 2;

namespace {
/// A parameter of schedules and the values that it may have.
struct Parameter {
  StringRef name;
  int64_t PrefillSchedule::*value;
  int64_t least, most;
  bool isPowerOfTwo;
};
} // namespace

static constexpr Parameter parameters[] = {
    {"prologue_workgroups", &PrefillSchedule::prologueWorkgroups, 1, 2, true},
    {"groups", &PrefillSchedule::groups, 0, mostGroups, false},
    {"group_chunks", &PrefillSchedule::groupChunks, 1, 1 << 20, false},
    {"group_rows", &PrefillSchedule::groupRows, 64, 128, true},
    {"group_waves", &PrefillSchedule::groupWaves, 2, 8, true},
    {"walk_waves", &PrefillSchedule::walkWaves, 4, 8, true},
    {"same_die", &PrefillSchedule::sameDie, 0, 1, false},
};

DictionaryAttr PrefillSchedule::attribute(MLIRContext *context) const {
  Builder builder(context);
  SmallVector<NamedAttribute> attributes;
  for (const Parameter &parameter : parameters) {
    attributes.push_back(builder.getNamedAttr(
        parameter.name, builder.getI64IntegerAttr(this->*parameter.value)));
  }
  return builder.getDictionaryAttr(attributes);
}

FailureOr<PrefillSchedule> kda::readPrefillSchedule(spec::KdaPrefillOp op,
                                                    DictionaryAttr attribute) {
  PrefillSchedule schedule;
  for (NamedAttribute entry : attribute) {
    const auto *parameter =
        llvm::find_if(parameters, [&](const Parameter &candidate) {
          return candidate.name == entry.getName().getValue();
        });
    if (parameter == std::end(parameters)) {
      std::string names;
      for (const Parameter &known : parameters) {
        names += (names.empty() ? "" : ", ") + known.name.str();
      }
      return op.emitOpError("a schedule has ")
             << names << "; found " << entry.getName();
    }
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    int64_t value = number ? number.getInt() : -1;
    if (value < parameter->least || value > parameter->most ||
        (parameter->isPowerOfTwo && !llvm::isPowerOf2_64(value))) {
      return op.emitOpError("of a schedule, ")
             << parameter->name << " is "
             << (parameter->isPowerOfTwo ? "a power of two " : "") << "from "
             << parameter->least << " to " << parameter->most << ", found "
             << entry.getValue();
    }
    schedule.*parameter->value = value;
  }
  int64_t each = schedule.groupRows / schedule.groupWaves;
  if (each != 16 && each != 32) {
    return op.emitOpError("of a schedule, group_rows / group_waves is 16 or "
                          "32, found ")
           << schedule.groupRows << " / " << schedule.groupWaves;
  }
  return schedule;
}

int64_t kda::groupsThatFill(int64_t sequences, int64_t heads, int64_t chunks,
                            const PrefillSchedule &schedule,
                            const target::TargetInfo &target) {
  int64_t most = schedule.groups;
  if (most == 0) {
    most =
        target.facts().computeUnits / std::max<int64_t>(sequences * heads, 1);
    most = std::min(most, mostGroups);
  }
  return std::max<int64_t>(std::min(most, chunks / schedule.groupChunks), 1);
}

FailureOr<SmallVector<DictionaryAttr>>
kda::rankPrefillSchedules(spec::KdaPrefillOp op,
                          const target::TargetInfo &target) {
  bool wide = op.getProducts() == spec::Products::FP32;
  cost::GroupedWalk walk;
  walk.sequences = op.getExpectedSequences().value_or(1);
  walk.heads = op.getHeads();
  walk.chunks = llvm::divideCeil(
      llvm::divideCeil(op.getExpectedTokens().value_or(4096), walk.sequences),
      chunkTokens);
  walk.operandBytes = wide ? 4 : 2;
  SmallVector<std::pair<double, PrefillSchedule>> ranked;
  for (auto [rows, waves] : {std::pair(128, 4), std::pair(64, 4),
                             std::pair(64, 2), std::pair(128, 8)}) {
    // Operands in FP32 take the registers of waves of 32 rows.
    if (wide && rows / waves != 32) {
      continue;
    }
    // Of schedules that differ in the least group alone, the best is enough.
    PrefillSchedule best;
    double bestCost = std::numeric_limits<double>::infinity();
    for (int64_t least : {4, 6, 8, 12}) {
      PrefillSchedule schedule;
      schedule.groupRows = walk.rows = rows;
      schedule.groupWaves = walk.waves = waves;
      schedule.groupChunks = least;
      walk.groups = groupsThatFill(walk.sequences, walk.heads, walk.chunks,
                                   schedule, target);
      double seconds = cost::groupedWalkCost(walk, target);
      if (seconds < bestCost) {
        best = schedule;
        bestCost = seconds;
      }
    }
    ranked.emplace_back(bestCost, best);
  }
  llvm::stable_sort(ranked, [](const auto &left, const auto &right) {
    return left.first < right.first;
  });
  SmallVector<DictionaryAttr> schedules;
  for (auto [seconds, schedule] : ArrayRef(ranked).take_front(mostRanked)) {
    op.emitRemark() << llvm::formatv("{0} groups, found by workgroups of {1} "
                                     "value columns and {2} waves: "
                                     "{3:f1} us behind the prologue",
                                     groupsThatFill(walk.sequences, walk.heads,
                                                    walk.chunks, schedule,
                                                    target),
                                     schedule.groupRows, schedule.groupWaves,
                                     seconds * 1e6)
                           .str();
    for (int64_t workgroups : {2, 1}) {
      // Operands in FP32 leave no room for a second.
      if (wide && workgroups == 2) {
        continue;
      }
      schedule.prologueWorkgroups = workgroups;
      schedules.push_back(schedule.attribute(op.getContext()));
    }
  }
  return schedules;
}
