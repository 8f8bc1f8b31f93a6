//===- KdaPrefillOp.td - KDA over whole sequences ----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_KDAPREFILLOP_TD
#define TENON_DIALECTS_TENON_KDAPREFILLOP_TD

include "dialects/Tenon/SpecOp.td"

def Tenon_KdaPlanOp : Tenon_SpecOp<"kda_plan"> {
  let summary = "The chunks of a batch of sequences";
  let description = [{
    Cuts N packed sequences into chunks of 64 tokens, for every `tenon.kda_prefill` of
    a step. Sequence i is tokens cu_seqlens[i] .. cu_seqlens[i+1].

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | cu_seqlens | i32 | [N+1] | first token of each sequence, and the end of the last |
    | plan | i32 | [C, 4] | out; a row per chunk |

    A sequence of n tokens has n / 64 chunks, rounded up: all have 64 tokens but the
    last, which has the rest. Divisions below are rounded down. Chunk j of sequence i is
    row `cu_seqlens[i] / 64 + i + j`, so that a kernel finds the chunks of a sequence
    without looking at others:

    | column | |
    |---|---|
    | 0 | its sequence |
    | 1 | its first token |
    | 2 | its number of tokens, 1 to 64 |
    | 3 | its place in the sequence, from 0 |

    Rows that no chunk has hold zeros: a chunk without tokens is no chunk. T tokens in N
    sequences take at most the first T / 64 + N rows, which is the C of
    `tenon.kda_prefill`; this op fills any C.

    **Preconditions**: 4-byte alignment of cu_seqlens, 16-byte alignment of plan. C = 0
    and N = 0 launch nothing.

    **Caller errors that no check can see on the device**: operands that overlap;
    cu_seqlens that does not begin with 0 or descends; chunks whose rows are not below C.
  }];
  let arguments = (ins AnyMemRef:$cu_seqlens, AnyMemRef:$plan,
                       OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `cu_seqlens` `(` $cu_seqlens `:` type($cu_seqlens) `)`
    `plan` `(` $plan `:` type($plan) `)` attr-dict
  }];
}

