# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The orders in which the kernels expect operands and scales."""

import numpy as np


def shuffle_rows(matrix):
    """B as the kernels with shuffled B read it: for each 16 rows, their 16-byte pieces
    side by side, so that one load of 16 bytes per lane is an operand of an MFMA.
    Takes and returns rows of any element type."""
    data = matrix.view(np.uint8)
    rows, row_bytes = data.shape
    pieces = data.reshape(rows // 16, 16, row_bytes // 16, 16)
    return np.ascontiguousarray(pieces.transpose(0, 2, 1, 3))


def shuffle_e8m0(scales, rows, columns):
    """Scales [R, K/32] padded to [rows, columns], in blocks of 32 rows by 8 columns.

    Within a block the order is (column % 4, row % 16, column / 4, row / 16): the four
    bytes of a dword serve two MFMAs along K and two along the rows, and the dwords lie
    in the order of the lanes. The pad is NaN: no result may depend on it.
    """
    padded = np.full((rows, columns), 255, np.uint8)
    padded[: scales.shape[0], : scales.shape[1]] = scales
    split = padded.reshape(rows // 32, 2, 16, columns // 8, 2, 4)
    return np.ascontiguousarray(split.transpose(0, 3, 5, 2, 4, 1))
