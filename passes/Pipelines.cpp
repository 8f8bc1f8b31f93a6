//===- Pipelines.cpp - the pipeline from specs to per-lane code -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "passes/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tenon;

void tenon::buildSpecPipeline(OpPassManager &manager, unsigned schedule) {
  TenonLowerToTileOptions options;
  options.schedule = schedule;
  manager.addPass(createTenonLowerToTile(options));
}

void tenon::buildTilePipeline(OpPassManager &manager) {
  OpPassManager &kernels = manager.nest<tile::KernelOp>();
  // Of what follows from known sizes the lowering makes parts of instructions.
  kernels.addPass(createSCCPPass());
  kernels.addPass(createTileSelectPrecision());
  kernels.addPass(createTileAssignLayouts());
  kernels.addPass(createTilePipeline());
  kernels.addPass(createTilePlanLds());
  kernels.addPass(createTileInsertBarriers());
  kernels.addPass(createTileSchedule());
  manager.addPass(createConvertTileToRocdl());
}

void tenon::registerPipelines() {
  PassPipelineRegistration<>(
      "tenon-compile",
      "All passes from a spec to per-lane code, with the first "
      "schedule of the ranked list",
      [](OpPassManager &manager) {
        manager.addPass(createTenonChooseSchedule());
        buildSpecPipeline(manager, 0);
        buildTilePipeline(manager);
      });
  PassPipelineRegistration<>("tile-compile",
                             "All passes from a tile program to per-lane code",
                             buildTilePipeline);
}
