//===- TenonOps.td - the ops that specs are made of -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_TENONOPS_TD
#define TENON_DIALECTS_TENON_TENONOPS_TD

include "dialects/Tenon/TenonAttrs.td"
include "dialects/Tenon/TenonDialect.td"
include "dialects/Tenon/TenonInterfaces.td"
include "dialects/Tenon/KdaPrefillOp.td"
include "dialects/Tenon/MoeExpertsOp.td"
include "dialects/Tenon/MoePackOp.td"
include "dialects/Tenon/MoeRouteOp.td"
include "dialects/Tenon/MlaDecodeOp.td"
include "dialects/Tenon/MlaMergeOps.td"
include "dialects/Tenon/PackOp.td"
include "dialects/Tenon/SpecOp.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Tenon_KdaDecodeOp : Tenon_SpecOp<"kda_decode", [AttrSizedOperandSegments]> {
  let summary = "One decode step of Kimi Delta Attention for N requests";
  let description = [{
    One token for each of N requests, in one launch: causal convolution of width
    4 with SiLU, q and k normalisation, decay gate, beta, recurrent update of the
    state, output RMSNorm and sigmoid output gate. D is 128.

    **Mathematics**, per request and head, S of shape [D(v), D(k)], all in FP32:

    1. `x` = q, k and v each: `y_c = sum_w weight[c, w] * x_c[t - 3 + w]` over the
       three inputs of the window and the new one, then `silu(y) = y * sigmoid(y)`.
       The new window is the last three raw inputs, bit-exact.
    2. `q <- D^-0.5 * q * rsqrt(sum q^2 + qk_eps)`, `k <- k * rsqrt(sum k^2 + qk_eps)`.
    3. `g = lower_bound * sigmoid(exp(a_log) * (raw_g + dt_bias))` (bounded) or
       `g = -exp(a_log) * softplus(raw_g + dt_bias)` (softplus).
    4. `beta = sigmoid(raw_beta)`.
    5. `S <- S diag(e^g)`, `u = beta * (v - S k)`, `S <- S + u k^T`, `o = S q`.
    6. `out = bf16(o * rsqrt(mean(o^2) + norm_eps) * norm_weight * sigmoid(out_gate))`,
       or `out = bf16(o)` without output norm.

    Source: the recurrence of Kimi Delta Attention (Kimi Linear technical report,
    2025) in the form in which vLLM and flash-linear-attention serve it.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | qkv | bf16 | [N, 3*H*D] | raw projections, q then k then v; row stride free |
    | raw_g | bf16 | [N, H*D] | raw decay gate; row stride free |
    | raw_beta | bf16 | [N, H] | raw beta logit; row stride free |
    | out_gate | bf16 | [N, H*D] | raw output gate; row stride free; absent when output_norm is off |
    | conv_weight | f32 | [3*H*D, 4] | |
    | a_log | f32 | [H] | |
    | dt_bias | f32 | [H*D] | |
    | norm_weight | f32 or bf16 | [D] | absent when output_norm is off |
    | conv_state | bf16 | [S, L, 3*H*D] (`sd`) or [S, 3*H*D, L] (`ds`) | in and out; L >= 3; slot stride free |
    | conv_start | i32 | [N] | optional: the window is read from columns start .. start+2 (0 when absent); it is written to columns 0 .. 2, other columns stay |
    | state | f32 | [S, H, D(v), D(k)] (`vk`) or [S, H, D(k), D(v)] (`kv`) | in and out; slot stride free; the order is in the type: `#tenon.state_layout<vk>` |
    | slot | i32 | [N] | stride free: it may be a column of a wider table |
    | out | bf16 | [N, H*D] | row stride free |

    A null slot (`null_slot` = `le0`: slot <= 0, `lt0`: slot < 0) marks a padding
    row: zeros are written to its row of `out`, no state is read or written.

    **Preconditions**: 16-byte alignment of the base and of every free stride of
    qkv, raw_g, out_gate, conv_weight, dt_bias, norm_weight, conv_state, state
    and out; the element's alignment for the rest; no free stride is negative;
    those of conv_state and state are 64-bit, the others below 2^31 bytes; one
    conv_state slot is below 2^31 bytes. N = 0 launches nothing.

    **Caller errors that no check can see on the device**: operands that overlap;
    two requests with the same slot that is not null; a slot that is not null and
    not below S; `conv_start + 3 > L` or negative.

    **Numbers** do not depend on the schedule. Sixteen lanes share a row of the
    contraction, in an order that belongs to the op; `vk` and `kv` need not agree
    to the bit.
  }];
  let arguments = (ins
    AnyMemRef:$qkv, AnyMemRef:$raw_g, AnyMemRef:$raw_beta,
    Optional<AnyMemRef>:$out_gate, AnyMemRef:$conv_weight, AnyMemRef:$a_log,
    AnyMemRef:$dt_bias, Optional<AnyMemRef>:$norm_weight, AnyMemRef:$conv_state,
    Optional<AnyMemRef>:$conv_start, AnyMemRef:$state, AnyMemRef:$slot,
    AnyMemRef:$out,
    ConfinedAttr<I64Attr, [IntPositive]>:$heads,
    I64Attr:$head_dim,
    Tenon_GateKindAttr:$gate,
    OptionalAttr<F64Attr>:$lower_bound,
    BoolAttr:$output_norm,
    F64Attr:$qk_eps,
    OptionalAttr<F64Attr>:$norm_eps,
    Tenon_NullSlotAttr:$null_slot,
    Tenon_ConvLayoutAttr:$conv_layout,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `qkv` `(` $qkv `:` type($qkv) `)`
    `raw_g` `(` $raw_g `:` type($raw_g) `)`
    `raw_beta` `(` $raw_beta `:` type($raw_beta) `)`
    (`out_gate` `(` $out_gate^ `:` type($out_gate) `)`)?
    `conv_weight` `(` $conv_weight `:` type($conv_weight) `)`
    `a_log` `(` $a_log `:` type($a_log) `)`
    `dt_bias` `(` $dt_bias `:` type($dt_bias) `)`
    (`norm_weight` `(` $norm_weight^ `:` type($norm_weight) `)`)?
    `conv_state` `(` $conv_state `:` type($conv_state) `)`
    (`conv_start` `(` $conv_start^ `:` type($conv_start) `)`)?
    `state` `(` $state `:` type($state) `)`
    `slot` `(` $slot `:` type($slot) `)`
    `out` `(` $out `:` type($out) `)`
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// Order of the last two dimensions of `state`.
    ::tenon::spec::StateOrder getStateOrder();
  }];
}

