# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs products whose tiles are grouped by dies, on grids of 1 to 11 rows of tiles.

A tile that no workgroup computes leaves NaN in out, so a right result means that every
tile has its workgroup, and with as many workgroups as tiles only one.
"""

import subprocess
import sys

ROWS = range(1, 12)
COLUMNS = (1, 2, 3, 5, 8, 9)
GROUPS = (1, 3, 8)


def main():
    """Entry point."""
    failures = 0
    cases = 0
    for rows in ROWS:
        for columns in COLUMNS:
            # Groups in turn, so that each meets even and odd grids.
            group = GROUPS[(rows + columns) % len(GROUPS)]
            schedule = "{tile = [16, 16, 64], waves = [1, 1], stages = 2, group = %d}" % group
            command = ["tenon", "run", "--op", "gemm", "--check", "--schedule", schedule]
            command += ["--dim", f"M={16 * rows - 3}", "--dim", f"N={16 * columns - 2}"]
            command += ["--dim", "K=64", "--threads", "1"]
            done = subprocess.run(command, capture_output=True, text=True)
            cases += 1
            if done.returncode != 0:
                failures += 1
                print(f"FAILED: {' '.join(command)}\n{done.stdout}{done.stderr}")
    print(f"{cases} cases, {failures} failed")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
