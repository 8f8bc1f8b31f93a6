//===- MoePackOp.td - experts into the orders of kernels ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_MOEPACKOP_TD
#define TENON_DIALECTS_TENON_MOEPACKOP_TD

include "dialects/Tenon/SpecOp.td"

def Tenon_MoePackOp : Tenon_SpecOp<"moe_pack"> {
  let summary = "Weights of experts into the order that tenon.moe_experts reads";
  let description = [{
    Copies FP4 weights [N, K] of E experts and their scales per block of 32, as a
    checkpoint has them, into one of the orders of `#tenon.weight_layout`, whose text says
    where each byte goes. Nothing is computed: all bytes arrive as they are. It packs w13
    (N = 2I, K = D) or w2 (N = D, K = I) of `tenon.moe_experts`.

    In w13 of the packed form rows of gate stand before those of up. With `interleaved`
    they alternate in the checkpoint, row 2i being gate i and row 2i + 1 up i; without
    they stand as in the packed form.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | weights | f4E2M1FN | [E, N, K] | stride of experts free |
    | scales | f8E8M0FNU | [E, N, K/32] | stride of experts free |
    | packed | f4E2M1FN | [E, N, K] | out; `#tenon.weight_layout` |
    | packed_scales | f8E8M0FNU | [E, N, K/32] | out; the layout of packed |

    N and K are static, E varies: a call can pack one expert or all. K is a multiple of 32
    up to 8192. The orders of AITER need N a multiple of 32 and K of 64, and so does
    `interleaved` (N of 64). What fills up rows and blocks is written as zeros; what AITER
    leaves behind the scales of the last expert is not written.

    **In place.** packed may be weights, and packed_scales may be scales, where rows of
    experts follow each other without gaps, rows stay among 32 of them, and nothing is
    filled up: in the orders `packed` and `aiter`, not interleaved, with N a multiple of 32
    and for scales K of 256. Elsewhere an expert is to be copied out of the way first.

    **Preconditions**: 16-byte alignment of weights, their stride and packed, 4-byte
    alignment of packed_scales; strides are not negative.

    **Caller errors that no check can see on the device**: operands that overlap, but for
    what is packed in place.
  }];
  let arguments = (ins
    AnyMemRef:$weights, AnyMemRef:$scales, AnyMemRef:$packed,
    AnyMemRef:$packed_scales, UnitAttr:$interleaved,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `weights` `(` $weights `:` type($weights) `)`
    `scales` `(` $scales `:` type($scales) `)`
    `packed` `(` $packed `:` type($packed) `)`
    `packed_scales` `(` $packed_scales `:` type($packed_scales) `)`
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// The order of packed.
    ::tenon::spec::WeightOrder getWeightOrder();
    /// N and K.
    int64_t getRows();
    int64_t getDepth();
  }];
}

#endif // TENON_DIALECTS_TENON_MOEPACKOP_TD
