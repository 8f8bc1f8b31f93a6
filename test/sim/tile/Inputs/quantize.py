# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`quantize.py make IN`: 32 x 128 numbers whose blocks of 32 span many exponents, with
infinities and NaN in some. `quantize.py check IN FP8 FP4 SCALES`: the codes are those of
each number divided by the power of two of its block's greatest magnitude."""

import sys

import numpy as np

ROWS, COLUMNS, BLOCK = 32, 128, 32


def codes_of(mantissa, bias, codes):
    """The values of the first `codes` codes of a format without infinities."""
    exponent, fraction = codes >> mantissa, codes & ((1 << mantissa) - 1)
    normal = np.ldexp(1 + fraction / (1 << mantissa), exponent - bias)
    small = np.ldexp(fraction / (1 << mantissa), 1 - bias)
    return np.where(exponent == 0, small, normal)


FP8 = codes_of(3, 7, np.arange(127))
FP4 = codes_of(1, 1, np.arange(8))


def nearest(values, grid):
    """Codes of magnitudes: the nearest on the grid, of two the even one."""
    distance = np.abs(values[..., None] - grid)
    best = distance.min(-1, keepdims=True)
    candidates = distance == best
    even = candidates & (np.arange(len(grid)) % 2 == 0)
    chosen = np.where(even.any(-1), even.argmax(-1), candidates.argmax(-1))
    return np.where(values > grid[-1], len(grid) - 1, chosen)


def make(path):
    random = np.random.default_rng(11)
    x = random.standard_normal((ROWS, COLUMNS)).astype(np.float32)
    exponents = random.integers(-60, 60, (ROWS, COLUMNS // BLOCK))
    x = np.ldexp(x, np.repeat(exponents, BLOCK, axis=1)).astype(np.float32)
    x[3, 32:64] = 0
    x[5, 40] = np.inf
    x[7, 100] = np.nan
    np.save(path, x)


def check(path, fp8_path, fp4_path, scale_path):
    x = np.load(path).astype(np.float64)
    scales = np.load(scale_path).view(np.float32).reshape(ROWS, -1)
    blocks = np.abs(x).reshape(ROWS, -1, BLOCK)
    with np.errstate(invalid="ignore"):
        most = np.fmax.reduce(blocks, axis=2)
    finite = np.isfinite(most) & (most > 0)
    assert np.array_equal(scales[finite], most[finite]), "the greatest magnitudes"
    power = np.ldexp(1.0, np.frexp(np.where(finite, most, 1))[1] - 1)
    scaled = (blocks / power[..., None]).reshape(ROWS, COLUMNS)
    negative = np.signbit(x)
    fp8 = np.load(fp8_path).view(np.uint8).reshape(ROWS, COLUMNS)
    fp4 = np.load(fp4_path).view(np.uint8).reshape(ROWS, COLUMNS // 2)
    fp4 = np.stack([fp4 & 15, fp4 >> 4], axis=-1).reshape(ROWS, COLUMNS)
    usable = np.repeat(finite, BLOCK, axis=1) & np.isfinite(x)
    for name, got, grid, sign in (("fp8", fp8, FP8, 128), ("fp4", fp4, FP4, 8)):
        want = nearest(np.abs(scaled), grid) + np.where(negative, sign, 0)
        differ = np.argwhere((got != want) & usable)
        assert len(differ) == 0, (name, differ[:4], got[usable][:4])
    assert (fp8[7, 100] & 127) == 127, "NaN stays NaN in fp8"


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    check(*sys.argv[2:])
