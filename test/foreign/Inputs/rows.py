# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""rows.py TOOLS CSV: prints the launch of each row of a table of times."""

import sys

sys.path.insert(0, sys.argv[1])
from silicon import launch

for row in launch.read_rows(sys.argv[2]):
    problem = row.problem
    try:
        grid = launch.describe(row.target, problem).grid
    except launch.LaunchError as error:
        print(error)
        continue
    print(
        f"{row.target.family} {problem.m}x{problem.n}x{problem.k} "
        f"split {problem.split_k} grid {grid} {row.microseconds} us"
    )
