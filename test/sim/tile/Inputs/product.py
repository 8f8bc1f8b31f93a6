# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operands of a product x w^T as bf16: `product.py make PREFIX M N K`,
`product.py check PREFIX` compares PREFIX.out.npy (f32). `product.py fp32 PREFIX M N K` makes
operands of FP32, and `product.py error PREFIX LOW HIGH` holds the greatest error of the
result, as a fraction of the sum of the terms' magnitudes, between the two."""

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


def fp32(prefix, m, n, k):
    generator = np.random.default_rng(4)
    for name, rows in (("x", m), ("w", n)):
        shape = (int(rows), int(k))
        values = generator.choice([-1.0, 1.0], shape) * generator.uniform(1.0, 2.0, shape)
        values = np.ldexp(values, generator.integers(-20, 21, shape))
        np.save(f"{prefix}.{name}.npy", values.astype(np.float32))


def error(prefix, low, high):
    x, w = (np.load(f"{prefix}.{name}.npy").astype(np.float64) for name in "xw")
    found = np.load(f"{prefix}.out.npy").view(np.float32).reshape(len(x), len(w))
    worst = (np.abs(found - x @ w.T) / (np.abs(x) @ np.abs(w).T)).max()
    print(f"greatest error {worst:.3g} of the terms' magnitudes")
    if not float(low) <= worst <= float(high):
        sys.exit(f"not between {low} and {high}")


if __name__ == "__main__":
    {"make": make, "check": check, "fp32": fp32, "error": error}[sys.argv[1]](*sys.argv[2:])
