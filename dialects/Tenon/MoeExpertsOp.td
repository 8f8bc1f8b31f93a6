//===- MoeExpertsOp.td - the experts that tokens go to ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_MOEEXPERTSOP_TD
#define TENON_DIALECTS_TENON_MOEEXPERTSOP_TD

include "dialects/Tenon/SpecOp.td"

def Tenon_MoeExpertsOp : Tenon_SpecOp<"moe_experts", [AttrSizedOperandSegments]> {
  let summary = "The gated feed-forward layers of the K experts of each token";
  let description = [{
    Each of T tokens goes to K experts. An expert is a gate and an up projection, an
    activation and a down projection. Of E experts whose weights are on this rank, the
    results are summed with the weights of the tokens: the rank's share, which nothing
    reduces over ranks.

    **Mathematics.** A route is one of the K experts of a token. For the route k of token
    t, to the expert e:

    1. `q = input(x[t])`, rounded to the type `input`.
    2. `h[n] = sum_d q[d] * w13[e, n, d]` in FP32; `g = h[0 .. I-1]` (gate),
       `u = h[I .. 2I-1]` (up).
    3. `situ`: `a = beta * tanh(g / beta) * sigmoid(g) * linear_beta * tanh(u / linear_beta)`;
       `silu`: `a = g * sigmoid(g) * u`.
    4. `p = intermediate(a)`, rounded from FP32 to the type `intermediate`.
    5. `row[t, k, d] = sum_i p[i] * w2[e, d, i]` in FP32.
    6. `out[t] = sum_k weights[t, k] * routes(row[t, k])` over the routes of the token, in
       FP32, rounded once; or the rows themselves (below).

    **Types.** `input` and `intermediate` are bf16, fp8 (f8E4M3FN) or fp4 (f4E2M1FN). Of fp8
    and fp4, 32 values along the sum share a scale 2^s, and the codes are those of
    `value / 2^s` rounded to nearest even, values beyond the greatest to it. With `amax`
    the greatest magnitude among the 32 and `max` that of the type (448 and 6):

    | scale_mode | 2^s |
    |---|---|
    | `up` | the least power of two that is at least `amax / max` |
    | `floor` | `2^(floor(log2(amax)) - floor(log2(max)))` |
    | `even` | as `floor`, of amax rounded to the mantissa of the type, halves upwards |

    s is at least -127, and -127 where amax is 0. Where one of the 32 is infinite or NaN,
    the scale is NaN, and so is what is computed from it.

    **Routes.** `ids[t, k]` is the expert. With `expert_map` it is an index of that, whose
    elements are indices of the experts on this rank. Where an index is negative or not
    below the size of what it indexes (-1 by convention, an expert elsewhere, padding),
    there is no route: nothing is read of the token for it and nothing added. With
    `num_tokens`, which is read on the device, tokens from `num_tokens[0]` on have no
    routes, and their rows of out are not written; it is not negative, and T where it is
    greater. A token without routes has zeros in out.

    **Results.** With `routes` = f32 or bf16, out is the weighted sum: bf16 [T, D]. The rows
    of routes may be rounded to that type before they are summed. With `routes` = fp8, out
    is the rows, for a sum elsewhere: bytes [T, K, P], of each route D codes f8E4M3FN and
    behind them D/32 codes f8E8M0FNU of their scales, by `scale_mode`; not multiplied by
    weights. P is D + D/32 rounded up to a multiple of 64; what fills it up is not written.
    Where there is no route, all codes are 0.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | x | bf16 | [T, D] | row stride free |
    | ids | i32 | [T, K] | |
    | weights | f32 | [T, K] | absent with `routes` = fp8 |
    | w13 | f4E2M1FN | [E, 2I, D] | `#tenon.weight_layout`; gate, then up |
    | w13_scale | f8E8M0FNU | [E, 2I, D/32] | the layout of w13 |
    | w2 | f4E2M1FN | [E, D, I] | `#tenon.weight_layout`, not `aiter_interleaved` |
    | w2_scale | f8E8M0FNU | [E, D, I/32] | the layout of w2 |
    | expert_map | i32 | [G] | optional; G is static |
    | num_tokens | i32 | [1] | optional |
    | out | bf16 or i8 | [T, D] or [T, K, P] | row stride free of [T, D] |

    D and I are multiples of 32; the orders of AITER need multiples of 64, and D a multiple
    of 32. E is up to 4096 and K up to 64; one expert's w13 and w2 are below 2^31 bytes.

    **Preconditions**: 16-byte alignment of x, w13, w2, out and of free row strides, 4-byte
    alignment of the rest; no row stride is negative or 2^31 bytes or more; T * K is below
    2^29. T = 0 launches nothing.

    **Caller errors that no check can see on the device**: operands that overlap.

    **Schedules** are ranked for `expected_tokens` tokens (16 where it is absent); the
    kernel takes any T, and one form of the weights serves all schedules.

    **Numbers**: the order of the sums over d and i may depend on the schedule; that over k
    is ascending. The result is the same from run to run.
  }];
  let arguments = (ins
    AnyMemRef:$x, AnyMemRef:$ids, Optional<AnyMemRef>:$weights,
    AnyMemRef:$w13, AnyMemRef:$w13_scale, AnyMemRef:$w2, AnyMemRef:$w2_scale,
    Optional<AnyMemRef>:$expert_map, Optional<AnyMemRef>:$num_tokens,
    AnyMemRef:$out,
    Tenon_ActivationAttr:$activation,
    OptionalAttr<F64Attr>:$beta,
    OptionalAttr<F64Attr>:$linear_beta,
    Tenon_FormatAttr:$input,
    Tenon_FormatAttr:$intermediate,
    Tenon_FormatAttr:$routes,
    Tenon_ScaleModeAttr:$scale_mode,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$expected_tokens,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `x` `(` $x `:` type($x) `)`
    `ids` `(` $ids `:` type($ids) `)`
    (`weights` `(` $weights^ `:` type($weights) `)`)?
    `w13` `(` $w13 `:` type($w13) `)`
    `w13_scale` `(` $w13_scale `:` type($w13_scale) `)`
    `w2` `(` $w2 `:` type($w2) `)`
    `w2_scale` `(` $w2_scale `:` type($w2_scale) `)`
    (`expert_map` `(` $expert_map^ `:` type($expert_map) `)`)?
    (`num_tokens` `(` $num_tokens^ `:` type($num_tokens) `)`)?
    `out` `(` $out `:` type($out) `)`
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// E (on this rank), K, D and I.
    int64_t getExperts();
    int64_t getExpertsPerToken();
    int64_t getWidth();
    int64_t getExpertWidth();
    /// What ids are below: G, or E without expert_map.
    int64_t getIdLimit();
    /// How w13 and w2 are ordered, each with its scales.
    ::tenon::spec::WeightOrder getW13Order();
    ::tenon::spec::WeightOrder getW2Order();
    /// Whether out holds rows of routes.
    bool hasRouteRows();
    /// P, bytes from row to row of routes in fp8.
    int64_t getRoutePitch();
  }];
}

#endif // TENON_DIALECTS_TENON_MOEEXPERTSOP_TD
