# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the two-stage kernels for experts of ROCm/aiter by what their names say of the
types of their operands."""

import collections
import os
import pathlib
import re

folder = pathlib.Path(os.environ["TENON_AITER_DIR"], "hsa", "gfx950", "fmoe_2stages")
types = collections.Counter({"FP4": 0})
for path in folder.glob("*.co"):
    known = re.search(r"pertoken(Fp8|Int8)_", path.name)
    is_fp4 = re.search(r"fp4|mx|per1x32", path.name, re.IGNORECASE)
    types["FP4" if is_fp4 else known[1] if known else path.name] += 1
assert len(types) > 1, f"no objects in {folder}"
for name, count in sorted(types.items()):
    print(f"{name}: {count}")
