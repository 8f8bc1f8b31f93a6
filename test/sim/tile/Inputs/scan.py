# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`scan.py make IN BEFORE UPTO FEW`: 3000 integers whose sums wrap around, their sums
without and with each, and the sums of the first 64."""

import sys

import numpy as np

_, _, source, before, upto, few = sys.argv
random = np.random.default_rng(7)
values = random.integers(-(1 << 31), 1 << 31, 3000).astype(np.int32)
sums = np.cumsum(values, dtype=np.int32)
np.save(source, values)
np.save(before, sums - values)
np.save(upto, sums)
np.save(few, sums[:64])
