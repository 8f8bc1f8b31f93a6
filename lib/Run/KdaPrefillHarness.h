//===- KdaPrefillHarness.h - running tenon.kda_prefill ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_KDAPREFILLHARNESS_H
#define TENON_LIB_RUN_KDAPREFILLHARNESS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

std::unique_ptr<Harness> createKdaPrefillHarness(spec::KdaPrefillOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_KDAPREFILLHARNESS_H
