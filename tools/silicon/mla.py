# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the first stages of decodes over a latent cache are launched: the persistent code
objects mla_*_ps of ROCm/aiter.

All heads of the tokens of a request attend to a context of rows of 576 values that are
found by an index per token; the first 512 of a row are its value as well. 256 workgroups
are launched, each of which works through a list of shares of contexts that was planned
before; without any it ends at once. A share leaves its normalised output and its
log-sum-exp in float32; a second kernel, which is no code object there, merges the shares.
A context that is one share alone is written in bf16.
"""

import os
from dataclasses import dataclass

import numpy as np

from . import formats

WIDTH, VALUE_WIDTH = 576, 512
WORKGROUPS = 256
BLOCK = (256, 1, 1)


@dataclass(frozen=True)
class Kernel:
    """A code object: heads, query tokens of a request, whether values are E4M3 (else
    bf16), and whether it takes scales of q and of the cache."""

    file: str
    heads: int
    tokens: int
    is_fp8: bool
    is_scaled: bool = True

    @property
    def row_bytes(self):
        """Of a row of the cache."""
        return WIDTH if self.is_fp8 else 2 * WIDTH

    def decode(self, codes):
        """Values of codes."""
        return formats.decode_e4m3(codes) if self.is_fp8 else formats.decode_bf16(codes)


# By type, heads and query tokens.
KERNELS = {
    (kernel.is_fp8, kernel.heads, kernel.tokens): kernel
    for kernel in (
        Kernel("mla_a8w8_qh32_qseqlen4_gqaratio32_ps.co", 32, 4, True),
        Kernel("mla_a8w8_qh16_qseqlen1_gqaratio16_ps.co", 16, 1, True),
        Kernel("mla_a8w8_qh16_qseqlen4_gqaratio16_v3_ps.co", 16, 4, True),
        # One object for up to four tokens.
        Kernel("mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_ps.co", 16, 1, False, False),
        Kernel("mla_a16w16_qh16_m16x4_n16x1_coex0_mask1_ps.co", 16, 4, False, False),
        Kernel("mla_a16w16_qh32_qseqlen4_gqaratio32_ps.co", 32, 4, False),
    )
}
PUBLISHED = KERNELS[True, 32, 4]
HEADS, TOKENS = PUBLISHED.heads, PUBLISHED.tokens


def path_of(folder, kernel=PUBLISHED):
    """Where the object lies in a copy of the project."""
    return os.path.join(folder, "hsa", "gfx950", "mla", kernel.file)


@dataclass(frozen=True)
class Decode:
    """Requests of one context length. shares: how many the planner is asked for, of each.
    pool: rows of the cache from which the contexts are picked at random. is_distinct: no
    row is picked twice."""

    context: int
    shares: int
    pool: int
    kernel: Kernel = PUBLISHED
    requests: int = 1
    is_distinct: bool = False

    def plan(self):
        """(begin, end) of the shares of a context. The planner counts in blocks of
        16 tokens and charges a share 16 blocks beyond its own."""
        block, overhead = 16, 16
        blocks = -(-self.context // block)
        step = -(-(blocks + overhead) // self.shares) * block
        begins = list(range(0, self.context, step))
        # A rest of less than the tokens of the query is left to the share before it.
        if len(begins) > 1 and self.context - begins[-1] < self.kernel.tokens:
            begins.pop()
        return list(zip(begins, begins[1:] + [self.context]))


@dataclass(frozen=True)
class Operands:
    """query [requests * tokens, heads, 576] and cache [pool, 576] as codes, and the index
    of each token's row, request after request."""

    query: np.ndarray
    cache: np.ndarray
    indices: np.ndarray


def indices_of(decode, seed):
    """Rows of the pool that the contexts are made of."""
    random = np.random.default_rng(seed)
    count = decode.context * decode.requests
    if decode.is_distinct:
        return random.permutation(decode.pool)[:count].astype(np.int32)
    return random.integers(0, decode.pool, count, np.int32)


def generate(decode, seed):
    """Operands from a seed: normal values, rounded to E4M3 by cutting, or to bf16."""
    random = np.random.default_rng(seed)
    codes = np.array([code for code in range(256) if code & 127 != 127], np.uint8)
    values = formats.decode_e4m3(codes)
    order = np.argsort(values, kind="stable")

    def draw(shape):
        wanted = random.standard_normal(shape)
        if not decode.kernel.is_fp8:
            return formats.encode_bf16(wanted)
        at = np.searchsorted(values[order], wanted, side="right") - 1
        return codes[order][at]

    kernel = decode.kernel
    return Operands(
        draw((decode.requests * kernel.tokens, kernel.heads, WIDTH)),
        draw((decode.pool, WIDTH)),
        indices_of(decode, seed + 1),
    )


