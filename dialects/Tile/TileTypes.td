//===- TileTypes.td - types of the tile dialect -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILETYPES_TD
#define TENON_DIALECTS_TILE_TILETYPES_TD

include "dialects/Tile/TileAttrs.td"
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
  let summary = "A buffer in LDS that holds one tile, or several stages of it";
  let description = [{
    Row-major unless the type carries a `#tile.lds_layout`. With `stages` it has
    room for that many tiles one behind the other, of which `tile.lds_stage`
    picks one.

    ```mlir
    !tile.lds<128x64xbf16>
    !tile.lds<128x64xbf16, #tile.lds_layout<...>, stages = 3>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape,
                        "::mlir::Type":$elementType,
                        "::tenon::tile::LdsLayoutAttr":$layout,
                        "int64_t":$stages);
  let builders = [TypeBuilder<(ins "::llvm::ArrayRef<int64_t>":$shape,
      "::mlir::Type":$elementType), [{
        return $_get($_ctxt, shape, elementType, LdsLayoutAttr(), int64_t(1));
      }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Where the elements of a stage lie.
    ::tenon::layout::LdsLayout getLdsLayout() const;
    /// The buffer of one stage.
    LdsType getStageType() const;
    /// Bytes from one stage to the next, a multiple of the widest access.
    int64_t getStageBytes() const;
    /// Bytes that the buffer occupies, all stages together.
    int64_t getBytes() const;
  }];
}

def Tile_TokenType : Tile_Type<"Token", "token"> {
  let summary = "A copy on its way into LDS";
  let description = [{
    Made by `tile.copy_to_lds`, consumed by `tile.wait_copies`. It exists at
    compile time alone, and may be carried through a loop.
  }];
}

#endif // TENON_DIALECTS_TILE_TILETYPES_TD