def Tenon_KdaPrefillOp : Tenon_SpecOp<"kda_prefill", [AttrSizedOperandSegments],
                                      ["getSizeRelations", "getHostScalars"]> {
  let summary = "Kimi Delta Attention over N packed sequences of T tokens";
  let description = [{
    What `tenon.kda_decode` computes token by token, for N sequences whose T tokens lie
    one behind the other. D is 128.

    **Mathematics**, per sequence, token t and head, S of shape [D(v), D(k)]:

    1. `x` = q, k and v each: `y_c[t] = sum_w weight[c, w] * x_c[t - 3 + w]`, then
       `silu(y) = y * sigmoid(y)`, rounded to bf16 unless `fp32_conv` is set. Inputs
       before the first token come from the history in conv_state, which becomes the
       last three raw inputs, bit-exact; of a sequence shorter than three, old inputs
       remain in it.
    2. `q <- D^-0.5 * q * rsqrt(sum q^2 + qk_eps)`, `k <- k * rsqrt(sum k^2 + qk_eps)`.
    3. `g = lower_bound * sigmoid(exp(a_log) * (raw_g + dt_bias))` (bounded) or
       `g = -exp(a_log) * softplus(raw_g + dt_bias)` (softplus).
    4. `beta = sigmoid(raw_beta)`.
    5. `S <- S diag(e^g)`, `u = beta * (v - S k)`, `S <- S + u k^T`, `o = S q`.
    6. `out = bf16(o * rsqrt(mean(o^2) + norm_eps) * norm_weight * sigmoid(out_gate))`,
       or `out = bf16(o)` without output norm.

    A kernel computes it in chunks of 64 tokens (docs/explanation/chunked-kda.md).
    Source: Kimi Linear technical report, 2025, in the form in which vLLM and
    flash-linear-attention serve it.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | qkv | bf16 | [T, 3*H*D] | raw projections, q then k then v; row stride free |
    | raw_g | bf16 | [T, H*D] | raw decay gate; row stride free |
    | raw_beta | bf16 | [T, H] | raw beta logit; row stride free |
    | out_gate | bf16 | [T, H*D] | raw output gate; row stride free; absent when output_norm is off |
    | conv_weight | f32 | [3*H*D, 4] | |
    | a_log | f32 | [H] | |
    | dt_bias | f32 | [H*D] | |
    | norm_weight | f32 or bf16 | [D] | absent when output_norm is off |
    | conv_state | bf16 | [S, L, 3*H*D] (`sd`) or [S, 3*H*D, L] (`ds`) | in and out; L >= 3; the history is columns 0 .. 2, other columns stay; slot stride free |
    | state | f32 | [S, H, D(v), D(k)] (`vk`) or [S, H, D(k), D(v)] (`kv`) | in and out; slot stride free; the order is in the type: `#tenon.state_layout<vk>` |
    | cu_seqlens | i32 | [N+1] | sequence i is tokens cu_seqlens[i] .. cu_seqlens[i+1] |
    | slot | i32 | [N] | slot of state and conv_state of each sequence; stride free |
    | initial_slot | i32 | [N] | optional: state and history are read there and written to slot; stride free |
    | has_initial_state | i8 | [N] | optional: 0: the sequence starts from a state and a history of zeros; 1 for all when absent |
    | row | i32 | [T] | optional: token t is row row[t] of qkv, raw_g, raw_beta, out_gate and out, which have R rows then |
    | checkpoint_offset | i32 | [N, M] or [N] | optional: tokens of the sequence behind which its state is kept |
    | checkpoint_slot | i32 | that of checkpoint_offset | where it is kept |
    | checkpoint_state | f32 | [P, H, D, D] | out; like state |
    | checkpoint_conv | bf16 | [P, L, 3*H*D] or [P, 3*H*D, L] | out; like conv_state |
    | plan | i32 | [C, 4] | optional: what `tenon.kda_plan` wrote for cu_seqlens; C is T / 64, rounded down, + N. The op computes it where it is absent |
    | out | bf16 | [T, H*D] | row stride free |

    `max_seq_len(%n)` is a host scalar that comes with a call: no sequence is longer.
    The lengths themselves are known to the device only. Without it, it is T.

    **Sequences.** One of no tokens keeps its state and history: zeros are written where
    has_initial_state is 0 or initial_slot is null, and with initial_slot a copy of what
    is there. A null slot (`null_slot` = `le0`: slot <= 0, `lt0`: slot < 0) marks padding:
    zeros are written to the rows of out of its tokens, no state and no checkpoint is read
    or written. A null initial_slot counts as no initial state. Rows of out of tokens at
    and past cu_seqlens[N], and rows that no token names, keep their contents; such rows
    of the inputs may hold anything.

    **Checkpoints.** The four operands go together. After checkpoint_offset[i, j] tokens of
    sequence i its state and history are written to slot checkpoint_slot[i, j] of
    checkpoint_state and checkpoint_conv (columns 0 .. 2). Nothing is written for an offset
    that is not a positive multiple of 64 or is beyond the sequence's end, or for a slot
    below 0. The pools may be those of state and conv_state.

    **Preconditions**: those of `tenon.kda_decode`, where alignment of 16 bytes also holds
    for plan and the pools of checkpoints, and 4 for the integer operands; the strides of
    qkv, raw_g, raw_beta, out_gate and out are below 2^25 bytes, so that a chunk spans less
    than 2^31; max_seq_len is not negative. N = 0 launches nothing.

    **Caller errors that no check can see on the device**: operands that overlap, but for
    the pools of checkpoints; two sequences with the same slot that is not null; a slot
    that is not null and not below S, or a checkpoint's not below P; an initial_slot that
    is the slot of another sequence; slots of checkpoints that are written twice or are in
    use; cu_seqlens that does not begin with 0, descends or ends above T; a sequence longer
    than max_seq_len; values of row that are not below R or that two tokens have; a plan of
    other sequences.

    **Numbers.** `products` says what matrix products are made of: `bf16`, operands are
    rounded to bf16, the inverse of a chunk's triangular matrix is not; `f16`, they are
    rounded to f16, which is about as fast and keeps three bits more, but has no place
    for magnitudes from 65,520 on: v after its convolution and the state must stay below
    that; `fp32`, no operand of a product and nothing that one launch hands to another
    is rounded to less than FP32 or two parts of bf16. Sums are in FP32. Results may
    depend on the schedule, and with it on max_seq_len, in their last bits; they do not
    depend on other sequences of the call.

    **Schedules** are ranked for `expected_tokens` tokens (4096 where it is absent) in
    `expected_sequences` sequences (1 where it is absent); the kernel takes any.
  }];
  let arguments = (ins
    AnyMemRef:$qkv, AnyMemRef:$raw_g, AnyMemRef:$raw_beta,
    Optional<AnyMemRef>:$out_gate, AnyMemRef:$conv_weight, AnyMemRef:$a_log,
    AnyMemRef:$dt_bias, Optional<AnyMemRef>:$norm_weight, AnyMemRef:$conv_state,
    AnyMemRef:$state, AnyMemRef:$cu_seqlens, AnyMemRef:$slot,
    Optional<AnyMemRef>:$initial_slot, Optional<AnyMemRef>:$has_initial_state,
    Optional<AnyMemRef>:$row, Optional<AnyMemRef>:$checkpoint_offset,
    Optional<AnyMemRef>:$checkpoint_slot, Optional<AnyMemRef>:$checkpoint_state,
    Optional<AnyMemRef>:$checkpoint_conv, Optional<AnyMemRef>:$plan,
    AnyMemRef:$out, Optional<Index>:$max_seq_len,
    ConfinedAttr<I64Attr, [IntPositive]>:$heads,
    I64Attr:$head_dim,
    Tenon_GateKindAttr:$gate,
    OptionalAttr<F64Attr>:$lower_bound,
    BoolAttr:$output_norm,
    F64Attr:$qk_eps,
    OptionalAttr<F64Attr>:$norm_eps,
    Tenon_NullSlotAttr:$null_slot,
    Tenon_ConvLayoutAttr:$conv_layout,
    Tenon_ProductsAttr:$products,
    UnitAttr:$fp32_conv,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$expected_tokens,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$expected_sequences,
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
    `state` `(` $state `:` type($state) `)`
    `cu_seqlens` `(` $cu_seqlens `:` type($cu_seqlens) `)`
    `slot` `(` $slot `:` type($slot) `)`
    (`initial_slot` `(` $initial_slot^ `:` type($initial_slot) `)`)?
    (`has_initial_state` `(` $has_initial_state^ `:` type($has_initial_state) `)`)?
    (`row` `(` $row^ `:` type($row) `)`)?
    (`checkpoint_offset` `(` $checkpoint_offset^ `:` type($checkpoint_offset) `)`)?
    (`checkpoint_slot` `(` $checkpoint_slot^ `:` type($checkpoint_slot) `)`)?
    (`checkpoint_state` `(` $checkpoint_state^ `:` type($checkpoint_state) `)`)?
    (`checkpoint_conv` `(` $checkpoint_conv^ `:` type($checkpoint_conv) `)`)?
    (`plan` `(` $plan^ `:` type($plan) `)`)?
    `out` `(` $out `:` type($out) `)`
    (`max_seq_len` `(` $max_seq_len^ `)`)?
    attr-dict
  }];
  let extraClassDeclaration = [{
    /// Order of the last two dimensions of `state`.
    ::tenon::spec::StateOrder getStateOrder();
  }];
}

#endif // TENON_DIALECTS_TENON_KDAPREFILLOP_TD
