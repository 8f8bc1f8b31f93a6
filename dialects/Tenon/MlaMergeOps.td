//===- MlaMergeOps.td - parts of attention made one ---------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_MLAMERGEOPS_TD
#define TENON_DIALECTS_TENON_MLAMERGEOPS_TD

include "dialects/Tenon/SpecOp.td"

def Tenon_MlaMergeOp : Tenon_SpecOp<"mla_merge"> {
  let summary = "Parts of attention over disjoint keys, merged";
  let description = [{
    Each of W parts is attention over some of the keys: normalised results of R rows
    (tokens times heads) with 512 columns, and the natural logarithm of the sum of
    exponentials (`lse`) of each row.

    **Mathematics**, per row:

    `merged_lse = ln(sum_w e^lse[w])`, `out = sum_w e^(lse[w] - merged_lse) * parts[w]`.

    A part whose lse is infinite or NaN is empty: it contributes nothing, whatever its
    values are, NaN too. Where all parts are empty, out is 0 and merged_lse minus
    infinity. Nothing overflows: the greatest lse of a row is subtracted first.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | parts | bf16 or f32 | [W, R, 512] | strides of W and R free |
    | lse | f32 | [W, R] | both strides free |
    | out | bf16 or f32 | [R, 512] | row stride free |
    | merged_lse | f32 | [R] | optional; stride free |

    W is from 1 to 64. R = 0 launches nothing.

    **Preconditions**: 16-byte alignment of the bases and of the free strides of parts and
    out; no stride is negative; those of rows are below 2^29 bytes, those of W 64-bit.

    **Caller errors that no check can see on the device**: operands that overlap.

    **Numbers**: FP32, parts added in their order, rounded once to the type of out. Weights
    below 2^-126 are 0.
  }];
  let arguments = (ins
    AnyMemRef:$parts, AnyMemRef:$lse, AnyMemRef:$out,
    Optional<AnyMemRef>:$merged_lse, OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `parts` `(` $parts `:` type($parts) `)`
    `lse` `(` $lse `:` type($lse) `)`
    `out` `(` $out `:` type($out) `)`
    (`merged_lse` `(` $merged_lse^ `:` type($merged_lse) `)`)?
    attr-dict
  }];
}

def Tenon_MlaScaleOp : Tenon_SpecOp<"mla_scale", [],
                                    ["getHostScalars"]> {
  let summary = "A rank's own part of attention, weighted for a sum over ranks";
  let description = [{
    What `tenon.mla_merge` would add of the part of one rank: the sum of the results of
    all ranks is the merged one. For engines that reduce-scatter.

    **Mathematics**, per row, with empty parts as of `tenon.mla_merge`:

    `merged_lse = ln(sum_w e^lse[w])`, `out = e^(lse[rank] - merged_lse) * part`; where
    lse[rank] is empty, out is 0.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | part | bf16 or f32 | [R, 512] | of this rank; row stride free |
    | lse | f32 | [W, R] | of all ranks; both strides free |
    | out | bf16 or f32 | [R, 512] | row stride free |
    | merged_lse | f32 | [R] | optional; stride free |

    `rank` is a host scalar that comes with a call, from 0 to W - 1; W is from 1 to 64.
    R = 0 launches nothing.

    **Preconditions**: 16-byte alignment of the bases and of the row strides of part and
    out; no stride is negative; those of rows are below 2^29 bytes, that of W is 64-bit.

    **Caller errors that no check can see on the device**: operands that overlap.
  }];
  let arguments = (ins
    AnyMemRef:$part, AnyMemRef:$lse, AnyMemRef:$out,
    Optional<AnyMemRef>:$merged_lse, Index:$rank,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `part` `(` $part `:` type($part) `)`
    `lse` `(` $lse `:` type($lse) `)`
    `out` `(` $out `:` type($out) `)`
    (`merged_lse` `(` $merged_lse^ `:` type($merged_lse) `)`)?
    `rank` `(` $rank `)` attr-dict
  }];
}

#endif // TENON_DIALECTS_TENON_MLAMERGEOPS_TD
