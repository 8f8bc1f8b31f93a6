# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`gather.py make IN ROWS WANT`: 100 rows of 8 numbers, 64 indices of which some name no
row, and the rows that they name."""

import sys

import numpy as np

_, _, source, rows, want = sys.argv
random = np.random.default_rng(5)
values = random.integers(1, 1 << 20, (100, 8)).astype(np.float32)
indices = random.integers(0, 100, 64).astype(np.int32)
indices[[3, 17, 40, 63]] = [-1, 100, -7, 1 << 20]
exists = (indices >= 0) & (indices < 100)
result = np.where(exists[:, None], values[np.where(exists, indices, 0)], 0)
np.save(source, values)
np.save(rows, indices)
np.save(want, result.astype(np.float32))
