# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`masked.py TOKENS IDS WEIGHTS`: four ids of 32 a token, every other one -1, whose weights are
NaN and infinite."""

import sys

import numpy as np

_, tokens, ids_file, weights_file = sys.argv
random = np.random.default_rng(9)
shape = (int(tokens), 4)
ids = random.permuted(np.tile(np.arange(32), (shape[0], 1)), axis=1)[:, :4].astype(np.int32)
weights = random.uniform(0.1, 1, shape).astype(np.float32)
masked = random.integers(0, 2, shape) == 0
masked[0] = True
ids[masked] = -1
weights[masked] = np.where(random.integers(0, 2, masked.sum()) == 0, np.nan, np.inf)
np.save(ids_file, ids)
np.save(weights_file, weights)
