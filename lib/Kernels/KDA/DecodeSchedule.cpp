//===- DecodeSchedule.cpp - schedules of tenon.kda_decode -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decode.h"

#include "tenon/Cost/Streaming.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tenon;

/// What a workgroup of \p waves waves needs. A lane keeps its share of the
/// state, 8 elements each of q, k and the decay, and the loads of the prologue.
static cost::StreamingWorkgroup estimate(spec::KdaDecodeOp op, unsigned waves) {
  int64_t stateElements = op.getHeadDim() * op.getHeadDim();
  cost::StreamingWorkgroup workgroup;
  workgroup.waves = waves;
  unsigned statePerLane = stateElements / (64 * waves);
  workgroup.vgprs = statePerLane + 60;
  workgroup.ldsBytes = 5 * op.getHeadDim() * 4;
  workgroup.bytesInFlight = stateElements * 4;
  // Four packed operations per two elements and two accesses per four; about
  // 300 instructions per wave for the rest.
  workgroup.waveInstructions = waves * (statePerLane * 5 / 2 + 300);
  return workgroup;
}

unsigned kernels::kda::decodeWavesPerSimd(spec::KdaDecodeOp op, unsigned waves,
                                          const target::TargetInfo &target) {
  return target.wavesPerSimd(estimate(op, waves).vgprs, 0);
}

FailureOr<SmallVector<DictionaryAttr>>
kernels::kda::rankDecodeSchedules(spec::KdaDecodeOp op,
                                  const target::TargetInfo &target) {
  SmallVector<std::pair<double, unsigned>> ranked;
  for (unsigned waves : {2u, 4u, 8u}) {
    ranked.emplace_back(cost::streamingCost(estimate(op, waves), target),
                        waves);
  }
  llvm::stable_sort(ranked, [](const auto &left, const auto &right) {
    return left.first < right.first;
  });
  Builder builder(op.getContext());
  SmallVector<DictionaryAttr> schedules;
  for (auto [time, waves] : ranked) {
    // The back end's default scheduler starts on each part of the state as it
    // arrives. Its iterative one needs fewer registers, but waits for all of
    // it.
    NamedAttribute wavesAttr =
        builder.getNamedAttr("waves", builder.getI64IntegerAttr(waves));
    schedules.push_back(builder.getDictionaryAttr(wavesAttr));
    schedules.push_back(builder.getDictionaryAttr(
        {wavesAttr, builder.getNamedAttr(
                        "scheduler", builder.getStringAttr("iterative-ilp"))}));
  }
  return schedules;
}
