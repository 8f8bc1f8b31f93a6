//===- KdaDecodeHarness.h - running tenon.kda_decode ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_KDADECODEHARNESS_H
#define TENON_LIB_RUN_KDADECODEHARNESS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

std::unique_ptr<Harness> createKdaDecodeHarness(spec::KdaDecodeOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_KDADECODEHARNESS_H
