//===- RearrangeOps.td - values, shapes and sums of tiles ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_REARRANGEOPS_TD
#define TENON_DIALECTS_TILE_REARRANGEOPS_TD

include "dialects/Tile/TileOp.td"

def Tile_SplatOp : Tile_Op<"splat", [Pure]> {
  let summary = "A tile whose elements all equal a uniform scalar";
  let arguments = (ins Tile_Uniform:$scalar);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$scalar attr-dict `:` type($scalar) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_UniformOp : Tile_Op<"uniform", [Pure,
    TypesMatchWith<"the result is of the tile's element type", "source", "result",
                   "::llvm::cast<::mlir::RankedTensorType>($_self).getElementType()">]> {
  let summary = "The element of a tile of rank 0 as a uniform scalar";
  let description = [{
    All threads of the workgroup must hold the same bits, as they do of what every wave
    reduces alike: a scalar register takes those of the wave's first thread. Addresses,
    bounds and loops can depend on it.

    ```mlir
    %most = tile.reduce max %lengths dims [0] : tensor<64xf32> -> tensor<f32>
    %end = tile.uniform %most : tensor<f32>
    ```
  }];
  let arguments = (ins 0DTensorOf<[I32, F32]>:$source);
  let results = (outs AnyTypeOf<[I32, F32]>:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}

def Tile_IotaOp : Tile_Op<"iota", [Pure]> {
  let summary = "A tile whose elements are their own coordinates";
  let description = [{
    Element `[i, j, ...]` is the coordinate along `dim`: masks of what lies above a
    diagonal or beyond an end are comparisons of such tiles.

    ```mlir
    %row = tile.iota dim 0 : tensor<64x64xi32>
    %column = tile.iota dim 1 : tensor<64x64xi32>
    %below = arith.cmpi slt, %column, %row : tensor<64x64xi32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs StaticShapeTensorOf<[I32]>:$result);
  let assemblyFormat = "`dim` $dim attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_TransposeOp : Tile_Op<"transpose", [Pure]> {
  let summary = "A tile with its dimensions in another order";
  let description = [{
    Dimension `i` of the result is dimension `permutation[i]` of the source. It
    costs nothing: the elements stay where they are, under other coordinates.

    ```mlir
    %t = tile.transpose %a [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, DenseI64ArrayAttr:$permutation);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source $permutation attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::SmallVector<unsigned> getOrder();
    /// The permutation that undoes this one.
    ::mlir::SmallVector<unsigned> getInverseOrder();
  }];
}

def Tile_BroadcastOp : Tile_Op<"broadcast", [Pure]> {
  let summary = "Repeats a tile along new dimensions";
  let description = [{
    `dims` names the result dimensions that the source dimensions become, in
    increasing order; along the others the source is repeated. In place when the
    source has the result's layout sliced to `dims`.

    ```mlir
    %b = tile.broadcast %k dims [1] : tensor<128xf32> -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source `dims` $dims attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The result dimensions along which the source is repeated.
    ::mlir::SmallVector<unsigned> getRepeatedDims();
  }];
}

def Tile_SplitOp : Tile_Op<"split", [Pure]> {
  let summary = "A dimension of a tile cut into blocks";
  let description = [{
    Dimension `dim` becomes two, the elements within a block and the blocks:
    element `[..., i, j, ...]` of the result is element `[..., i + j * block, ...]`
    of the source. `block` is a power of two. Nothing moves: the result's layout
    is that of the source with its dimension cut.

    ```mlir
    %s = tile.split %x dim 0 block 32 : tensor<128x64xf32> -> tensor<32x4x64xf32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$source, I64Attr:$dim, I64Attr:$block);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $source `dim` $dim `block` $block attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The layout of the result of a source laid out as \p source.
    ::llvm::Expected<::tenon::layout::Layout>
    splitLayout(const ::tenon::layout::Layout &source);
  }];
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "One slice of a tile at a static index";
  let description = [{
    Drops dimension `dim` at `index`. The dimension must lie in registers.
  }];
  let arguments = (ins Tile_Tensor:$source, I64Attr:$dim, I64Attr:$index);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $source `dim` $dim `at` $index attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StackOp : Tile_Op<"stack", [Pure]> {
  let summary = "Tiles side by side along a new dimension";
  let description = [{
    The inverse of `tile.extract`: slice `i` along dimension `dim` of the result
    is operand `i`. The new dimension lies in registers.
  }];
  let arguments = (ins Variadic<Tile_Tensor>:$sources, I64Attr:$dim);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $sources `dim` $dim attr-dict `:` type($sources) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_ReduceOp : Tile_Op<"reduce", [Pure]> {
  let summary = "Combines the elements of a tile along some dimensions";
  let description = [{
    Elements are `f32`, or `i32`, of which `max` is that of signed numbers. The order
    is fixed by the layout and is part of the kernel's numbers:
    registers in ascending order (as two interleaved chains where the lowest
    register bit runs along a reduced dimension), then lanes. The result has the
    operand's layout without the reduced dimensions; then all lanes end with the
    same bits. Or it has that layout with register bits moved to lane bits that
    the reduction frees (`tenon::layout::scatter`): the lanes share the results
    out, which halves the work per moved bit. Lane bits are combined from the
    highest down, moved or not.
  }];
  let arguments = (ins Tile_ReduceKindAttr:$kind, Tile_Tensor:$source,
                       DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $kind $source `dims` $dims attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::SmallVector<unsigned> getReducedDims();
  }];
}

def Tile_TopKOp : Tile_Op<"top_k", [Pure]> {
  let summary = "The greatest elements of a tile, in order";
  let description = [{
    Element `i` of the results is the i-th greatest of the f32 values (one dimension)
    and its id: in descending order, of equal ones first that of the lower id, and NaN
    behind all numbers. -0 equals 0 and comes back as 0. Ids are different and not
    negative. The results have as many elements, a power of two up to 64 and not more
    than there are values; element `i` lies in lane `i` of every wave
    (`tenon::tile::topKLayout`).

    All waves take part and meet in between, so the operation cannot stand where only
    some come by. They exchange values through `buffer`, LDS that
    `tile-assign-layouts` sets aside.

    How long it takes depends on the values: of groups of them, all that are at least
    the smallest of the groups' fourth greatest (second; of one result, greatest) are
    compared with each other.

    ```mlir
    %best, %which = tile.top_k %v, %i
        : tensor<1024xf32>, tensor<1024xi32> -> tensor<16xf32>, tensor<16xi32>
    ```
  }];
  let arguments = (ins Tile_Tensor:$values, Tile_Tensor:$ids,
                       Optional<Tile_LdsType>:$buffer);
  let results = (outs Tile_Tensor:$greatest, Tile_Tensor:$chosen);
  let assemblyFormat = [{
    $values `,` $ids (`through` $buffer^ `:` type($buffer))? attr-dict `:`
    type($values) `,` type($ids) `->` type($greatest) `,` type($chosen)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The buffer that values of this layout are exchanged through.
    static ::tenon::tile::LdsType bufferType(::mlir::MLIRContext *context,
                                             const ::tenon::layout::Layout &values,
                                             int64_t count);
  }];
}

def Tile_DotOp : Tile_Op<"dot", [Pure, SameTypeOperands]> {
  let summary = "Sums the products of two tiles along some dimensions";
  let description = [{
    As `tile.reduce add` of the product, but each product enters its chain by a
    fused multiply-add; the first of a chain is a plain product.
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs, DenseI64ArrayAttr:$dims);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `dims` $dims attr-dict `:` type($lhs) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::SmallVector<unsigned> getReducedDims();
  }];
}

def Tile_ConvertLayoutOp : Tile_Op<"convert_layout", [Pure]> {
  let summary = "The same tile in another layout";
  let description = [{
    The result type's encoding is an anchor: `tile-assign-layouts` keeps it and
    decides how the elements get there (in place, by renaming registers, or
    through LDS).
  }];
  let arguments = (ins Tile_Tensor:$source);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = "$source attr-dict `:` type($source) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TENON_DIALECTS_TILE_REARRANGEOPS_TD
