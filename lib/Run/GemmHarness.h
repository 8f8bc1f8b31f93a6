//===- GemmHarness.h - running tenon.gemm -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_GEMMHARNESS_H
#define TENON_LIB_RUN_GEMMHARNESS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Reference/WeightOrder.h"
#include "tenon/Run/Harness.h"

namespace tenon::run {

/// The order of the host's functions that an order of an operand's type names.
reference::WeightOrder hostOrder(spec::WeightOrder order);

std::unique_ptr<Harness> createGemmHarness(spec::GemmOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_GEMMHARNESS_H
