//===- ViewStrides.h - how the strides of a view are written ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of tile.view's syntax that TableGen has no words for: `[%s, 1]`, and
// `16 of 8 then %s` for a blocked dimension.
//
//===----------------------------------------------------------------------===//

#ifndef TENON_DIALECTS_TILE_VIEWSTRIDES_H
#define TENON_DIALECTS_TILE_VIEWSTRIDES_H

#include "dialects/Tile/Tile.h"

#include "mlir/IR/OpImplementation.h"

namespace tenon::tile {

mlir::ParseResult parseViewStrides(
    mlir::OpAsmParser &parser,
    llvm::SmallVectorImpl<mlir::OpAsmParser::UnresolvedOperand> &strides,
    mlir::DenseI64ArrayAttr &staticStrides, mlir::DenseI64ArrayAttr &blocks);

void printViewStrides(mlir::OpAsmPrinter &printer, ViewOp op,
                      mlir::OperandRange strides,
                      mlir::DenseI64ArrayAttr staticStrides,
                      mlir::DenseI64ArrayAttr blocks);

} // namespace tenon::tile

#endif // TENON_DIALECTS_TILE_VIEWSTRIDES_H
