//===- ScaleOps.td - codes and the scales of their blocks -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_SCALEOPS_TD
#define TENON_DIALECTS_TILE_SCALEOPS_TD

include "dialects/Tile/TileOp.td"

def Tile_DequantizeOp : Tile_Op<"dequantize", [Pure]> {
  let summary = "FP4 codes times their scales";
  let description = [{
    `codes` of `i8` hold two FP4 (E2M1) values per byte along dimension `dim`, the
    first in the low bits; `scales` has an E8M0 scale for each 32 values along it.
    The result, `bf16` or `f16`, is each value times its scale, rounded to nearest
    even (exact in bf16 but for subnormal results). A scale of NaN makes NaN.

    ```mlir
    %w = tile.dequantize %c, %s dim 0
        : tensor<64x16xi8>, tensor<4x16xf8E8M0FNU> -> tensor<128x16xbf16>
    ```
  }];
  let arguments = (ins Tile_Tensor:$codes, Tile_Tensor:$scales,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $codes `,` $scales `dim` $dim attr-dict `:` type($codes) `,` type($scales) `->`
    type($result)
  }];
  let hasVerifier = 1;
}

def Tile_QuantizeOp : Tile_Op<"quantize", [Pure]> {
  let summary = "Values divided by their scales, as FP8 or FP4 codes";
  let description = [{
    `scales`, of `f32`, has a power of two for each 32 elements of `values`, `f32` or
    `bf16`, along dimension `dim`; only its exponent counts. The result is each
    element divided by its scale, rounded once, to nearest even: `f8E4M3FN`, or
    FP4 (E2M1) in `i8`, two values per byte along `dim`, the first in the low
    bits. FP4 saturates; so does FP8 with `saturate`, else what is beyond its
    largest number makes NaN. A scale whose exponent is that of NaN makes NaN of
    FP8 and the largest number of FP4.

    ```mlir
    %c = tile.quantize %x, %s dim 1
        : tensor<16x64xf32>, tensor<16x2xf32> -> tensor<16x64xf8E4M3FN>
    %d = tile.quantize %x, %s dim 1
        : tensor<16x64xf32>, tensor<16x2xf32> -> tensor<16x32xi8>
    ```
  }];
  let arguments = (ins Tile_Tensor:$values, Tile_Tensor:$scales,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim,
                       UnitAttr:$saturate);
  let results = (outs Tile_Tensor:$result);
  let assemblyFormat = [{
    $values `,` $scales `dim` $dim attr-dict `:` type($values) `,` type($scales) `->`
    type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Values in one element of the result.
    int64_t getPacking();
  }];
}

#endif // TENON_DIALECTS_TILE_SCALEOPS_TD
