//===- History.h - where the inputs of the convolution wait -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_HISTORY_H
#define TENON_LIB_KERNELS_KDA_HISTORY_H

#include "../PlanBuilder.h"
#include "../TileBuilder.h"

namespace tenon::kernels::kda {

/// Requires of operand conv_state what the kernels of \p heads heads take for
/// granted; returns its L.
mlir::Value requireHistory(PlanBuilder &plan, spec::ConvLayout layout,
                           int64_t heads);

/// Element (channel, column) of a slot of conv_state, from a head's first
/// channel of q on.
struct HistoryWindow {
  mlir::OpFoldResult channelStride, columnStride;

  mlir::Value reach; ///< i32, bytes to the head's last channel of v
};

/// \p columns is L (i32), which layout `sd` does not ask for.
HistoryWindow historyWindow(TileBuilder &t, spec::ConvLayout layout,
                            int64_t heads, mlir::Value columns);

/// Where the window of \p head begins in \p slot, of the kernel's arguments
/// `conv_state`, `conv_state_stride` and, with layout `ds`, `columns`.
mlir::Value historyPointer(TileBuilder &t, spec::ConvLayout layout,
                           const llvm::StringMap<mlir::Value> &args,
                           mlir::Value slot, mlir::Value head);

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_HISTORY_H
