//===- OnlySchedule.h - ops with one schedule -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_ONLYSCHEDULE_H
#define TENON_LIB_KERNELS_ONLYSCHEDULE_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace tenon::kernels {

/// `{waves = N}`, the schedule of a kernel of which nothing else can be chosen.
mlir::DictionaryAttr onlySchedule(mlir::MLIRContext *context, int64_t waves);

/// Fails with an error at \p op when \p schedule is another one.
mlir::LogicalResult requireOnlySchedule(mlir::Operation *op,
                                        mlir::DictionaryAttr schedule,
                                        int64_t waves);

} // namespace tenon::kernels

#endif // TENON_LIB_KERNELS_ONLYSCHEDULE_H
