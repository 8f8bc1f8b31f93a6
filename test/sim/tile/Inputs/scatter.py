# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`scatter.py make IN ROWS`: 64 rows of 8 numbers and where they go, four of them nowhere.
`scatter.py check IN ROWS OUT FOUND`: the 100 rows they went to, the greatest index and the
sum of all."""

import sys

import numpy as np


def make(source, rows):
    random = np.random.default_rng(6)
    np.save(source, random.integers(1, 1 << 20, (64, 8)).astype(np.float32))
    indices = random.permutation(100)[:64].astype(np.int32)
    indices[[3, 17, 40, 63]] = [-1, 100, -7, 1 << 20]
    np.save(rows, indices)


def check(source, rows, out, found):
    values, indices = np.load(source), np.load(rows)
    got = np.load(out).view(np.float32).reshape(-1, 8)
    want = np.zeros((100, 8), np.float32)
    exists = (indices >= 0) & (indices < 100)
    want[indices[exists]] = values[exists]
    assert np.array_equal(got[:100], want), np.argwhere(got[:100] != want)[:4]
    most, total = np.load(found).view(np.int32)
    assert (most, total) == (indices.max(), indices.sum()), (most, total)


{"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