SCALE = WIDTH**-0.5


def expected(decode, operands):
    """Outputs [shares, tokens, heads, 512] and log-sum-exps [shares, tokens, heads] in
    double precision, the shares of request after request. Token t does not see what lies
    behind row context - tokens + t."""
    kernel = decode.kernel
    queries = kernel.decode(operands.query)
    outputs, sums = [], []
    for request in range(decode.requests):
        query = queries[request * kernel.tokens : (request + 1) * kernel.tokens]
        first = request * decode.context
        rows = kernel.decode(operands.cache[operands.indices[first : first + decode.context]])
        for begin, end in decode.plan():
            scores = np.einsum("thd,kd->thk", query, rows[begin:end]) * SCALE
            last = decode.context - kernel.tokens + np.arange(kernel.tokens)
            hidden = np.arange(begin, end)[None, :] > last[:, None]
            scores = np.where(hidden[:, None, :], -np.inf, scores)
            top = scores.max(axis=-1, keepdims=True)
            weights = np.exp(scores - top)
            total = weights.sum(axis=-1, keepdims=True)
            values = rows[begin:end, :VALUE_WIDTH]
            outputs.append(np.einsum("thk,kv->thv", weights / total, values))
            sums.append((top + np.log(total))[..., 0])
    return np.array(outputs), np.array(sums)


def arguments(decode, folder, operands=None, seed=1):
    """The --arg texts for `tenon sim`; arrays are written into `folder`. What the kernel
    leaves is written to folder/output.npy and folder/sums.npy as bytes. Without operands
    query and cache are zeros, which take no room, and nothing is written: for times."""

    def save(name, array):
        file = os.path.join(folder, name + ".npy")
        np.save(file, array)
        return "npy:" + file

    def output(name):
        return f":out={folder}/{name}.npy" if operands else ""

    kernel = decode.kernel
    plan = [
        (request, begin, end)
        for request in range(decode.requests)
        for begin, end in decode.plan()
    ]
    works = np.zeros((len(plan), 8), np.int32)
    for number, (request, begin, end) in enumerate(plan):
        # Request, first row of the partial result (-1: the final one), tokens of the
        # query from and to, rows of the contexts from and to, rows behind the share.
        partial = number * kernel.tokens if len(plan) > decode.requests else -1
        first, query = request * decode.context, request * kernel.tokens
        works[number, :7] = (
            request,
            partial,
            query,
            query + kernel.tokens,
            first + begin,
            first + end,
            decode.context - end,
        )
    # Workgroups take equal numbers of shares that follow each other.
    ends = np.arange(WORKGROUPS + 1) * max(1, -(-len(plan) // WORKGROUPS))
    ends = np.minimum(ends, len(plan)).astype(np.int32)
    query_rows = decode.requests * kernel.tokens * kernel.heads
    if operands:
        query, cache = save("query", operands.query), save("cache", operands.cache)
        indices = operands.indices
    else:
        query = f"buf:{query_rows * kernel.row_bytes}"
        cache = f"buf:{decode.pool * kernel.row_bytes}"
        indices = indices_of(decode, seed)
    rows = len(plan) * kernel.tokens * kernel.heads
    one = save("one", np.ones(1, np.float32))
    tables = [save("ends", ends), save("works", works)]
    tokens = np.arange(decode.requests + 1, dtype=np.int32) * kernel.tokens
    scales = [f"DQ={one}", f"DK={one}", f"out_16_nosplit=i32:{decode.shares}"]
    return [
        f"O=buf:{rows * VALUE_WIDTH * 4}{output('output')}",
        f"Q=buf:{rows * 4}{output('sums')}",
        f"K={query}",
        f"V={cache}",
        f"CL={save('indices', indices)}",
        f"sclg=f32:{SCALE}",
        f"mblk=i32:{kernel.heads}",
        f"batch=i32:{decode.shares}",
        f"Bs=i32:{kernel.row_bytes}",
        "Cs=i32:0",  # logarithm of the rows of a page
        f"QT={save('tokens', tokens)}",
        f"ST=table:{','.join(tables)}",
        f"RP=buf:{query_rows * VALUE_WIDTH * 2}",
        *(scales if kernel.is_scaled else []),
    ]
