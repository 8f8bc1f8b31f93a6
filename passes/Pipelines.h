//===- Pipelines.h - the pipeline from specs to per-lane code ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_PASSES_PIPELINES_H
#define TENON_PASSES_PIPELINES_H

#include "passes/Passes.h"

namespace tenon {

/// From scheduled tenon ops to plans and tile programs, with the given schedule
/// of the ranked list.
void buildSpecPipeline(mlir::OpPassManager &manager, unsigned schedule);

/// From tile programs to the llvm and rocdl dialects.
void buildTilePipeline(mlir::OpPassManager &manager);

/// Registers the pipelines `tenon-compile` and `tile-compile`.
void registerPipelines();

} // namespace tenon

#endif // TENON_PASSES_PIPELINES_H
