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

def Tile_LdsLayoutAttr : Tile_Attr<"LdsLayout", "lds_layout"> {
  let summary = "Where each element of a tile lies in LDS";
  let description = [{
    The map from element coordinates to byte addresses of an LDS buffer
    (`tenon::layout::LdsLayout`): one stride per dimension in elements, a swizzle
    and padding. A swizzle is a list of coordinate bits that, when set, flip bits
    of the byte address; it stays within aligned blocks that no step along the
    swizzling dimension divides, so that rows of 384 bytes are as good as rows
    of 256. Strides may leave gaps.

    ```mlir
    // 128 rows of 64 elements of 2 bytes; bits 1 to 3 of the row flip the
    // address in steps of 16 bytes.
    #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
      swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32, bit 3 of 0 flips 64]>
    // 64 unused bytes after every 1024.
    #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1], padding = 64 after 1024>
    ```
  }];
  let parameters = (ins AttrParameter<"::tenon::layout::LdsLayout", "the map">:$layout);
  let hasCustomAssemblyFormat = 1;
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
