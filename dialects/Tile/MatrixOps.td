//===- MatrixOps.td - products on the matrix cores ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TILE_MATRIXOPS_TD
#define TENON_DIALECTS_TILE_MATRIXOPS_TD

include "dialects/Tile/TileOp.td"

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
    (`tenon::layout::mfmaOperands`). An FP8 product over half of the instruction's
    k takes zeros for the other half.

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

#endif // TENON_DIALECTS_TILE_MATRIXOPS_TD
