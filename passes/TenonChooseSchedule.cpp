//===- TenonChooseSchedule.cpp - rank the schedules of tenon ops -*- C++
//-*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Passes.h"

#include "tenon/Kernels/Kernels.h"

using namespace mlir;
using namespace tenon;

namespace tenon {
#define GEN_PASS_DEF_TENONCHOOSESCHEDULE
#include "passes/Passes.h.inc"
} // namespace tenon

namespace {
struct TenonChooseSchedule
    : tenon::impl::TenonChooseScheduleBase<TenonChooseSchedule> {
  void runOnOperation() override {
    FailureOr<target::TargetInfo> target = tile::getTarget(getOperation());
    if (failed(target)) {
      return signalPassFailure();
    }
    WalkResult result = getOperation().walk([&](spec::SpecOpInterface op) {
      if (op->hasAttr("schedules")) {
        return WalkResult::advance();
      }
      auto schedules = kernels::rankSchedules(op, *target);
      if (failed(schedules)) {
        return WalkResult::interrupt();
      }
      SmallVector<Attribute> attrs(schedules->begin(), schedules->end());
      op->setAttr("schedules", ArrayAttr::get(&getContext(), attrs));
      return WalkResult::advance();
    });
    if (result.wasInterrupted()) {
      signalPassFailure();
    }
  }
};
} // namespace
