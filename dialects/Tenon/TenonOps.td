//===- TenonOps.td - the ops that specs are made of -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_TENONOPS_TD
#define TENON_DIALECTS_TENON_TENONOPS_TD

include "dialects/Tenon/TenonAttrs.td"
include "dialects/Tenon/TenonDialect.td"
include "dialects/Tenon/TenonInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tenon_SpecOp<string opMnemonic, list<Trait> traits = []>
    : Op<Tenon_Dialect, opMnemonic,
         traits # [DeclareOpInterfaceMethods<Tenon_SpecOpInterface>]> {
  let hasVerifier = 1;
}

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

#endif // TENON_DIALECTS_TENON_TENONOPS_TD
