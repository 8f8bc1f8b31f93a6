# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of a result against double precision."""

from dataclasses import dataclass

import numpy as np

from . import formats


@dataclass(frozen=True)
class Errors:
    """max_error: greatest error over the greatest value. relative_l2: root of the
    summed squares of errors over that of values. NaN in the result makes both NaN.
    worst: index of the greatest error."""

    max_error: float
    relative_l2: float
    worst: tuple

    def within(self, tolerance):
        """Whether both errors keep to (max_error, relative_l2)."""
        return self.max_error <= tolerance[0] and self.relative_l2 <= tolerance[1]


def tolerance(target, problem):
    """(max_error, relative_l2) of a right result.

    Rounding to bf16 costs up to 2^-9 of a value, and about 0.6 of that in the mean
    square at most; the fp8 kernels cut the low half off instead, which costs twice as
    much. When shares of K are added by atomics in bf16, every share and every sum is
    rounded, independently. float32 results carry the errors of float32 sums alone,
    which grow with K and stay far below these bounds at the sizes of the tests.
    """
    if problem.out_type == "f32":
        return 2e-6, 2e-6
    roundings = 1 if problem.split_k == 1 else 2 * problem.split_k
    step = 2**-8 if target.family == "fp8gemm_blockscale" else 2**-9
    return 2 * step * roundings**0.5, step * roundings**0.5


def errors(output, expected):
    """Errors of the first rows of `output` (bf16 codes or float32)."""
    rows = output[: expected.shape[0]]
    found = formats.decode_bf16(rows) if rows.dtype == np.uint16 else rows
    difference = np.abs(found - expected)
    worst = np.unravel_index(np.argmax(difference), difference.shape)
    return Errors(
        float(difference.max() / np.abs(expected).max()),
        float(np.linalg.norm(difference) / np.linalg.norm(expected)),
        tuple(int(index) for index in worst),
    )


def changed_rows(output, before, first):
    """How many rows of `output` from `first` on are not as `before` the launch."""
    view = f"u{output.dtype.itemsize}"
    different = output[first:].view(view) != before[first:].view(view)
    return int(different.any(axis=1).sum())
