//===- MlaDecodeOp.td - MLA over a paged latent cache ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef TENON_DIALECTS_TENON_MLADECODEOP_TD
#define TENON_DIALECTS_TENON_MLADECODEOP_TD

include "dialects/Tenon/SpecOp.td"

def Tenon_MlaPlanOp : Tenon_SpecOp<"mla_plan", [], ["getHostScalars"]> {
  let summary = "How the histories of a batch are split over workgroups";
  let description = [{
    Splits the keys of B requests into parts, for every `tenon.mla_decode` of a step. The
    lengths are read on the device: a launch captured in a graph is right and fast at
    any of them.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | seq_len | i32 | [B] | global length of each request, as of `tenon.mla_decode` |
    | plan | i32 | [N, 4] | out; G = N - B slots of parts, then a row per request |

    `cp_rank` is a host scalar that comes with a call, from 0 to cp_size - 1; 0 without
    context parallelism.

    **Lengths.** `cp_size` ranks share the keys of a request, `cp_interleave` at a time:
    of S keys rank r has, with W ranks, I keys at a time and divisions rounded down,

    `S / (W*I) * I + min(max(S - S / (W*I) * W*I - r*I, 0), I)`.

    That of the whole length is the number of keys of a request here; queries that see
    fewer have no part of their own.

    **Rows of the plan.** A slot g < G is a part of a request, or none:

    | column | of slot g | of row G + b, request b |
    |---|---|---|
    | 0 | its request; -1, and zeros behind it: no part | first slot of the request |
    | 1 | its first local key | number of its slots, at least 1 |
    | 2 | the local key behind its last | its keys on this rank |
    | 3 | number of slots of its request | 0 |

    The slots of a request follow each other, as those of all requests do; unused slots
    are the last ones. A slot begins at a multiple of 64 keys. A request without keys has
    one slot, of keys 0 to 0.

    **The rule.** All slots of a step have the same number of keys, 64 m, but the last of
    each request, which has the rest. Let x be a request's keys over 64, rounded up, and L
    the greatest x. m is one of `max(1, L / n)`, rounded up, for the n of 1 to 16 and then
    eight to each octave up to 1024, for which the slots, `s = sum of max(1, x / m)` with
    quotients rounded up, are not above G. Of these it is the one of the least estimated
    time; of equals the greatest. In time that a workgroup needs for 64 keys, in FP32,
    with P = `workgroups` and the work `w = 16 * sum of x / 16` (rounded up):

    - a slot takes `t = m + 2`;
    - all take at least `least = (w + s * rows / 16) / P` (rows / 16 rounded up): every
      slot writes its results and has them read again;
    - slots of one length would take `even = s / P * t` (s / P rounded up);
    - the estimate is `max(least, min(even, least + t))`.

    `rows` is heads times queries of a request; `workgroups` is the number of compute units
    over the workgroups that share a slot.
    Lengths are read on the device and nothing else depends on them, so that the parts, and
    with them every bit of a result, are the same in every run.

    N must be at least 2 B: a slot per request is enough for any lengths; more allow to
    split. `2 B + max(B, workgroups)` leave no speed behind.

    **Preconditions**: 4-byte alignment of seq_len, 16-byte alignment of plan. B = 0
    launches nothing.

    **Caller errors that no check can see on the device**: operands that overlap.
  }];
  let arguments = (ins
    AnyMemRef:$seq_len, AnyMemRef:$plan, Index:$cp_rank,
    ConfinedAttr<I64Attr, [IntPositive]>:$rows,
    ConfinedAttr<I64Attr, [IntPositive]>:$workgroups,
    ConfinedAttr<I64Attr, [IntPositive]>:$cp_size,
    ConfinedAttr<I64Attr, [IntPositive]>:$cp_interleave,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `seq_len` `(` $seq_len `:` type($seq_len) `)`
    `plan` `(` $plan `:` type($plan) `)`
    `cp_rank` `(` $cp_rank `)` attr-dict
  }];
}

