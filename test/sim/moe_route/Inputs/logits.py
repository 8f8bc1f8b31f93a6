# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`logits.py make FILE TOKENS EXPERTS`: rows of equal logits, rows where sigmoid saturates,
rows in ascending and in descending order, rows with few numbers among NaN, rows of NaN.
`logits.py check IDS WEIGHTS EXPERTS`: indices are in range and different, weights numbers."""

import sys

import numpy as np


def make(path, tokens, experts):
    tokens, experts = int(tokens), int(experts)
    random = np.random.default_rng(3)
    rows = []
    for token in range(tokens):
        kind = token % 6
        if kind == 0:
            row = np.full(experts, 0.5)
        elif kind == 1:
            # Whole numbers: sigmoid is 1 in FP32 from 18 on, and many are equal.
            row = random.integers(30, 34, experts)
        elif kind == 2:
            row = np.linspace(-4, 4, experts)
        elif kind == 3:
            row = np.linspace(4, -4, experts)
        elif kind == 4:
            row = np.full(experts, np.nan)
            row[:: experts // 5] = random.normal(0, 1, len(row[:: experts // 5]))
        else:
            row = np.full(experts, np.nan)
        rows.append(row)
    np.save(path, np.array(rows, np.float32))


def check(ids, weights, experts):
    ids, weights = np.load(ids), np.load(weights)
    assert ((ids >= 0) & (ids < int(experts))).all()
    assert all(len(set(row)) == len(row) for row in ids)
    assert np.isfinite(weights).all()
    # Row 0: all are equal, the lowest indices win, with equal weights; row 5: all are NaN.
    assert (ids[0] == np.arange(ids.shape[1])).all()
    assert (ids[5] == np.arange(ids.shape[1])).all() and (weights[5] == 0).all()


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
