//===- MemoryOps.td - accesses to device memory ------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_MEMORYOPS_TD
#define TENON_DIALECTS_TILE_MEMORYOPS_TD

include "dialects/Tile/TileOp.td"

def Tile_AdvanceOp : Tile_Op<"advance", [Pure, AllTypesMatch<["pointer", "result"]>]> {
  let summary = "A pointer moved by a number of bytes";
  let description = [{
    The offset is a uniform `i64` in bytes: pools larger than 4 GiB are reached
    by advancing the base, never by a 32-bit offset.
  }];
  let arguments = (ins Tile_PtrType:$pointer, I64:$bytes);
  let results = (outs Tile_PtrType:$result);
  let assemblyFormat = "$pointer `by` $bytes attr-dict `:` type($pointer)";
}

def Tile_ViewOp : Tile_Op<"view", [Pure]> {
  let summary = "A bounded, strided window at a pointer";
  let description = [{
    Element `[i, j, ...]` lies `i*strides[0] + j*strides[1] + ...` elements
    after the pointer. `bytes` is the number of bytes that may be reached:
    a read at or beyond it gives zeros, a write there is dropped (a view of 0
    bytes is legal and reads as zeros). It must be below 2^31.

    ```mlir
    %v = tile.view %p strides [%s, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
    ```

    A dimension may be *blocked*: `16 of 8 then %s` puts index `i` at
    `(i mod 16) * 8 + (i div 16) * s`, and `16 of 4 then 2 of 1 then %s` puts it at
    `(i mod 16) * 4 + (i div 16 mod 2) * 1 + (i div 32) * s`. The extents of blocks
    are powers of two. This is a view of weights [n, k] of which 16 bytes (8
    elements) along k lie together, then those of 16 rows:

    ```mlir
    %w = tile.view %p strides [16 of 8 then %s, 8 of 1 then 128] bytes %n
        : !tile.ptr<bf16> -> !tile.view<2 x bf16>
    ```
  }];
  let arguments = (ins Tile_PtrType:$pointer, Variadic<I32>:$strides,
                       DenseI64ArrayAttr:$static_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$blocks, I32:$bytes);
  let results = (outs Tile_ViewType:$result);
  let assemblyFormat = [{
    $pointer `strides` custom<ViewStrides>($strides, $static_strides, $blocks)
    `bytes` $bytes attr-dict `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$pointer,
      "::mlir::ArrayRef<::mlir::OpFoldResult>":$strides, "::mlir::Value":$bytes,
      CArg<"::mlir::ArrayRef<int64_t>", "{}">:$blocks)>];
  let extraClassDeclaration = [{
    // `blocks` has an entry per stride: the extent of the block that the stride
    // steps through, 0 for the last stride of a dimension. Without it every
    // dimension has one stride.

    /// The strides in elements, constants as attributes; those of a blocked
    /// dimension one behind the other, the innermost first.
    ::mlir::SmallVector<::mlir::OpFoldResult> getMixedStrides();
    /// Of every dimension the extents of its blocks, the innermost first.
    ::mlir::SmallVector<::mlir::SmallVector<int64_t, 2>> getDimBlocks();
    /// How many elements lie side by side along dimension `dim`: 1 unless its
    /// innermost stride is 1, then a block of them, or all.
    int64_t getRunAlong(unsigned dim);
  }];
}

def Tile_LoadScalarOp : Tile_Op<"load_scalar", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads one uniform 32-bit scalar through the scalar cache";
  let description = [{
    The location must not be written by the launch that reads it.
  }];
  let arguments = (ins Tile_PtrType:$pointer);
  let results = (outs AnyTypeOf<[I32, F32]>:$result);
  let assemblyFormat = "$pointer attr-dict `:` type($pointer) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_LoadOp : Tile_Op<"load", [MemoryEffects<[MemRead]>,
                                   AttrSizedOperandSegments]> {
  let summary = "Reads a tile from a view";
  let description = [{
    The tile's element `[i, ...]` is the view's element `[offset + i, ...]`.
    `nontemporal` marks data that are read once. With `limits`, one per
    dimension, elements at or beyond the limit of a dimension (in elements of
    the view, at most 2^31 - 1, which is no limit) read as zeros without an
    access. `limit_divisors` promises what each limit is a multiple of, which
    keeps accesses wide; 1 where it is not given. With `staged` all waves copy the
    tile into LDS together and read it from there; `tile-assign-layouts` makes that
    explicit.
    With `rows`, an i32 tile of the extent of dimension 0, the tile's element
    `[i, j, ...]` is the view's element `[rows[i], offset + j, ...]`: rows that lie
    anywhere. Dimension 0 is not blocked then, and its offset is 0; a negative row
    reads as zeros, as one beyond the bound does.
    With `far` as well, each row is a window of its own: the bound counts from the
    begin of the row, and rows may lie 2^31 bytes and more apart. A row is the same
    for all lanes of a wave then, which the layout has to see to: dimension 0 lies in
    registers and waves.
    With `coherent` the access goes past the caches that only a part of the chip
    shares, for data that other workgroups of the same launch write; `tile.arrive`
    orders such accesses.

    ```mlir
    %t = tile.load %v[%i] : !tile.view<1 x bf16> -> tensor<128xbf16>
    %g = tile.load %w[%c0, %k] rows %r : tensor<16xi32>
        : !tile.view<2 x bf16> -> tensor<16x128xbf16>
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I32>:$offsets,
                       Variadic<I32>:$limits,
                       Optional<Tile_Tensor>:$rows,
                       OptionalAttr<DenseI64ArrayAttr>:$limit_divisors,
                       UnitAttr:$nontemporal, UnitAttr:$staged,
                       UnitAttr:$coherent, UnitAttr:$far);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $view `[` $offsets `]` (`rows` $rows^ `:` type($rows))?
    (`within` `[` $limits^ `]`)? attr-dict `:` type($view)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [MemoryEffects<[MemWrite]>,
                                     AttrSizedOperandSegments]> {
  let summary = "Writes a tile to a view";
  let description = [{
    Where the tile's layout replicates an element, one owner writes it.
    `limits` are as for `tile.load`: elements at or beyond are not written.
    With `rows` the elements `[i, j, ...]` are written to the view's row `rows[i]`,
    as `tile.load` reads them, with `far` too; a negative row is not written. Rows
    that are written are different ones.
    With `coherent` the access goes past the caches that only a part of the chip
    shares, for data that other workgroups of the same launch read; `tile.arrive`
    orders such accesses.
    With `accumulate` the elements are added to those in memory, by atomics where all
    dies meet: f32, or pairs of bf16 that a lane holds side by side, each sum rounded
    to the element type. Rows may be the same ones then. Additions to one element come
    in any order, so that results differ from run to run.
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_ViewType:$view,
                       Variadic<I32>:$offsets, Variadic<I32>:$limits,
                       Optional<Tile_Tensor>:$rows,
                       OptionalAttr<DenseI64ArrayAttr>:$limit_divisors,
                       UnitAttr:$nontemporal, UnitAttr:$coherent,
                       UnitAttr:$far, UnitAttr:$accumulate);
  let assemblyFormat = [{
    $value `,` $view `[` $offsets `]` (`rows` $rows^ `:` type($rows))?
    (`within` `[` $limits^ `]`)? attr-dict `:` type($value) `,` type($view)
  }];
  let hasVerifier = 1;
}

def Tile_ArriveOp : Tile_Op<"arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Counts the workgroups that have come to a point";
  let description = [{
    Adds one to a counter in device memory that `count` workgroups share, and says
    how many have been there before: the one that finds `count - 1` is the last. It
    leaves zero, so that the counter can be used again. `count` is at least 1 and
    the same for all.

    Coherent stores of all waves before it are visible to coherent loads of a
    workgroup that arrives later, behind its own `tile.arrive`. Nothing else is:
    no cache is written back or invalidated.

    The result reaches the waves through `buffer`, 4 bytes of LDS that
    `tile-assign-layouts` sets aside where there is more than one wave.

    ```mlir
    %before = tile.arrive %counter of %c4 : !tile.ptr<i32>
    %last = arith.cmpi eq, %before, %c3 : i32
    scf.if %last {
    ```
  }];
  let arguments = (ins Tile_PtrType:$counter,
                       I32:$count,
                       Optional<Tile_LdsType>:$buffer);
  let results = (outs I32:$before);
  let assemblyFormat = [{
    $counter `of` $count (`through` $buffer^ `:` type($buffer))? attr-dict `:`
    type($counter)
  }];
  let hasVerifier = 1;
}

def Tile_OrderFenceOp : Tile_Op<"order_fence", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Keeps the order of memory accesses across this point";
  let description = [{
    No vector-memory access and no matrix product moves across it, in either
    direction. It costs no instruction and waits for nothing: vector loads return
    in order, so the order of issue decides what a later wait has to cover. A
    product that moved up between loads would wait for its operands there, and
    hold up the loads behind it.
  }];
  let assemblyFormat = "attr-dict";
}

#endif // TENON_DIALECTS_TILE_MEMORYOPS_TD
