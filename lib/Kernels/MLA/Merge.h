//===- Merge.h - the kernels of tenon.mla_merge and mla_scale ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_MLA_MERGE_H
#define TENON_LIB_KERNELS_MLA_MERGE_H

#include "dialects/Tenon/Tenon.h"

namespace tenon::kernels::mla {

/// The one schedule of a merge or of a scaling.
llvm::SmallVector<mlir::DictionaryAttr>
rankMergeSchedules(spec::SpecOpInterface op);

/// Writes the plan and the kernel of a tenon.mla_merge or tenon.mla_scale.
mlir::LogicalResult lowerMerge(spec::SpecOpInterface op,
                               mlir::DictionaryAttr schedule,
                               llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels::mla

#endif // TENON_LIB_KERNELS_MLA_MERGE_H
