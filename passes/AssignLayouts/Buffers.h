//===- Buffers.h - LDS layouts of buffers that copies fill ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_PASSES_ASSIGNLAYOUTS_BUFFERS_H
#define TENON_PASSES_ASSIGNLAYOUTS_BUFFERS_H

#include "dialects/Tile/Tile.h"

namespace tenon::assign {

/// Gives each LDS buffer of rank 2 whose type has no layout, and which
/// tile.copy_to_lds fills, the layout without bank conflicts that its placed
/// readers want, by setting its type and that of its stages. A buffer for which
/// there is none stays row-major, with a remark.
mlir::LogicalResult placeBuffers(tile::KernelOp kernel);

/// The type of the LDS buffer through which a tile of \p type goes from the
/// layout \p from to the layouts \p to: of row-major and of swizzled buffers
/// the one with the fewest bank conflicts. Emits an error at \p op and fails
/// where there is none for such elements.
mlir::FailureOr<tile::LdsType>
exchangeBuffer(mlir::Operation *op, mlir::RankedTensorType type,
               const layout::Layout &from, llvm::ArrayRef<layout::Layout> to);

/// Gives every tile.top_k, and every tile.arrive of a kernel with several
/// waves, the LDS through which waves learn what the others have.
void giveExchangesBuffers(tile::KernelOp kernel);

} // namespace tenon::assign

#endif // TENON_PASSES_ASSIGNLAYOUTS_BUFFERS_H
