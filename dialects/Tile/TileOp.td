//===- TileOp.td - what operations of the tile dialect share *- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILEOP_TD
#define TENON_DIALECTS_TILE_TILEOP_TD

include "dialects/Tile/TileAttrs.td"
include "dialects/Tile/TileDialect.td"
include "dialects/Tile/TileTypes.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

class Tile_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, opMnemonic, traits>;

/// A tile: a ranked tensor of static shape.
def Tile_Tensor : StaticShapeTensorOf<[AnyType]>;
/// A scalar that is the same in every lane of the workgroup.
def Tile_Uniform : AnyTypeOf<[I1, I32, I64, F32]>;

#endif // TENON_DIALECTS_TILE_TILEOP_TD
