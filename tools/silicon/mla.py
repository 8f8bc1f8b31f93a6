# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the first stage of a decode over a latent cache is launched: the code object
mla_a8w8_qh32_qseqlen4_gqaratio32_ps of ROCm/aiter.

32 heads of 4 tokens (128 rows of 576 E4M3 values) attend to a context of rows of 576
E4M3 values that are found by an index per token; the first 512 of a row are its value
as well. 256 workgroups are launched, each of which works through a list of shares of a
context that was planned before; without any it ends at once. A share leaves its
normalised output and its log-sum-exp in float32; a second kernel, which is no code
object there, merges the shares. A context that is one share alone is written in bf16.
"""

import os
from dataclasses import dataclass

import numpy as np

from . import formats

OBJECT = "mla_a8w8_qh32_qseqlen4_gqaratio32_ps.co"
HEADS, TOKENS = 32, 4
WIDTH, VALUE_WIDTH = 576, 512
WORKGROUPS = 256
BLOCK = (256, 1, 1)


def path_of(folder):
    """Where the object lies in a copy of the project."""
    return os.path.join(folder, "hsa", "gfx950", "mla", OBJECT)


@dataclass(frozen=True)
class Decode:
    """One request. shares: how many the planner is asked for. pool: rows of the cache
    from which the context is picked at random."""

    context: int
    shares: int
    pool: int

    def plan(self):
        """(begin, end) of the shares of the context. The planner counts in blocks of
        16 tokens and charges a share 16 blocks beyond its own."""
        block, overhead = 16, 16
        blocks = -(-self.context // block)
        step = -(-(blocks + overhead) // self.shares) * block
        begins = list(range(0, self.context, step))
        # A rest of less than the tokens of the query is left to the share before it.
        if len(begins) > 1 and self.context - begins[-1] < TOKENS:
            begins.pop()
        return list(zip(begins, begins[1:] + [self.context]))


@dataclass(frozen=True)
class Operands:
    """query [4, 32, 576] and cache [pool, 576] in E4M3 codes, and the index of each
    token's row."""

    query: np.ndarray
    cache: np.ndarray
    indices: np.ndarray


def indices_of(decode, seed):
    """Rows of the pool that the context is made of."""
    random = np.random.default_rng(seed)
    return random.integers(0, decode.pool, decode.context, np.int32)


def generate(decode, seed):
    """Operands from a seed: normal values, rounded to E4M3 by cutting."""
    random = np.random.default_rng(seed)
    codes = np.array([code for code in range(256) if code & 127 != 127], np.uint8)
    values = formats.decode_e4m3(codes)
    order = np.argsort(values, kind="stable")

    def draw(shape):
        wanted = random.standard_normal(shape)
        at = np.searchsorted(values[order], wanted, side="right") - 1
        return codes[order][at]

    return Operands(
        draw((TOKENS, HEADS, WIDTH)),
        draw((decode.pool, WIDTH)),
        indices_of(decode, seed + 1),
    )


SCALE = WIDTH**-0.5


def expected(decode, operands):
    """Outputs [shares, 4, 32, 512] and log-sum-exps [shares, 4, 32] in double
    precision. Token t does not see what lies behind row context - 4 + t."""
    query = formats.decode_e4m3(operands.query)
    rows = formats.decode_e4m3(operands.cache[operands.indices])
    outputs, sums = [], []
    for begin, end in decode.plan():
        scores = np.einsum("thd,kd->thk", query, rows[begin:end]) * SCALE
        last = decode.context - TOKENS + np.arange(TOKENS)
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

    plan = decode.plan()
    works = np.zeros((len(plan), 8), np.int32)
    for number, (begin, end) in enumerate(plan):
        # Request, first row of the partial result (-1: the final one), tokens of the
        # query from and to, rows of the context from and to, rows behind the share.
        partial = number * TOKENS if len(plan) > 1 else -1
        works[number, :7] = (0, partial, 0, TOKENS, begin, end, decode.context - end)
    # Share i is the only one of workgroup i.
    ends = np.minimum(np.arange(WORKGROUPS + 1), len(plan)).astype(np.int32)
    if operands:
        query, cache = save("query", operands.query), save("cache", operands.cache)
        indices = operands.indices
    else:
        query = f"buf:{TOKENS * HEADS * WIDTH}"
        cache = f"buf:{decode.pool * WIDTH}"
        indices = indices_of(decode, seed)
    rows = len(plan) * TOKENS * HEADS
    one = save("one", np.ones(1, np.float32))
    tables = [save("ends", ends), save("works", works)]
    return [
        f"O=buf:{rows * VALUE_WIDTH * 4}{output('output')}",
        f"Q=buf:{rows * 4}{output('sums')}",
        f"K={query}",
        f"V={cache}",
        f"CL={save('indices', indices)}",
        f"sclg=f32:{SCALE}",
        f"mblk=i32:{HEADS}",
        f"batch=i32:{decode.shares}",
        f"Bs=i32:{WIDTH}",
        "Cs=i32:0",  # logarithm of the rows of a page
        f"QT={save('tokens', np.array([0, TOKENS], np.int32))}",
        f"ST=table:{','.join(tables)}",
        f"RP=buf:{TOKENS * HEADS * VALUE_WIDTH * 2}",
        f"DQ={one}",
        f"DK={one}",
        f"out_16_nosplit=i32:{decode.shares}",
    ]
