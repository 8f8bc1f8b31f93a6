# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Number formats as arrays of codes, and their values in double precision."""

import numpy as np

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6] + [-0.0, -0.5, -1, -1.5, -2, -3, -4, -6])


def decode_e2m1(codes):
    """Values of 4-bit codes."""
    return E2M1[codes]


def pack_e2m1(codes):
    """Two codes a byte along the last axis, the first in the low half."""
    return (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)


def decode_e8m0(codes):
    """Powers of two; code 255 is NaN."""
    return np.where(codes == 255, np.nan, np.ldexp(1.0, codes.astype(np.int32) - 127))


def _e4m3_table():
    codes = np.arange(256)
    exponent = codes >> 3 & 15
    mantissa = codes & 7
    value = np.where(
        exponent == 0,
        np.ldexp(mantissa / 8.0, -6),
        np.ldexp(1 + mantissa / 8.0, exponent - 7),
    )
    value[(codes & 127) == 127] = np.nan
    return np.where(codes & 128, -value, value)


E4M3 = _e4m3_table()


def decode_e4m3(codes):
    """Values of E4M3 bytes (no infinities, NaN is 0x7F and 0xFF)."""
    return E4M3[codes]


def encode_bf16(values):
    """bf16 codes (uint16) of finite values, rounded to nearest, ties to even."""
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def decode_bf16(codes):
    """Values of bf16 codes."""
    return (codes.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
