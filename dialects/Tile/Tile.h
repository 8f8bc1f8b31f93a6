//===- Tile.h - the tile dialect --------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILE_H
#define TENON_DIALECTS_TILE_TILE_H

#include "tenon/Layout/BankConflicts.h"
#include "tenon/Layout/LdsLayout.h"
#include "tenon/Layout/Mfma.h"
#include "tenon/Target/TargetInfo.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Tile/TileDialect.h.inc"
#include "dialects/Tile/TileEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/TileAttrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/TileTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/Tile/TileOps.h.inc"

namespace tenon::tile {

/// The layout of a placed tile, or null.
LayoutAttr getLayout(mlir::Type type);

/// \p type with the given layout (null: not placed).
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// The MFMA format of tiles of \p type, or nothing when no MFMA takes it.
std::optional<layout::MfmaFormat> mfmaFormat(mlir::Type type);

/// The allocation of an LDS buffer, or of the one that it is a stage of; null
/// when \p buffer comes from elsewhere (through a loop).
AllocLdsOp allocationOf(mlir::Value buffer);

/// Where the \p count results of tile.top_k lie in a kernel of \p waves waves.
layout::Layout topKLayout(int64_t count, int64_t waves);

/// Where the elements of tile.scan lie in a kernel of \p waves waves. The
/// extent is a multiple of the number of its threads.
layout::Layout scanLayout(int64_t extent, int64_t waves);

/// Where the threads of \p kernel need the rows of a tile of \p shape and
/// \p element that tile.copy_to_lds gathers. Emits an error at \p op where rows
/// are not cut by lanes and instructions at powers of two.
mlir::FailureOr<layout::Layout> copyRowsLayout(mlir::Operation *op,
                                               llvm::ArrayRef<int64_t> shape,
                                               mlir::Type element);

/// How a chip serves LDS accesses, for the layout algebra.
layout::BankRules ldsBankRules(const target::TargetInfo &target);

/// The target of the module that holds \p op; emits an error when the module
/// has no `tile.target`.
mlir::FailureOr<target::TargetInfo> getTarget(mlir::Operation *op);

} // namespace tenon::tile

#endif // TENON_DIALECTS_TILE_TILE_H
