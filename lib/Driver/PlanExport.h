//===- PlanExport.h - tenon.plan as data ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_DRIVER_PLANEXPORT_H
#define TENON_LIB_DRIVER_PLANEXPORT_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Runtime/Plan.h"

namespace tenon::driver {

/// The plan as the runtime evaluates it. Emits an error and fails on an
/// operation that a plan cannot hold.
mlir::FailureOr<runtime::Plan> exportPlan(spec::PlanOp plan);

} // namespace tenon::driver

#endif // TENON_LIB_DRIVER_PLANEXPORT_H
