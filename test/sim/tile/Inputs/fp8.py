# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fp8.py make A B`: numbers of which most are not E4M3, ties and subnormal ones among
them. `fp8.py check A B PRODUCT WIDE BF16`: the product of what they round to, and that."""

import sys

import numpy as np


def table():
    """The E4M3 numbers from 0 on, by code."""
    codes = np.arange(127)
    exponent, fraction = codes >> 3, codes & 7
    normal = (1 + fraction / 8) * 2.0 ** (exponent - 7)
    return np.where(exponent == 0, fraction * 2.0**-9, normal)


def rounded(values):
    numbers = table()
    magnitude = np.abs(values).astype(np.float64)
    above = np.clip(np.searchsorted(numbers, magnitude), 1, 126)
    low, high = magnitude - numbers[above - 1], numbers[above] - magnitude
    # Of two at equal distance the even code.
    down = (low < high) | ((low == high) & (above % 2 == 1))
    return np.sign(values) * numbers[np.where(down, above - 1, above)]


def make(a, b):
    random = np.random.default_rng(6)
    for path, shape in ((a, (32, 64)), (b, (64, 32))):
        values = random.integers(-64, 65, shape) / 2.0 ** random.integers(0, 3, shape)
        values[0, :8] = [17, 19, -17, 2.0**-10, 3 * 2.0**-10, 448, -(2.0**-9), 0]
        np.save(path, values.astype(np.float32))


def check(a, b, product, wide, bf16):
    left, right = rounded(np.load(a)), rounded(np.load(b))
    found = np.load(wide).view(np.float32).reshape(32, 64)
    if not np.array_equal(found, left):
        sys.exit(f"{(found != left).sum()} codes differ from what is nearest")
    short = np.load(bf16).reshape(-1).view(np.uint16).astype(np.uint32) << 16
    if not np.array_equal(short.view(np.float32).reshape(32, 64), left):
        sys.exit("bf16 differs")
    want = left @ right
    error = np.abs(np.load(product).view(np.float32).reshape(32, 32) - want).max()
    if not error <= 1e-6 * (np.abs(left) @ np.abs(right)).max():
        sys.exit(f"the product is wrong by {error}")


if __name__ == "__main__":
    {form.__name__: form for form in (make, check)}[sys.argv[1]](*sys.argv[2:])
