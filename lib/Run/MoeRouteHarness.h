//===- MoeRouteHarness.h - running tenon.moe_route --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_RUN_MOEROUTEHARNESS_H
#define TENON_LIB_RUN_MOEROUTEHARNESS_H

#include "tenon/Run/Harness.h"

#include "dialects/Tenon/Tenon.h"

namespace tenon::run {

std::unique_ptr<Harness> createMoeRouteHarness(spec::MoeRouteOp op);

} // namespace tenon::run

#endif // TENON_LIB_RUN_MOEROUTEHARNESS_H
