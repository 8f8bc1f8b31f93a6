//===- Groups.h - how the chunks of a sequence are grouped ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of chunks are walked at the same time: from zero first, with the map
// that a group's chunks are to the state, then, once a scan over the groups has
// found the state at the beginning of each, for good. A sequence is cut on the
// device, by its own length, into at most as many groups as the launch has room
// for.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_LIB_KERNELS_KDA_GROUPS_H
#define TENON_LIB_KERNELS_KDA_GROUPS_H

#include "../TileBuilder.h"

namespace tenon::kernels::kda {

/// The groups of one sequence, i32: group g is chunks g * each .. (g + 1) *
/// each, as far as there are any.
struct Groups {
  mlir::Value each; ///< chunks per group
  mlir::Value used; ///< groups, at least 1
};

/// Cuts \p chunks chunks into at most \p groups (i32, at least 1) of at least
/// \p leastChunks (i32).
Groups groupsOf(TileBuilder &t, mlir::Value chunks, mlir::Value groups,
                mlir::Value leastChunks);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_GROUPS_H
