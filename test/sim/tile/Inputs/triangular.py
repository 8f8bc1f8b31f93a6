# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A strictly lower triangular matrix of nearly equal keys, and its inverse's error."""

import sys

import numpy as np


def make(prefix):
    """L[i, j] = beta k_i . k_j of keys that differ by 2 %, NaN on and above the
    diagonal: powers of its 16x16 blocks reach thousands, the inverse does not."""
    rng = np.random.default_rng(5)
    keys = rng.normal(size=(1, 128)) + 0.02 * rng.normal(size=(64, 128))
    keys /= np.linalg.norm(keys, axis=1, keepdims=True)
    l = (0.95 * keys @ keys.T).astype(np.float32)
    l[np.triu_indices(64)] = np.nan
    np.save(f"{prefix}.l.npy", l)


def check(prefix, low, high):
    """Fails unless the largest error of an element, as a fraction of the largest
    element of the inverse, is between low and high."""
    l = np.tril(np.nan_to_num(np.load(f"{prefix}.l.npy")), -1).astype(np.float64)
    expected = np.linalg.inv(np.eye(64) + l)
    raw = np.load(f"{prefix}.out.npy")
    found = raw.view(np.float32).reshape(64, 64).astype(np.float64)
    error = np.abs(found - expected).max() / np.abs(expected).max()
    print(f"error {error:.2e}")
    return 0 if low <= error <= high else 1


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        sys.exit(check(sys.argv[2], float(sys.argv[3]), float(sys.argv[4])))
