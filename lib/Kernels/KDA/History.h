//===- History.h - where the inputs of the convolution wait -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_LIB_KERNELS_KDA_HISTORY_H
#define TENON_LIB_KERNELS_KDA_HISTORY_H

#include "../PlanBuilder.h"
#include "../TileBuilder.h"

namespace tenon::kernels::kda {

/// Requires of \p operand, conv_state or like it, what the kernels of \p heads
/// heads take for granted; returns its L.
mlir::Value requireHistory(PlanBuilder &plan, spec::ConvLayout layout,
                           int64_t heads,
                           llvm::StringRef operand = "conv_state");

/// Element (channel, column) of a slot of conv_state, from a head's first
/// channel of q on.
struct HistoryWindow {
  mlir::OpFoldResult channelStride, columnStride;

  mlir::Value reach; ///< i32, bytes to the head's last channel of v
};

/// \p columns is L (i32), which layout `sd` does not ask for.
HistoryWindow historyWindow(TileBuilder &t, spec::ConvLayout layout,
                            int64_t heads, mlir::Value columns);

/// Where the window of \p head begins in \p slot of \p operand, of the kernel's
/// arguments `OPERAND` and `OPERAND_stride`. \p columns as for the window.
mlir::Value historyPointer(TileBuilder &t, spec::ConvLayout layout,
                           const llvm::StringMap<mlir::Value> &args,
                           mlir::Value columns, mlir::Value slot,
                           mlir::Value head,
                           llvm::StringRef operand = "conv_state");

} // namespace tenon::kernels::kda

#endif // TENON_LIB_KERNELS_KDA_HISTORY_H
