//===- TileTypes.td - types of the tile dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILETYPES_TD
#define TENON_DIALECTS_TILE_TILETYPES_TD

include "dialects/Tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"

class Tile_Type<string name, string typeMnemonic> : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "A uniform 64-bit pointer into device memory";
  let parameters = (ins "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $elementType `>`";
  let genVerifyDecl = 1;
}

def Tile_ViewType : Tile_Type<"View", "view"> {
  let summary = "A bounded, strided window into device memory";
  let description = [{
    Made by `tile.view`. `!tile.view<2 x bf16>` is a view of rank 2.
  }];
  let parameters = (ins "int64_t":$rank, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $rank `x` $elementType `>`";
  let genVerifyDecl = 1;
}

def Tile_LdsType : Tile_Type<"Lds", "lds"> {
  let summary = "A buffer in LDS that holds one tile, row-major";
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Bytes that the buffer occupies.
    int64_t getBytes() const;
  }];
}

#endif // TENON_DIALECTS_TILE_TILETYPES_TD
