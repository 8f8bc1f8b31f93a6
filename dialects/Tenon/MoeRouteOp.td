//===- MoeRouteOp.td - which experts a token goes to -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_MOEROUTEOP_TD
#define TENON_DIALECTS_TENON_MOEROUTEOP_TD

include "dialects/Tenon/SpecOp.td"

def Tenon_MoeRouteOp : Tenon_SpecOp<"moe_route"> {
  let summary = "The K experts of each token and their weights";
  let description = [{
    For each of T tokens, of E experts the K of the highest scores.

    **Mathematics**, per token, in FP32:

    1. `score_e = sigmoid(logit_e)` (`sigmoid`), or `exp(logit_e - max) / sum` over the
       logits that are numbers (`softmax`).
    2. The K experts of the greatest `score_e + bias_e` (without `bias`: of the
       greatest scores), in descending order, of equal ones first the lower index. NaN
       is behind all numbers.
    3. `weight_i = score` of the i-th of them, without the bias; 0 for NaN.
    4. With `renormalize`, `weight_i <- weight_i / sum of the weights` (0 where the sum
       is 0). Last, `weight_i <- factor * weight_i`.

    Source: sigmoid scoring with a correction bias as in DeepSeek-V3 (technical report,
    2024), with one group of experts.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | logits | f32 or bf16 | [T, E] | row stride free |
    | bias | f32 | [E] | optional |
    | ids | i32 | [T, K] | out |
    | weights | f32 | [T, K] | out |

    E is up to 4096, K up to 64 and not above E.

    **Preconditions**: 16-byte alignment of logits, of its row stride and of bias, 4-byte
    alignment of ids and weights; the row stride is not negative and below 2^31 bytes.
    T = 0 launches nothing.

    **Caller errors that no check can see on the device**: operands that overlap.

    **Numbers**: scores may differ by a few units in the last place from those of another
    implementation, and so may the order of experts whose sums differ by as little.
  }];
  let arguments = (ins
    AnyMemRef:$logits, Optional<AnyMemRef>:$bias, AnyMemRef:$ids, AnyMemRef:$weights,
    Tenon_ScoringAttr:$scoring, BoolAttr:$renormalize, F64Attr:$factor,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `logits` `(` $logits `:` type($logits) `)`
    (`bias` `(` $bias^ `:` type($bias) `)`)?
    `ids` `(` $ids `:` type($ids) `)`
    `weights` `(` $weights `:` type($weights) `)`
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// E and K.
    int64_t getExperts();
    int64_t getExpertsPerToken();
  }];
}

#endif // TENON_DIALECTS_TENON_MOEROUTEOP_TD
