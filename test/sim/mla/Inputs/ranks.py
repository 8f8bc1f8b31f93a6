# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ranks.py PREFIX SIZE INTERLEAVE: context parallelism, rank by rank.

Each rank of SIZE is given its own keys, INTERLEAVE at a time, and computes its part with
tenon.mla_decode, which is checked against the reference. The parts of all ranks, merged
by tenon.mla_merge, must be what numpy computes from all keys, and what tenon.mla_decode
computes where one rank has them all. Lengths leave ranks empty, and some queries of
others; one and four query tokens.
"""

import subprocess
import sys

import numpy

PREFIX = sys.argv[1]
SIZE, INTERLEAVE = int(sys.argv[2]), int(sys.argv[3])
HEADS, PAGE = 12, 16
SCALE = 192**-0.5
LENGTHS = [0, 1, SIZE * INTERLEAVE - 1, SIZE * INTERLEAVE + 1, 17, 131]


def bf16(values):
    """The nearest bf16 values, as float32."""
    bits = numpy.ascontiguousarray(values, numpy.float32).view(numpy.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)


def run(op, settings, options):
    """One checked run."""
    words = [word for item in settings for word in ("--set", item)]
    command = ["tenon", "run", "--op", op, *words, "--check", *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(command)}\n{done.stdout}{done.stderr}")


def files(arrays, outputs):
    """Options that give the arrays and take the outputs."""
    options = []
    for name, array in arrays.items():
        numpy.save(f"{PREFIX}.{name}.npy", array)
        options += ["--input", f"{name}={PREFIX}.{name}.npy"]
    for name in outputs:
        options += ["--output", f"{name}={PREFIX}.{name}.npy"]
    return options


def decode(queries, keys, size, rank):
    """out and lse of a rank; keys of the requests are those that it has."""
    pages = [-(-len(own) // PAGE) for own in keys]
    blocks = max(1, max(pages))
    cache = numpy.full((sum(pages) + 1, PAGE, 576), numpy.nan, numpy.float32)
    table = numpy.full((len(keys), blocks), 2**31 - 1, numpy.int32)
    order = numpy.random.default_rng(rank).permutation(sum(pages) + 1)
    used = 0
    for request, own in enumerate(keys):
        for block in range(pages[request]):
            page = order[used]
            used += 1
            table[request, block] = page
            part = own[block * PAGE : (block + 1) * PAGE]
            cache[page, : len(part)] = part
    settings = [f"H={HEADS}", "out=f32", f"cp_size={size}", f"cp_interleave={INTERLEAVE}"]
    arrays = {
        "q": queries,
        "kv": cache,
        "block_table": table,
        "seq_len": numpy.array(LENGTHS, numpy.int32),
    }
    run(
        "mla_decode",
        settings,
        ["--arg", f"cp_rank={rank}", *files(arrays, ["out", "lse"])],
    )
    return [numpy.load(f"{PREFIX}.{name}.npy").astype(numpy.float64) for name in ("out", "lse")]


def expected(queries, keys):
    """Attention over all keys in double precision."""
    count = queries.shape[1]
    out = numpy.zeros((*queries.shape[:3], 512))
    lse = numpy.full(queries.shape[:3], -numpy.inf)
    for request, own in enumerate(keys):
        for token in range(count):
            length = LENGTHS[request] - count + 1 + token
            if length <= 0:
                continue
            seen = own[:length].astype(numpy.float64)
            scores = queries[request, token].astype(numpy.float64) @ seen.T * SCALE
            most = scores.max(axis=1, keepdims=True)
            weights = numpy.exp(scores - most)
            total = weights.sum(axis=1, keepdims=True)
            out[request, token] = weights / total @ seen[:, :512]
            lse[request, token] = (most + numpy.log(total))[:, 0]
    return out, lse


def close(found, wanted, what):
    """Checks values, weights of which are rounded to bf16, and logarithms."""
    numpy.testing.assert_allclose(found[0], wanted[0], rtol=2.01 / 128, atol=8e-3, err_msg=what)
    numpy.testing.assert_allclose(found[1], wanted[1], rtol=1e-5, atol=1e-5, err_msg=what)


for tokens in (1, 4):
    random = numpy.random.default_rng(tokens)
    query = bf16(random.standard_normal((len(LENGTHS), tokens, HEADS, 576)))
    every = [bf16(random.standard_normal((length, 576))) for length in LENGTHS]
    parts = []
    for number in range(SIZE):
        mine = [
            own[[j for j in range(len(own)) if j // INTERLEAVE % SIZE == number]] for own in every
        ]
        parts.append(decode(query, mine, SIZE, number))
    rows = len(LENGTHS) * tokens * HEADS
    gathered = {
        "parts": numpy.stack([part[0].reshape(rows, 512) for part in parts]).astype(numpy.float32),
        "lse": numpy.stack([part[1].reshape(rows) for part in parts]).astype(numpy.float32),
    }
    run("mla_merge", ["out=f32"], files(gathered, ["out", "merged_lse"]))
    merged = [
        numpy.load(f"{PREFIX}.out.npy").reshape(*query.shape[:3], 512),
        numpy.load(f"{PREFIX}.merged_lse.npy").reshape(query.shape[:3]),
    ]
    close(merged, expected(query, every), f"{tokens} tokens: merged, and all keys")
    if SIZE > 1:
        close(merged, decode(query, every, 1, 0), f"{tokens} tokens: merged, and one rank")
