//===- TileOps.td - operations of the tile dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_TILEOPS_TD
#define TENON_DIALECTS_TILE_TILEOPS_TD

include "dialects/Tile/ScaleOps.td"
include "dialects/Tile/ScanOp.td"
include "dialects/Tile/TileOp.td"

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

def Tile_KernelOp : Tile_Op<"kernel", [FunctionOpInterface, IsolatedFromAbove,
                                       AutomaticAllocationScope]> {
  let summary = "The program of one workgroup";
  let description = [{
    Arguments are pointers (`!tile.ptr`) and uniform scalars (`i32`, `i64`,
    `f32`), laid out in the kernarg segment in order, each at its own alignment.
    `waves` is the number of waves of 64 lanes. `lds_bytes` appears when
    `tile-plan-lds` has placed the LDS buffers. `waves_per_simd` asks the register
    allocator to leave room for that many waves on each SIMD; `scheduler` names
    the back end's strategy for the order of instructions (`max-ilp` and others).
    With `agprs` matrix products keep their sums in accumulation registers, of
    which at least so many are set aside; else in the others. `pinned` keeps matrix
    instructions in the order of the program, each where it stands among all others.
    The first `preload` arguments arrive in registers, as many of them as there is
    room for (16 SGPRs less the pointer to all): no load of arguments is waited
    for then, if the first accesses need no others.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       ConfinedAttr<I32Attr, [IntPositive, IntMaxValue<16>]>:$waves,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$lds_bytes,
                       OptionalAttr<I32Attr>:$waves_per_simd,
                       OptionalAttr<StrAttr>:$scheduler,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative]>>:$preload,
                       OptionalAttr<ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<256>]>>:$agprs,
                       UnitAttr:$pinned,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region MinSizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Emits an error and fails unless the body is one block whose only control
    /// flow are `scf.for` loops, counted in `i32`, and `scf.if` without results.
    ::mlir::LogicalResult requireStructured();
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "Ends a kernel";
  let assemblyFormat = "attr-dict";
}

def Tile_WorkgroupIdOp : Tile_Op<"workgroup_id", [Pure]> {
  let summary = "The workgroup's index along x (0), y (1) or z (2)";
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$dim);
  let results = (outs I32:$result);
  let assemblyFormat = "$dim attr-dict";
}

//===----------------------------------------------------------------------===//
// Device memory
//===----------------------------------------------------------------------===//

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
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_ViewType:$view,
                       Variadic<I32>:$offsets, Variadic<I32>:$limits,
                       Optional<Tile_Tensor>:$rows,
                       OptionalAttr<DenseI64ArrayAttr>:$limit_divisors,
                       UnitAttr:$nontemporal, UnitAttr:$coherent,
                       UnitAttr:$far);
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

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

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

    How long it takes depends on the values: all that are at least the smallest
    maximum of as many groups of them are compared with each other.

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

