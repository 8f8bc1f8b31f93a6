# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`far_rows.py PREFIX`: 100 rows of 64 numbers, indices of 64 of them to read and of 64 to
write, and what an array that is written so holds before and after."""

import sys

import numpy as np

prefix = sys.argv[1]
random = np.random.default_rng(6)
values = random.integers(1, 1 << 20, (100, 64)).astype(np.float32)
before = random.integers(1, 1 << 20, (100, 64)).astype(np.float32)
read = random.integers(0, 100, 64).astype(np.int32)
write = random.permutation(100)[:64].astype(np.int32)
read[[3, 17]] = [-1, -1000]
write[[5, 17, 40]] = [-1, -(1 << 31), -2]
after = before.copy()
for source, place in zip(read, write):
    if place >= 0:
        row = values[source] if source >= 0 else np.zeros(64, np.float32)
        after[place, :60] = np.where(np.arange(64) < 50, row, 0)[:60]
for name, array in (
    ("in", values),
    ("from", read),
    ("to", write),
    ("before", before),
    ("want", after),
):
    np.save(f"{prefix}.{name}.npy", array)
