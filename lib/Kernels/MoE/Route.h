//===- Route.h - kernel of tenon.moe_route ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MOE_ROUTE_H
#define TENON_LIB_KERNELS_MOE_ROUTE_H

#include "dialects/Tenon/Tenon.h"

namespace tenon::kernels::moe {

/// Schedules `{waves = w}`, the one expected to be fastest first.
llvm::SmallVector<mlir::DictionaryAttr> rankRouteSchedules(spec::MoeRouteOp op);

/// Writes the plan and the kernel.
mlir::LogicalResult lowerRoute(spec::MoeRouteOp op,
                               mlir::DictionaryAttr schedule,
                               llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::moe

#endif // TENON_LIB_KERNELS_MOE_ROUTE_H
