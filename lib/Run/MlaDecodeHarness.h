//===- MlaDecodeHarness.h - running mla_decode and mla_plan -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_MLADECODEHARNESS_H
#define TENON_LIB_RUN_MLADECODEHARNESS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

std::unique_ptr<Harness> createMlaDecodeHarness(spec::MlaDecodeOp op);
std::unique_ptr<Harness> createMlaPlanHarness(spec::MlaPlanOp op);

/// Rows of a plan of \p requests requests that leave no speed behind where
/// \p workgroups slots are worked on at a time.
int64_t mlaPlanRows(int64_t requests, int64_t workgroups);

/// Sets the rank of a call to 0 where it is not given.
void completeRank(Dims &dims);

} // namespace tenon::run

#endif // TENON_LIB_RUN_MLADECODEHARNESS_H
