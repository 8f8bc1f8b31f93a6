//===- MlaMergeHarness.h - running mla_merge and mla_scale ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_MLAMERGEHARNESS_H
#define TENON_LIB_RUN_MLAMERGEHARNESS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

std::unique_ptr<Harness> createMlaMergeHarness(spec::MlaMergeOp op);
std::unique_ptr<Harness> createMlaScaleHarness(spec::MlaScaleOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_MLAMERGEHARNESS_H