def Tenon_MlaDecodeOp : Tenon_SpecOp<"mla_decode", [AttrSizedOperandSegments],
                                     ["getSizeRelations", "getHostScalars"]> {
  let summary = "Attention of the last tokens of B requests over a paged latent cache";
  let description = [{
    Multi-head latent attention with absorbed queries: all H heads share keys and values.
    A row of the cache has 576 columns; it is a key, and its first 512 columns are the
    value.

    **Mathematics**, per request, query token t and head, over the keys j that the query
    sees, q and kv multiplied by their scales:

    1. `s_j = scale * sum_c q[c] * kv_j[c]` over 576 columns.
    2. `lse = ln(sum_j e^s_j)`.
    3. `out[c] = sum_j e^(s_j - lse) * kv_j[c]` over 512 columns, rounded once.

    A query that sees no key has out 0 and lse minus infinity. Rotary embedding, where a
    model has it, is done before. Source: DeepSeek-V2 technical report, 2024.

    **Operands**

    | name | type | shape | note |
    |---|---|---|---|
    | q | bf16 or f8E4M3FN | [B, Q, H, 576] or [T, H, 576] | absorbed queries; strides but the last free; 512 columns with q_rope |
    | q_rope | that of q | [B, Q, H, 64] or [T, H, 64] | optional: the last 64 columns of q; strides but the last free |
    | qo_indptr | i32 | [B+1] | with T packed tokens: request b has tokens qo_indptr[b] .. qo_indptr[b+1] |
    | kv | bf16 or f8E4M3FN | [P, page, 576] | latent cache; strides of pages and of rows free |
    | block_table | i32 | [B, M] | page of each block of keys of this rank; stride of B free |
    | seq_len | i32 | [B] | length of each request over all ranks, its query tokens included; 0 or less is padding |
    | q_scale | f32 | [1] | exactly when q is f8E4M3FN |
    | kv_scale | f32 | [1] | exactly when kv is f8E4M3FN |
    | plan | i32 | [N, 4] | optional: what `tenon.mla_plan` wrote for seq_len; the op works it out where it is absent: up to 8 requests in the workgroups of attention, more in a launch of its own |
    | out | bf16 or f32 | [B, Q, H, 512] or [T, H, 512] | strides but the last free |
    | lse | f32 | [B, Q, H] or [T, H] | optional; strides but the last free |

    H is from 1 to 128, Q from 1 to `max_queries`, which is at most 16. Packed requests
    have 0 to max_queries tokens each. `cp_rank` is a host scalar that comes with a call,
    from 0 to cp_size - 1; 0 without context parallelism.

    **Lengths.** With `causal`, query t of a request of n tokens sees the global positions
    below `seq_len - n + 1 + t`; else all of them see those below seq_len.

    **Context parallelism.** `cp_size` = W ranks share the keys of a request,
    `cp_interleave` = I at a time: key j of rank r, row `j % page` of page
    `block_table[b, j / page]`, has the global position `(j / I) * W*I + r*I + j % I`. Each
    query masks by its own global length. A rank's out and lse are those over its own
    keys; `tenon.mla_merge` makes the parts of all ranks one. W = 1 is attention over all
    keys.

    **The cache.** Only rows of keys that some query of the request sees are read, and
    only entries of block_table that hold such rows: others may hold anything. Any
    number of pages and any page size go; the rows of pages need not be dense.

    **Rounding.** The weights that meet the values are `w_j = e^(s_j - m)`, m being a running
    maximum of the row, rounded up so that e^m is a power of two. They are rounded to bf16;
    where both q and kv are f8E4M3FN, to f8E4M3FN after a factor 2^8 (at most 256; 448 is
    the limit), unless `bf16_probabilities` is set. The divisor and lse come from the FP32
    sum of the unrounded weights. So in bf16 neither the order of keys nor how they are
    split changes more than the last bits; in FP8 weights below 2^-14 of the greatest are
    rounded against the maximum that their slot has met by then. Relative to the root mean square of the values, the
    error of rounding the weights is about 2^-9 (bf16) or 2^-5 (f8E4M3FN).

    **FP8.** A value is its code times the operand's scale, which is read on the device.
    Where one of q and kv is f8E4M3FN and the other bf16, the codes are converted to bf16,
    which is exact.

    **Rows of one request** are query t of head h, in the order t * H + h.

    **Parts.** Of a request with one slot in the plan, out and lse are written at once.
    Of others, slot g leaves FP32 results of all rows, divided by its own sum, and
    logarithms to base 2 in a workspace, and a last launch adds them in the order of the
    slots: a result does not change from run to run.

    **Preconditions**: 16-byte alignment of the bases and of the free strides of q, q_rope,
    kv, plan and out, 4-byte alignment of the rest; no stride is negative; those of
    pages are 64-bit, those of rows of kv below 2^29 bytes, the others below 2^31 bytes; the
    rows of one request lie within 2^31 bytes in each of q, q_rope, out and lse; N is at
    least 2 B. B = 0 launches nothing.

    **Caller errors that no check can see on the device**: operands that overlap; entries
    of block_table that are used and not from 0 to P - 1; more keys than M pages hold; a
    request of more than max_queries tokens; qo_indptr that does not begin at 0 or
    descends; a plan for other lengths, ranks or B.
  }];
  let arguments = (ins
    AnyMemRef:$q, Optional<AnyMemRef>:$q_rope, Optional<AnyMemRef>:$qo_indptr,
    AnyMemRef:$kv, AnyMemRef:$block_table, AnyMemRef:$seq_len,
    Optional<AnyMemRef>:$q_scale, Optional<AnyMemRef>:$kv_scale,
    Optional<AnyMemRef>:$plan, AnyMemRef:$out, Optional<AnyMemRef>:$lse,
    Index:$cp_rank,
    I64Attr:$max_queries, BoolAttr:$causal, F64Attr:$scale,
    ConfinedAttr<I64Attr, [IntPositive]>:$cp_size,
    ConfinedAttr<I64Attr, [IntPositive]>:$cp_interleave,
    UnitAttr:$bf16_probabilities,
    OptionalAttr<ArrayAttr>:$schedules);
  let assemblyFormat = [{
    `q` `(` $q `:` type($q) `)`
    (`q_rope` `(` $q_rope^ `:` type($q_rope) `)`)?
    (`qo_indptr` `(` $qo_indptr^ `:` type($qo_indptr) `)`)?
    `kv` `(` $kv `:` type($kv) `)`
    `block_table` `(` $block_table `:` type($block_table) `)`
    `seq_len` `(` $seq_len `:` type($seq_len) `)`
    (`q_scale` `(` $q_scale^ `:` type($q_scale) `)`)?
    (`kv_scale` `(` $kv_scale^ `:` type($kv_scale) `)`)?
    (`plan` `(` $plan^ `:` type($plan) `)`)?
    `out` `(` $out `:` type($out) `)`
    (`lse` `(` $lse^ `:` type($lse) `)`)?
    `cp_rank` `(` $cp_rank `)` attr-dict
  }];
  let extraClassDeclaration = [{
    /// H, which the type of q has before its columns.
    int64_t getHeads();
    /// Whether the tokens of requests are packed, [T, H, ...].
    bool isPacked() { return static_cast<bool>(getQoIndptr()); }
    /// Rows that a request has at most: queries times heads.
    int64_t getRows() { return int64_t(getMaxQueries()) * getHeads(); }
    /// Whether q, and whether kv, are FP8 with a scale.
    bool hasFp8Queries();
    bool hasFp8Cache();
    /// Whether the weights of values are rounded to FP8.
    bool hasFp8Probabilities() {
      return hasFp8Queries() && hasFp8Cache() && !getBf16Probabilities();
    }
  }];
}

#endif // TENON_DIALECTS_TENON_MLADECODEOP_TD
