//===- TileAttrs.td - attributes of the tile dialect ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILEATTRS_TD
#define TENON_DIALECTS_TILE_TILEATTRS_TD

include "dialects/Tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/EnumAttr.td"

class Tile_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Tile_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Tile_LayoutAttr : Tile_Attr<"Layout", "layout",
    [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "Where each element of a tile is held";
  let description = [{
    The encoding of a placed tile: a map from (register, lane, wave) to element
    coordinates (`tenon::layout::Layout`). Bases are listed per bit of the
    hardware coordinate, lowest bit first, one coordinate vector each; a zero
    vector means that the bit only replicates. Outer modes of any integer extent
    follow as `outer = [register 3 * 128 along 0]`: a digit of extent 3 of the
    register (or wave) index, one step of which is 128 elements along dimension 0.

    ```mlir
    // 128 rows of 128: a lane holds 4 + 4 columns of 8 rows.
    #tile.layout<[128, 128],
      register = [[0, 1], [0, 2], [0, 64], [1, 0], [2, 0], [4, 0]],
      lane = [[0, 4], [0, 8], [0, 16], [0, 32], [8, 0], [16, 0]],
      wave = [[32, 0], [64, 0]]>
    ```
  }];
  let parameters = (ins AttrParameter<"::tenon::layout::Layout", "the map">:$layout);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// Whether a lane has registers for its share of the tile.
    bool fitsRegisters() const;
  }];
}

def Tile_TargetAttr : Tile_Attr<"Target", "target"> {
  let summary = "The chip a module is compiled for";
  let description = [{
    Attached to a module as `tile.target`. Passes ask `getInfo()` for
    capabilities and never compare the name.
  }];
  let parameters = (ins StringRefParameter<"chip, such as gfx950">:$chip);
  let assemblyFormat = "`<` $chip `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The facts of the chip; the verifier has checked that it is known.
    ::tenon::target::TargetInfo getInfo() const;
  }];
}

def Tile_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::tenon::tile";
  let genSpecializedAttr = 0;
}
def Tile_ReduceKindAttr : EnumAttr<Tile_Dialect, Tile_ReduceKind, "reduce_kind">;

#endif // TENON_DIALECTS_TILE_TILEATTRS_TD
