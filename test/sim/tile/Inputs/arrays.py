# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays for tile programs: `arrays.py make FILE COUNT DTYPE [SEED]` writes random
numbers that any format holds (small integers), `arrays.py same A B [COUNT]` compares
(the first COUNT) bytes."""

import sys

import numpy as np


def make(path, count, dtype, seed=1):
    values = np.random.default_rng(int(seed)).integers(-8, 9, int(count))
    if dtype == "bf16":
        values = values.astype(np.float32).view(np.uint32) >> 16
        dtype = "uint16"
    np.save(path, values.astype(dtype))


def same(a, b, count=None):
    first, second = (np.load(path).reshape(-1).view(np.uint8) for path in (a, b))
    end = int(count) if count else max(len(first), len(second))
    if not np.array_equal(first[:end], second[:end]):
        differ = np.flatnonzero(first[:end] != second[:end])
        sys.exit(f"{len(differ)} bytes differ, the first at {differ[0]}")


if __name__ == "__main__":
    {"make": make, "same": same}[sys.argv[1]](*sys.argv[2:])
