//===- ScanOp.td - sums of the elements up to each ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_SCANOP_TD
#define TENON_DIALECTS_TILE_SCANOP_TD

include "dialects/Tile/TileOp.td"

def Tile_ScanOp : Tile_Op<"scan", [Pure, AllTypesMatch<["source", "result"]>]> {
  let summary = "The sum of the elements of a tile up to each, and of all";
  let description = [{
    Element `i` of the result is the sum of the elements 0 to i of the source; with
    `exclusive` of those before i. The tile is i32 of one dimension; sums are modulo
    2^32. `total` is the sum of all elements. Of elements that are 0 or 1 an exclusive
    scan is the place of each 1 among them: what compacts a list.

    The extent is a multiple of the number of threads of the kernel, and a thread holds
    elements side by side (`tenon::tile::scanLayout`).

    All waves take part and meet in between, so the operation cannot stand where only
    some come by. Of several waves the sums go through `buffer`, LDS that
    `tile-assign-layouts` sets aside.

    ```mlir
    %place, %count = tile.scan %is_chosen exclusive : tensor<1024xi32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, UnitAttr:$exclusive,
                       Optional<Tile_LdsType>:$buffer);
  let results = (outs Tile_Tensor:$result, I32:$total);
  let assemblyFormat = [{
    $source (`exclusive` $exclusive^)? (`through` $buffer^ `:` type($buffer))?
    attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$source, "bool":$exclusive), [{
    build($_builder, $_state, source.getType(), $_builder.getI32Type(), source,
          exclusive, /*buffer=*/::mlir::Value());
  }]>];
  let extraClassDeclaration = [{
    /// The buffer that the sums of `waves` waves go through.
    static ::tenon::tile::LdsType bufferType(::mlir::MLIRContext *context,
                                             int64_t waves);
  }];
}

#endif // TENON_DIALECTS_TILE_SCANOP_TD
