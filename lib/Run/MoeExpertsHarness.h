//===- MoeExpertsHarness.h - running tenon.moe_experts -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_MOEEXPERTSHARNESS_H
#define TENON_LIB_RUN_MOEEXPERTSHARNESS_H

#include "tenon/Run/Harness.h"

#include "dialects/Tenon/Tenon.h"

namespace tenon::run {

std::unique_ptr<Harness> createMoeExpertsHarness(spec::MoeExpertsOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_MOEEXPERTSHARNESS_H
