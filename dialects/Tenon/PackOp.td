//===- PackOp.td - weights into the orders of kernels ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_PACKOP_TD
#define TENON_DIALECTS_TENON_PACKOP_TD

include "dialects/Tenon/SpecOp.td"

def Tenon_PackOp : Tenon_SpecOp<"pack", [AttrSizedOperandSegments],
                                ["getSizeRelations"]> {
  let summary = "Weights from row-major into the order that a kernel reads";
  let description = [{
    Copies weights [N, K], and their scales per block of 32 where they are given, into
    one of the orders of `#tenon.weight_layout`, whose text says where each byte goes.
    Nothing is computed: all bytes arrive as they are.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | weights | bf16, f8E4M3FN or f4E2M1FN | [N, K] | row stride free |
    | scales | f8E8M0FNU | [N, K/32] | optional, with f4E2M1FN weights; row stride free |
    | packed | that of weights | [N, K] | out; `#tenon.weight_layout` |
    | packed_scales | f8E8M0FNU | [N, K/32] | out, with scales; the layout of packed |

    In the order `packed`, N is any and K a multiple of 8 for bf16, 16 for f8E4M3FN and 32
    for f4E2M1FN. `aiter` needs f4E2M1FN weights, N a multiple of 16 and K of 64;
    `aiter_interleaved` N a multiple of 32. `packed` has room for N rounded up to 16 rows,
    `packed_scales` for N rounded up to 32 and K/32 to 8. What fills these up is written
    as zeros. AITER's scales have room for 256 rows: beyond 32 nothing is written.

    **Preconditions**: 16-byte alignment of the base and of the row stride of weights, and
    of the base of packed; 4-byte alignment of packed_scales; no row stride is negative or
    2^31 bytes or more.

    **Caller errors that no check can see on the device**: operands that overlap.
  }];
  let arguments = (ins
    AnyMemRef:$weights, Optional<AnyMemRef>:$scales, AnyMemRef:$packed,
    Optional<AnyMemRef>:$packed_scales, OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `weights` `(` $weights `:` type($weights) `)`
    (`scales` `(` $scales^ `:` type($scales) `)`)?
    `packed` `(` $packed `:` type($packed) `)`
    (`packed_scales` `(` $packed_scales^ `:` type($packed_scales) `)`)?
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// The order of packed.
    ::tenon::spec::WeightOrder getWeightOrder();
  }];
}

#endif // TENON_DIALECTS_TENON_PACKOP_TD
