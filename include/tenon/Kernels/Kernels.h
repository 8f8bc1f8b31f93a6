//===- Kernels.h - from a tenon op to tile programs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every tenon op has a family folder below lib/Kernels that ranks its schedules
// and writes its tile programs and its launch plan. This header is how the
// passes reach them.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_KERNELS_KERNELS_H
#define TENON_KERNELS_KERNELS_H

#include "dialects/Tenon/Tenon.h"
#include "tenon/Target/TargetInfo.h"

namespace tenon::kernels {

/// The legal schedules of \p op on \p target, the one expected to be fastest
/// first. A schedule is a dictionary of the parameters of the op's family.
/// Emits an error and fails for an op that no family knows.
mlir::FailureOr<llvm::SmallVector<mlir::DictionaryAttr>>
rankSchedules(spec::SpecOpInterface op, const target::TargetInfo &target);

/// Writes the launch plan `@name` and the kernels that it launches at the
/// insertion point of \p builder. Emits an error and fails when \p schedule
/// does not fit the op.
mlir::LogicalResult lowerToTile(spec::SpecOpInterface op,
                                mlir::DictionaryAttr schedule,
                                llvm::StringRef name, mlir::OpBuilder &builder);

} // namespace tenon::kernels

#endif // TENON_KERNELS_KERNELS_H
