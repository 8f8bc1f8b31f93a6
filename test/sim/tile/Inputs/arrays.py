# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays for tile programs: `arrays.py make FILE COUNT DTYPE [SEED]` writes random
numbers that any format holds (small integers), `arrays.py same A B [COUNT]` compares
(the first COUNT) bytes, `arrays.py sums A B PARTS` checks a sum, `arrays.py ragged ...`
makes a window, `blocked`, `window` and `placed` are about blocked views, `turned`
about rows that lie anywhere."""

import sys

import numpy as np


def make(path, count, dtype, seed=1):
    values = np.random.default_rng(int(seed)).integers(-8, 9, int(count))
    if dtype == "bf16":
        values = values.astype(np.float32).view(np.uint32) >> 16
        dtype = "uint16"
    np.save(path, values.astype(dtype))


def ragged(path, want, rows, columns, stride, all_rows, all_columns):
    """ROWS x COLUMNS numbers at the start of rows of STRIDE, NaN around them; WANT has
    them with zeros up to ALL_ROWS x ALL_COLUMNS."""
    rows, columns, stride = int(rows), int(columns), int(stride)
    values = np.random.default_rng(2).integers(1, 9, (rows, columns))
    values = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    memory = np.full((int(all_rows) + 16, stride), 0x7FC0, np.uint16)
    memory[:rows, :columns] = values
    result = np.zeros((int(all_rows), int(all_columns)), np.uint16)
    result[:rows, :columns] = values
    np.save(path, memory)
    np.save(want, result)


def pack(values):
    """VALUES [n, k] of 16 bits with 16 bytes along k of 16 rows one behind the other."""
    rows, columns = values.shape
    return values.reshape(rows // 16, 16, columns // 8, 8).transpose(0, 2, 1, 3)


def blocked(path, rows, columns):
    """Packs ROWS x COLUMNS numbers: PATH.packed.npy, PATH.rows.npy as they are."""
    values = np.arange(int(rows) * int(columns), dtype=np.uint16) + 1
    values = values.reshape(int(rows), int(columns))
    np.save(path + ".rows.npy", values)
    np.save(path + ".packed.npy", np.ascontiguousarray(pack(values)))


def window(path, found, row, column, rows, columns, height, width):
    """FOUND has the numbers from (ROW, COLUMN) on, zeros from (ROWS, COLUMNS) on."""
    values = np.load(path + ".rows.npy")
    row, column, rows, columns = int(row), int(column), int(rows), int(columns)
    want = np.zeros((int(height), int(width)), np.uint16)
    part = values[row : min(rows, row + len(want)), column : min(columns, column + want.shape[1])]
    want[: part.shape[0], : part.shape[1]] = part
    compare(want, np.load(found).view(np.uint16).reshape(want.shape))


def placed(path, found, row, column, height, width):
    """FOUND is packed: the first HEIGHT x WIDTH numbers from (ROW, COLUMN) on, else 0."""
    values = np.load(path + ".rows.npy")
    row, column, height, width = int(row), int(column), int(height), int(width)
    want = np.zeros(values.shape, np.uint16)
    want[row : row + height, column : column + width] = values[:height, :width]
    want = pack(want)
    compare(want, np.load(found).view(np.uint16).reshape(want.shape))


def compare(want, found):
    if not np.array_equal(want, found):
        differ = np.argwhere(want != found)
        sys.exit(f"{len(differ)} numbers differ, the first at {differ[0]}")


def same(a, b, count=None):
    first, second = (np.load(path).reshape(-1).view(np.uint8) for path in (a, b))
    end = int(count) if count else max(len(first), len(second))
    if not np.array_equal(first[:end], second[:end]):
        differ = np.flatnonzero(first[:end] != second[:end])
        sys.exit(f"{len(differ)} bytes differ, the first at {differ[0]}")


def sums(a, b, parts):
    """B is the sum of the parts of A, in FP32."""
    values = np.load(a).astype(np.uint32) << 16
    want = values.view(np.float32).reshape(int(parts), -1).sum(0)
    found = np.load(b).reshape(-1).view(np.float32)[: len(want)]
    if not np.array_equal(want, found):
        sys.exit(f"{(want != found).sum()} of {len(want)} sums differ")


def turned(path, want):
    """64 rows of 32 numbers, and the same from the last to the first."""
    values = np.random.default_rng(3).integers(1, 1 << 20, (64, 32)).astype(np.float32)
    np.save(path, values)
    np.save(want, np.ascontiguousarray(values[::-1]))


if __name__ == "__main__":
    forms = (make, same, sums, ragged, blocked, window, placed, turned)
    {form.__name__: form for form in forms}[sys.argv[1]](*sys.argv[2:])
