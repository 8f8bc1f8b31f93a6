# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ranks.py PREFIX SETTING...: eight ranks, one after the other, each add their columns.

Rank r computes columns r N/8 .. (r + 1) N/8 - 1 of a product that is added to out, on the
out that the rank before left; the weights of other ranks hold NaN. What the last one
leaves is compared with one run over all columns, byte by byte. SETTINGs go to --set.
"""

import subprocess
import sys

RANKS = 8
N = 200
ROWS = 17

prefix, *settings = sys.argv[1:]


def run(name, *options):
    command = ["tenon", "run", "--op", "gemm", "--check", "--set", f"N={N}"]
    command += ["--set", "epilogue=add", "--set", "columns=on", "--dim", f"M={ROWS}"]
    for setting in settings:
        command += ["--set", setting]
    output = f"{prefix}.{name}.npy"
    subprocess.run([*command, "--output", f"out={output}", *options], check=True)
    return output


whole = run("whole")
left = None
for rank in range(RANKS):
    options = ["--scalar", f"col_begin={rank * N // RANKS}"]
    options += ["--scalar", f"col_end={(rank + 1) * N // RANKS}"]
    if left:
        options += ["--input", f"out={left}"]
    left = run(f"rank{rank}", *options)
with open(whole, "rb") as one, open(left, "rb") as many:
    if one.read() != many.read():
        sys.exit(f"{whole} and {left} differ")
