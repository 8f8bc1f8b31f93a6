//===- Pack.h - the kernel of tenon.pack ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_DENSE_PACK_H
#define TENON_LIB_KERNELS_DENSE_PACK_H

#include "dialects/Tenon/Tenon.h"

namespace tenon::kernels::dense {

/// The one schedule of a copy.
llvm::SmallVector<mlir::DictionaryAttr> rankPackSchedules(spec::PackOp op);

/// Writes the plan and the kernel of a copy.
mlir::LogicalResult lowerPack(spec::PackOp op, mlir::DictionaryAttr schedule,
                              llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::dense

#endif // TENON_LIB_KERNELS_DENSE_PACK_H
