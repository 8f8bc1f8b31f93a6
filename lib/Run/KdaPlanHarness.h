//===- KdaPlanHarness.h - running tenon.kda_plan ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_KDAPLANHARNESS_H
#define TENON_LIB_RUN_KDAPLANHARNESS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

/// Makes cu_seqlens of the list `lengths`, where there is one.
llvm::Error expandLengths(Lists &lists, Dims &dims);

/// The values of a view of integers of one dimension.
std::vector<int64_t> integerValues(const reference::TensorView &view);

std::unique_ptr<Harness> createKdaPlanHarness(spec::KdaPlanOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_KDAPLANHARNESS_H