def Tile_MmaOp : Tile_Op<"mma", [Pure, AttrSizedOperandSegments,
                                 AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "Adds the matrix product of two tiles to a third, on the matrix cores";
  let description = [{
    `result[m, n] = accumulator[m, n] + sum over k of lhs[m, k] * rhs[k, n]`,
    with FP32 accumulators. `instruction` names the MFMA instruction as
    `[mn, k]` (`[16, 32]` is v_mfma_f32_16x16x32); `tile-select-precision` sets
    it. `waves` says how the kernel's waves share the rows and the columns of
    the result; `tile-assign-layouts` chooses where it is absent. The layouts of
    the operands follow from that of the accumulator
    (`tenon::layout::mfmaOperands`).

    An operand of `i8` holds FP4 (E2M1), two values along k per byte, the first in
    the low bits: half as many along k.

    `lhs_scale` [m, blocks] and `rhs_scale` [blocks, n] hold an E8M0 scale for each
    32 values along k, by which these are multiplied; an operand without stays as
    it is. The product takes the blocks from `scale_begin` on. Scaled products are
    those of FP8 and FP4 operands.

    `contraction = [run, steps]` says which values of k an instruction takes: those
    `run` apart in the instruction are `run * steps` apart in the tile, so that a
    lane holds `run * steps` values side by side (`tenon::layout::Contraction`).
    [1, 1], each instruction takes consecutive values, where absent. It changes the
    order in which products are added, and nothing else.

    `accuracy` allows products of FP32 operands to be computed from BF16 parts: each
    term of the sum may be wrong by that fraction of its magnitude, besides the
    rounding of FP32 sums. `tile-select-precision` decides; without it FP32 operands
    are multiplied as they are.

    Tiles of rank 3 are as many products side by side: dimension 0 of all
    tiles, which lies in waves. Slices of a contraction that waves share are one
    such set of products, and `tile.reduce` adds them up; `waves` has a third number
    then, the waves along dimension 0.

    `part = [i, n]` issues only the i-th of n about equal shares of the
    instructions, by elements of the result: the others stay as they are. The n
    parts one behind the other are the product.

    ```mlir
    %c1 = tile.mma %a, %b, %c {instruction = array<i64: 16, 32>}
        : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    %c2 = tile.mma %x, %w, %c1 lhs_scale %s rhs_scale %t
        : tensor<128x64xi8>, tensor<64x128xi8>, tensor<128x128xf32>
          lhs_scale tensor<128x4xf8E8M0FNU> rhs_scale tensor<4x128xf8E8M0FNU>
    ```
  }];
  let arguments = (ins Tile_Tensor:$lhs, Tile_Tensor:$rhs, Tile_Tensor:$accumulator,
                       Optional<Tile_Tensor>:$lhs_scale,
                       Optional<Tile_Tensor>:$rhs_scale,
                       OptionalAttr<DenseI64ArrayAttr>:$instruction,
                       OptionalAttr<DenseI64ArrayAttr>:$waves,
                       OptionalAttr<DenseI64ArrayAttr>:$contraction,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$scale_begin,
                       OptionalAttr<DenseI64ArrayAttr>:$part,
                       OptionalAttr<F64Attr>:$accuracy);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $accumulator (`lhs_scale` $lhs_scale^)?
    (`rhs_scale` $rhs_scale^)? attr-dict `:` type($lhs) `,` type($rhs) `,`
    type($accumulator) (`lhs_scale` type($lhs_scale)^)?
    (`rhs_scale` type($rhs_scale)^)?
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs,
                                 "::mlir::Value":$accumulator,
                                 "::llvm::ArrayRef<int64_t>":$waves)>];
  let extraClassDeclaration = [{
    /// Values of the contraction index, and those in one element of each operand.
    int64_t getDepth();
    int64_t getLhsPacking();
    int64_t getRhsPacking();
    /// Values that share a scale.
    static constexpr int64_t scaleBlock = 32;
    ::tenon::layout::Contraction getContractionOrder();
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

//===----------------------------------------------------------------------===//
// LDS
//===----------------------------------------------------------------------===//

def Tile_AllocLdsOp : Tile_Op<"alloc_lds", [MemoryEffects<[MemAlloc]>]> {
  let summary = "A buffer in LDS";
  let description = [{
    `offset` is its byte address in the workgroup's LDS, set by `tile-plan-lds`.
    A buffer lives from its first write to its last read.
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$offset);
  let results = (outs Tile_LdsType:$result);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($result)";
}

def Tile_LdsStageOp : Tile_Op<"lds_stage", [Pure]> {
  let summary = "One stage of an LDS buffer";
  let description = [{
    The index is uniform; it must be below the number of stages. With `shift` it is
    the stage that many further on, the first following the last: stages at
    different shifts from one index are different ones, as
    `tile-insert-barriers` knows.

    ```mlir
    %b = tile.lds_stage %a[%i] : !tile.lds<64x64xbf16, stages = 3> -> !tile.lds<64x64xbf16>
    %c = tile.lds_stage %a[%i + 2] : !tile.lds<64x64xbf16, stages = 3> -> !tile.lds<64x64xbf16>
    ```
  }];
  let arguments = (ins Tile_LdsType:$buffer, I32:$index,
                       DefaultValuedAttr<I64Attr, "0">:$shift);
  let results = (outs Tile_LdsType:$result);
  let assemblyFormat = [{
    $buffer `[` $index (`+` $shift^)? `]` attr-dict `:` type($buffer) `->`
    type($result)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$buffer, "::mlir::Value":$index,
                                 CArg<"int64_t", "0">:$shift)>];
  let extraClassDeclaration = [{
    /// The stage, when it is known.
    std::optional<int64_t> getConstantStage();
  }];
}

def Tile_LdsPartOp : Tile_Op<"lds_part", [Pure]> {
  let summary = "A part of an LDS buffer as a buffer of its own shape";
  let description = [{
    The result's first element is element `offset` of the buffer, counted in
    memory order, and its layout says how far apart its others are: blocks along
    a diagonal, every second row, rows regrouped. It lies within the buffer,
    whose layout, like the result's, has no swizzle and no padding, and whose
    elements are of the same type. Buffers of several stages are cut first
    (`tile.lds_stage`).

    ```mlir
    // The four diagonal 16x16 blocks of 64x64, in rows of 68.
    %d = tile.lds_part %b at 0
        : !tile.lds<64x64xf32, #tile.lds_layout<[64, 64] of 32 bits, strides = [68, 1]>>
        -> !tile.lds<4x16x16xf32, #tile.lds_layout<[4, 16, 16] of 32 bits, strides = [1104, 68, 1]>>
    ```
  }];
  let arguments = (ins Tile_LdsType:$buffer,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$offset);
  let results = (outs Tile_LdsType:$result);
  let assemblyFormat = [{
    $buffer `at` $offset attr-dict `:` type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Where the part begins in the buffer.
    int64_t getByteOffset();
  }];
}

def Tile_LdsStoreOp : Tile_Op<"lds_store", [MemoryEffects<[MemWrite]>]> {
  let summary = "Writes a tile to an LDS buffer";
  let description = [{
    Where the tile's layout replicates an element, one owner writes it.
  }];
  let arguments = (ins Tile_Tensor:$value, Tile_LdsType:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value) `,` type($buffer)";
  let hasVerifier = 1;
}

def Tile_LdsLoadOp : Tile_Op<"lds_load", [MemoryEffects<[MemRead]>]> {
  let summary = "Reads a tile from an LDS buffer";
  let description = [{
    With `offsets` a part of it: element `[i, ...]` is the buffer's element
    `[offset + i, ...]`. Each offset is a multiple of the tile's extent, rounded
    up to a power of two, so that it changes constants of the accesses alone.

    `part = [i, n]` issues only the i-th of n about equal shares of the accesses,
    for programs that spread a read over their work; the other elements are those
    of the tile behind `into`, undefined where there is none.

    ```mlir
    %t = tile.lds_load %b at [0, 32] : !tile.lds<128x64xbf16> -> tensor<128x32xbf16>
    %0 = tile.lds_load %b {part = array<i64: 0, 2>} : !tile.lds<32x64xbf16> -> tensor<32x64xbf16>
    %1 = tile.lds_load %b into %0 : tensor<32x64xbf16> {part = array<i64: 1, 2>}
        : !tile.lds<32x64xbf16> -> tensor<32x64xbf16>
    ```
  }];
  let arguments = (ins Tile_LdsType:$buffer, Optional<Tile_Tensor>:$into,
                       OptionalAttr<DenseI64ArrayAttr>:$offsets,
                       OptionalAttr<DenseI64ArrayAttr>:$part);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $buffer (`at` $offsets^)? (`into` $into^ `:` type($into))? attr-dict `:`
    type($buffer) `->` type($result)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$buffer), [{
    build($_builder, $_state, result, buffer, /*into=*/::mlir::Value(),
          /*offsets=*/::mlir::DenseI64ArrayAttr(), /*part=*/::mlir::DenseI64ArrayAttr());
  }]>];
}

def Tile_CopyToLdsOp : Tile_Op<"copy_to_lds", [MemoryEffects<[MemRead, MemWrite]>,
                                               AttrSizedOperandSegments]> {
  let summary = "Starts a copy from device memory into an LDS buffer";
  let description = [{
    All waves copy the tile of the buffer's shape at the offsets together, without
    registers in between: 16 bytes per lane and instruction, and 4 where whole
    instructions of all waves do not come out even. The buffer is
    written at any time between this operation and the `tile.wait_copies` that
    takes the token. What lies beyond the bound of the view arrives as zeros, and
    so does what lies at or beyond a limit (`limits` and `limit_divisors` as for
    `tile.load`; the limit of the dimension of stride 1 is a multiple of
    16 bytes).

    A lane copies 16 (or 4) bytes side by side along the dimension whose stride is
    1: in LDS, whose layout decides which ones, and in the view. They must begin
    at multiples of 4 bytes, which the strides and offsets at run time have to see
    to, and lie within the bound or beyond it as a whole. The tile is a multiple
    of 256 bytes for each wave. `nontemporal` marks
    data that are read once. `part = [i, n]` issues only the i-th of n about equal
    shares of the instructions, for programs that spread a copy over their work.

    With `rows` the rows lie anywhere: dimension 0 is not blocked, and its offset is 0.

    - A tile of `i32` names rows of the view, as that of `tile.load` does; a negative
      one arrives as zeros. It lies where threads copy (`tile::copyRowsLayout`), so
      rows are a power of two of bytes long.
    - Of an LDS buffer of `i64`, row i begins rows[i] bytes behind the pointer of the
      view, whose bound and first stride do not count: every row may be read, and
      there are no limits. The rows are read from LDS when the copy starts.

    ```mlir
    %t = tile.copy_to_lds %v[%i, %k], %b : !tile.view<2 x bf16>, !tile.lds<64x64xbf16> -> !tile.token
    tile.wait_copies %t : !tile.token
    tile.barrier
    ```
  }];
  let arguments = (ins Tile_ViewType:$view, Variadic<I32>:$offsets,
                       Variadic<I32>:$limits,
                       OptionalAttr<DenseI64ArrayAttr>:$limit_divisors,
                       Tile_LdsType:$buffer, UnitAttr:$nontemporal,
                       OptionalAttr<DenseI64ArrayAttr>:$part,
                       Optional<AnyTypeOf<[Tile_LdsType, Tile_Tensor]>>:$rows);
  let results = (outs Tile_TokenType:$token);
  let assemblyFormat = [{
    $view `[` $offsets `]` (`rows` $rows^ `:` type($rows))?
    (`within` `[` $limits^ `]`)? `,` $buffer attr-dict `:`
    type($view) `,` type($buffer) `->` type($token)
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$token, "::mlir::Value":$view,
      "::mlir::ValueRange":$offsets, "::mlir::ValueRange":$limits,
      "::mlir::DenseI64ArrayAttr":$limit_divisors, "::mlir::Value":$buffer,
      "::mlir::UnitAttr":$nontemporal, "::mlir::DenseI64ArrayAttr":$part), [{
    build($_builder, $_state, token, view, offsets, limits, limit_divisors, buffer,
          nontemporal, part, /*rows=*/::mlir::Value());
  }]>];
  let extraClassDeclaration = [{
    /// Bytes that a lane may copy per instruction, the most first.
    static ::llvm::ArrayRef<int64_t> getLaneBytes();
    /// Whether `rows` is a tile of row numbers.
    bool hasRowNumbers();
  }];
}

def Tile_WaitCopiesOp : Tile_Op<"wait_copies", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits until copies of this wave have arrived in LDS";
  let description = [{
    After it the wave's own share of the copies is in LDS; a `tile.barrier` after
    it makes sure of the shares of the others. Later copies and loads stay in
    flight, as far as it is known on every path that they are later.
  }];
  let arguments = (ins Variadic<Tile_TokenType>:$tokens);
  let assemblyFormat = "$tokens attr-dict `:` type($tokens)";
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Waits for the workgroup's waves and for their LDS accesses";
  let description = [{
    After it, every wave sees every LDS write issued before it. Accesses to
    device memory stay in flight across it.

    With `waves [b, e]` the waves b to e - 1 alone come to it, and meet the others
    at the barrier that those come to: from here on they are one barrier behind.
    Such barriers are the last thing that is put into a program (`tile-schedule`):
    the passes before it know barriers of all waves alone.
  }];
  let arguments = (ins OptionalAttr<DenseI64ArrayAttr>:$waves);
  let assemblyFormat = "(`waves` $waves^)? attr-dict";
  let builders = [OpBuilder<(ins), [{}]>];
  let hasVerifier = 1;
}

def Tile_WavePriorityOp : Tile_Op<"wave_priority", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Says how a wave stands against the others of its SIMD";
  let description = [{
    From here on, of the waves of a SIMD that could issue an instruction, one of the
    highest level does. Kernels begin at level 0.

    ```mlir
    tile.wave_priority 3
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntMinValue<0>, IntMaxValue<3>]>:$level);
  let assemblyFormat = "$level attr-dict";
}

#endif // TENON_DIALECTS_TILE_TILEOPS_TD