def Tenon_GemmOp : Tenon_SpecOp<"gemm", [AttrSizedOperandSegments],
                                ["getSizeRelations", "getHostRanges"]> {
  let summary = "A product of activations and weights with an epilogue";
  let description = [{
    `acc[m, n] = sum_k x[m, k] * weights[n, k]` for M tokens, accumulated in FP32, and
    an epilogue on `acc` while it is in registers. M varies from call to call; N and K
    are static or vary.

    **Mathematics**, with x and weights multiplied by their scales:

    | epilogue | result |
    |---|---|
    | `none` | `out = acc` |
    | `add` | `out = out + acc` |
    | `sigmoid_gate` | `out = multiplicand * sigmoid(acc)` |
    | `situ` | `out = beta * tanh(g / beta) * sigmoid(g) * linear_beta * tanh(u / linear_beta)` |
    | `silu` | `out = g * sigmoid(g) * u` |

    For `situ` and `silu` the rows 0 .. N/2-1 of the weights give g (gate) and the rows
    N/2 .. N-1 give u (up): with I = N/2, out is [M, I], `g = acc[m, i]` and
    `u = acc[m, I + i]`. Elsewhere I = N. The result is rounded once, to the type of
    out.

    **Types**

    | x | weights | x_scale | weight_scale | K is a multiple of |
    |---|---|---|---|---|
    | bf16 | bf16 | - | - | 8 |
    | f8E4M3FN | f8E4M3FN | f32 [M] | f32 [N] | 16 |
    | f4E2M1FN | f4E2M1FN | f8E8M0FNU [M, K/32] | f8E8M0FNU [N, K/32] | 32 |
    | f8E4M3FN | f4E2M1FN | f8E8M0FNU [M, K/32] | f8E8M0FNU [N, K/32] | 32 |
    | bf16 | f4E2M1FN | - | f8E8M0FNU [N, K/32] | 32 |

    Sizes and strides of f4E2M1FN count elements: two share a byte, the one with the
    even k in its low half. An f8E8M0FNU scale multiplies 32 elements along K by
    2^(code - 127); code 255 is NaN.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | x | as above | [M, K] | row stride free |
    | weights | as above | [N, K] | row stride free; or `#tenon.weight_layout` |
    | x_scale | as above | [M] or [M, K/32] | of [M, K/32] the row stride is free; or `#tenon.weight_layout<packed>` |
    | weight_scale | as above | [N] or [N, K/32] | of [N, K/32] the row stride is free; or the layout of the weights |
    | multiplicand | bf16 | [M, I] | row stride free; with `sigmoid_gate` only |
    | out | bf16 or f32 | [M, I] | row stride free; in and out with `add` |

    **Ranges.** `columns(begin to end)` and `rows(begin to end)` are host scalars that
    come with a call: only out[m, i] with m in rows and i in columns is computed (both
    ends half-open), the rest of out keeps its contents. Of x, x_scale and multiplicand
    only those rows are read, of weights and weight_scale only the rows that those
    columns need. Without a range it is everything. An empty range launches nothing.

    **Weights** are row-major, or of one of the orders of `#tenon.weight_layout`, which
    their scales then have too. `aiter` needs f4E2M1FN weights, N a multiple of 16 and
    K a multiple of 64; `aiter_interleaved` besides an epilogue `situ` or `silu` and N a
    multiple of 32. Their scales are filled up to 8 blocks, and to 256 rows (where gate and
    up alternate to 32), with bytes that are never used. Scales of x per block may be
    `packed` too, whatever the order of the weights.

    **Preconditions**: 16-byte alignment of the base and of the row strides of x and
    weights; 4-byte alignment of those of multiplicand and out, of FP32 scales, and of
    row-major scales per block where K is a static multiple of 128; no row stride is
    negative or 2^31 bytes or more. M = 0 launches nothing.

    **Caller errors that no check can see on the device**: operands that overlap.

    **Schedules** are ranked for `expected_tokens` tokens (16 where it is absent); the
    kernel takes any M.

    **Numbers**: the order of the sum over k, and so the last bits of the result, may
    depend on the schedule.
  }];
  let arguments = (ins
    AnyMemRef:$x, AnyMemRef:$weights, Optional<AnyMemRef>:$x_scale,
    Optional<AnyMemRef>:$weight_scale, Optional<AnyMemRef>:$multiplicand,
    AnyMemRef:$out,
    Optional<Index>:$col_begin, Optional<Index>:$col_end,
    Optional<Index>:$row_begin, Optional<Index>:$row_end,
    Tenon_EpilogueAttr:$epilogue,
    OptionalAttr<F64Attr>:$beta,
    OptionalAttr<F64Attr>:$linear_beta,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$expected_tokens,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `x` `(` $x `:` type($x) `)`
    `weights` `(` $weights `:` type($weights) `)`
    (`x_scale` `(` $x_scale^ `:` type($x_scale) `)`)?
    (`weight_scale` `(` $weight_scale^ `:` type($weight_scale) `)`)?
    (`multiplicand` `(` $multiplicand^ `:` type($multiplicand) `)`)?
    `out` `(` $out `:` type($out) `)`
    (`columns` `(` $col_begin^ `to` $col_end `)`)?
    (`rows` `(` $row_begin^ `to` $row_end `)`)?
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// What the types of x and weights say.
    ::tenon::spec::GemmFormat getFormat();
    /// Whether x, and whether weights, have a scale per 32 along K.
    bool hasBlockScaledX();
    bool hasBlockScaledWeights();
    /// Whether rows of gate and rows of up make one column of out.
    bool isGated();
    /// How weights and their scales are ordered; none: row-major.
    std::optional<::tenon::spec::WeightOrder> getWeightOrder();
    /// Whether scales of x per block are packed.
    bool hasPackedXScale();
    /// K is a multiple of it.
    int64_t getKMultiple();
    /// Bytes that rows of row-major scales per block begin at multiples of.
    int64_t getScaleAlignment();
  }];
}

#endif // TENON_DIALECTS_TENON_TENONOPS_TD
