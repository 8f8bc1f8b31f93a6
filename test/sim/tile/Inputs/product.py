# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of a product x w^T as bf16: `product.py make PREFIX M N K`,
`product.py check PREFIX` compares PREFIX.out.npy (f32)."""

import sys

import numpy as np


def make(prefix, m, n, k):
    generator = np.random.default_rng(3)
    for name, rows in (("x", m), ("w", n)):
        values = generator.integers(-4, 5, (int(rows), int(k))).astype(np.float32)
        np.save(f"{prefix}.{name}.npy", (values.view(np.uint32) >> 16).astype(np.uint16))


def check(prefix):
    def load(name):
        return (np.load(f"{prefix}.{name}.npy").astype(np.uint32) << 16).view(np.float32)

    want = load("x") @ load("w").T
    found = np.load(f"{prefix}.out.npy").view(np.float32).reshape(want.shape)
    if not np.array_equal(want, found):
        sys.exit(f"{(want != found).sum()} of {want.size} elements differ")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
