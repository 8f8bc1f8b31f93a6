//===- LdsOps.td - buffers in LDS and order between waves ---*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_LDSOPS_TD
#define TENON_DIALECTS_TILE_LDSOPS_TD

include "dialects/Tile/TileOp.td"

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

#endif // TENON_DIALECTS_TILE_LDSOPS_TD
