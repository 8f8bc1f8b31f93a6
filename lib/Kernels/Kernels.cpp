//===- Kernels.cpp - dispatch from ops to kernel families -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tenon/Kernels/Kernels.h"

#include "Dense/Gemm.h"
#include "Dense/Pack.h"
#include "KDA/Decode.h"
#include "KDA/Prefill.h"
#include "MLA/Decode.h"
#include "MLA/DecodePlan.h"
#include "MLA/Merge.h"
#include "MoE/Experts.h"
#include "MoE/Pack.h"
#include "MoE/Route.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tenon;

FailureOr<SmallVector<DictionaryAttr>>
kernels::rankSchedules(spec::SpecOpInterface op,
                       const target::TargetInfo &target) {
  return llvm::TypeSwitch<Operation *, FailureOr<SmallVector<DictionaryAttr>>>(
             op)
      .Case<spec::KdaDecodeOp>(
          [&](auto decode) { return kda::rankDecodeSchedules(decode, target); })
      .Case<spec::KdaPrefillOp>([&](auto prefill) {
        return kda::rankPrefillSchedules(prefill, target);
      })
      .Case<spec::KdaPlanOp>(
          [&](auto chunks) { return kda::rankPlanSchedules(chunks); })
      .Case<spec::GemmOp>(
          [&](auto gemm) { return dense::rankGemmSchedules(gemm, target); })
      .Case<spec::PackOp>(
          [&](auto pack) { return dense::rankPackSchedules(pack); })
      .Case<spec::MoePackOp>(
          [&](auto pack) { return moe::rankPackSchedules(pack); })
      .Case<spec::MoeExpertsOp>([&](auto experts) {
        return moe::rankExpertsSchedules(experts, target);
      })
      .Case<spec::MoeRouteOp>(
          [&](auto route) { return moe::rankRouteSchedules(route); })
      .Case<spec::MlaPlanOp>(
          [&](auto parts) { return mla::rankPlanSchedules(parts); })
      .Case<spec::MlaDecodeOp>(
          [&](auto decode) { return mla::rankDecodeSchedules(decode, target); })
      .Case<spec::MlaMergeOp, spec::MlaScaleOp>(
          [&](auto merge) { return mla::rankMergeSchedules(merge); })
      .Default([](Operation *other) {
        return other->emitOpError("has no kernel yet");
      });
}

LogicalResult kernels::lowerToTile(spec::SpecOpInterface op,
                                   DictionaryAttr schedule, StringRef name,
                                   OpBuilder &builder) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<spec::KdaDecodeOp>([&](auto decode) {
        return kda::lowerDecode(decode, schedule, name, builder);
      })
      .Case<spec::KdaPrefillOp>([&](auto prefill) {
        return kda::lowerPrefill(prefill, schedule, name, builder);
      })
      .Case<spec::KdaPlanOp>([&](auto chunks) {
        return kda::lowerPlan(chunks, schedule, name, builder);
      })
      .Case<spec::GemmOp>([&](auto gemm) {
        return dense::lowerGemm(gemm, schedule, name, builder);
      })
      .Case<spec::PackOp>([&](auto pack) {
        return dense::lowerPack(pack, schedule, name, builder);
      })
      .Case<spec::MoePackOp>([&](auto pack) {
        return moe::lowerPack(pack, schedule, name, builder);
      })
      .Case<spec::MoeExpertsOp>([&](auto experts) {
        return moe::lowerExperts(experts, schedule, name, builder);
      })
      .Case<spec::MoeRouteOp>([&](auto route) {
        return moe::lowerRoute(route, schedule, name, builder);
      })
      .Case<spec::MlaPlanOp>([&](auto parts) {
        return mla::lowerPlan(parts, schedule, name, builder);
      })
      .Case<spec::MlaDecodeOp>([&](auto decode) {
        return mla::lowerDecode(decode, schedule, name, builder);
      })
      .Case<spec::MlaMergeOp, spec::MlaScaleOp>([&](auto merge) {
        return mla::lowerMerge(merge, schedule, name, builder);
      })
      .Default([](Operation *other) {
        return other->emitOpError("has no kernel yet");
      });
}
