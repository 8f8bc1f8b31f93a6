# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs products whose workgroups share tiles, or walk over them, under several orders of
the workgroups: those of a form, `split` or `walk`.

tenon run checks each against the reference, and that the counters are zero at the end;
here the bits of all orders are compared. Shapes: ragged rows, columns and K, more shares
than steps, fewer values of K than a step, gated and with ranges.
"""

import filecmp
import itertools
import os
import subprocess
import sys
import tempfile

SCHEDULES = {}
SCHEDULES["split"] = (
    "{tile = [16, 32, 128], waves = [1, 2, 2], stages = 2, split = 3}",
    "{tile = [16, 16, 64], waves = [1, 1], stages = 2, split = 16}",
    '{tile = [64, 64, 64], waves = [2, 2], stages = 2, lds = "both", split = 4}',
    "{tile = [64, 128, 64], waves = [1, 2], stages = 1, split = 5}",
    "{tile = [16, 16, 512], waves = [1, 1, 8], stages = 2, split = 2}",
    "{tile = [96, 48, 64], waves = [1, 1], stages = 2, split = 2}",
)
SCHEDULES["walk"] = (
    "{tile = [16, 32, 128], waves = [1, 2, 2], stages = 2, stream_k = 7}",
    "{tile = [16, 16, 64], waves = [1, 1], stages = 2, stream_k = 256}",
    '{tile = [64, 64, 64], waves = [2, 2], stages = 2, lds = "both", order = "interleave",'
    " stream_k = 5, group = 2}",
    '{tile = [64, 64, 64], waves = [2, 2], stages = 3, lds = "both", order = "prefetch",'
    " persistent = 3}",
    "{tile = [16, 16, 512], waves = [1, 1, 8], stages = 2, persistent = 8, group = 4}",
    "{tile = [96, 48, 64], waves = [1, 1], stages = 1, stream_k = 3}",
    # Whole tiles, then fewer steps than workgroups, and rows of tiles in bands.
    "{tile = [16, 16, 256], waves = [1, 1], stages = 2, stream_k = 20}",
    "{tile = [16, 32, 128], waves = [1, 2], stages = 2, stream_k = 5, group = 2}",
)
CASES = (
    {"epilogue": "add", "out": "f32"},
    {"epilogue": "situ"},
    {"epilogue": "sigmoid_gate", "columns": "on", "rows": "on"},
)
SIZES = {"M": 83, "N": 100, "K": 680}
SHORT = {"M": 21, "N": 40, "K": 40}
RANGES = {"col_begin": 3, "col_end": 97, "row_begin": 1, "row_end": 80}


def run(schedule, case, sizes, order, file):
    """What went wrong, or nothing."""
    command = ["tenon", "run", "--op", "gemm", "--check", "--schedule", schedule]
    for name, value in case.items():
        command += ["--set", f"{name}={value}"]
    for name, value in sizes.items():
        command += ["--dim", f"{name}={value}"]
    if "columns" in case:
        for name, value in RANGES.items():
            command += ["--scalar", f"{name}={value}"]
    command += ["--wg-order", str(order), "--output", f"out={file}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return f"FAILED: {' '.join(command)}\n{done.stdout}{done.stderr}"


def main():
    """Entry point."""
    form = sys.argv[1]
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        work = list(itertools.product(SCHEDULES[form], CASES, [SIZES]))
        # One order is enough where every tile has one step.
        work += [(schedule, CASES[0], SHORT) for schedule in SCHEDULES[form]]
        for schedule, case, sizes in work:
            orders = range(1, 2 if sizes is SHORT else 3)
            files = [os.path.join(folder, f"{order}.npy") for order in orders]
            for order, file in enumerate(files, start=1):
                count += 1
                problem = run(schedule, case, sizes, order, file)
                problems += [problem] if problem else []
            if not all(filecmp.cmp(files[0], file, shallow=False) for file in files):
                problems.append(f"FAILED: {schedule} {case}: the order changes the result")
    print("\n".join(problems))
    print(f"{count} runs, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
