//===- Pack.h - kernel of tenon.moe_pack ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MOE_PACK_H
#define TENON_LIB_KERNELS_MOE_PACK_H

#include "dialects/Tenon/Tenon.h"

namespace tenon::kernels::moe {

/// The one schedule of a copy.
llvm::SmallVector<mlir::DictionaryAttr> rankPackSchedules(spec::MoePackOp op);

/// Writes the plan and the kernel.
mlir::LogicalResult lowerPack(spec::MoePackOp op, mlir::DictionaryAttr schedule,
                              llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::moe

#endif // TENON_LIB_KERNELS_MOE_PACK_H
