//===- PackHarness.h - running tenon.pack -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_PACKHARNESS_H
#define TENON_LIB_RUN_PACKHARNESS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

std::unique_ptr<Harness> createPackHarness(spec::PackOp op);
std::unique_ptr<Harness> createMoePackHarness(spec::MoePackOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_PACKHARNESS_H
