# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""acceptance.py [PART OF]: tenon.mla_decode over lengths, pages, heads and types.

A sample that has every value of every axis, every pair of heads and query tokens, and
every pair of length and page size. Requests of a case have different lengths, one of
them none; every cache has NaN in what no request uses, and every table numbers that are
no pages past the ends. PART of OF parts runs every OF-th case. Each case is compared with
the reference; the script ends with the first that fails.
"""

import itertools
import subprocess
import sys

HEADS = (12, 16, 24, 96, 128)
# Query tokens; those of a draft do not mask each other.
QUERIES = ((1, "on"), (2, "on"), (4, "on"), (7, "off"))
BATCHES = (1, 3, 8, 16, 24, 33, 48, 64, 128)
LENGTHS = (1, 4, 17, 63, 64, 65, 127, 128, 129, 1200, 8192, 68432, 100000, 327600)
PAGES = (1, 16, 64, 128)
TYPES = (("bf16", "bf16"), ("fp8", "fp8"), ("bf16", "fp8"), ("fp8", "bf16"))
DATA = (None, "sharp", "flat", "outliers")


def lengths(batch, longest):
    """As many different lengths as go, from the longest down, and one of padding."""
    step = max(1, longest // batch)
    made = [max(1, longest - step * request) for request in range(batch)]
    if batch > 2:
        made[batch // 2] = 0
    return made


def cases():
    """The options of every case."""
    # Long requests have few rows and are few, so that the sample is quickly run.
    pairs = sorted(itertools.product(HEADS, QUERIES), key=lambda pair: pair[0] * pair[1][0])
    spans = sorted(itertools.product(LENGTHS, PAGES), reverse=True)
    batches = itertools.cycle(BATCHES)
    for number, (length, page) in enumerate(spans):
        heads, (queries, causal) = pairs[number % len(pairs) if length <= 1200 else number % 4]
        batch = next(batches) if length <= 129 else 3 if length <= 8192 else 1
        query_type, cache_type = TYPES[number // 2 % 4]
        settings = {
            "H": heads,
            "max_queries": queries,
            "causal": causal,
            "q": query_type,
            "kv": cache_type,
            "out": "f32" if number % 3 == 0 else "bf16",
            "q_rope": "on" if number % 7 == 3 else "off",
            "packed": "on" if number % 5 == 2 else "off",
        }
        words = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
        listed = ",".join(map(str, lengths(batch, length)))
        words += ["--list", f"seq_len={listed}", "--dim", f"page={page}"]
        if DATA[number % 4]:
            words += ["--data", DATA[number % 4]]
        if number % 11 == 5:
            # Pages anywhere in a pool of more than 2^32 bytes.
            words += ["--dim", f"P={2**33 // (page * 1152)}"]
        if number % 13 == 7:
            words += ["--stride", f"kv={page * 592 + 64},592"]
        yield words


def main():
    """Entry point."""
    part, of = (int(word) for word in sys.argv[1:3]) if len(sys.argv) > 2 else (0, 1)
    for words in itertools.islice(cases(), part, None, of):
        command = ["tenon", "run", "--op", "mla_decode", *words, "--check", "--checks", "none"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED: {' '.join(command)}\n{done.stdout}{done.stderr}")
        print(" ".join(words), done.stdout, sep="\n", flush=True)


main()
