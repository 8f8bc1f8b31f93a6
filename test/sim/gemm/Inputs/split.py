# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs products whose workgroups share K under several orders of the workgroups.

tenon run checks each against the reference, and that the counters are zero at the end;
here the bits of all orders are compared. Shapes: ragged rows, columns and K, more shares
than steps, gated and with ranges.
"""

import filecmp
import os
import subprocess
import sys
import tempfile

SCHEDULES = (
    "{tile = [16, 32, 128], waves = [1, 2, 2], stages = 2, split = 3}",
    "{tile = [16, 16, 64], waves = [1, 1], stages = 2, split = 16}",
    '{tile = [64, 64, 64], waves = [2, 2], stages = 2, lds = "both", split = 4}',
    "{tile = [64, 128, 64], waves = [1, 2], stages = 1, split = 5}",
    "{tile = [16, 16, 512], waves = [1, 1, 8], stages = 2, split = 2}",
    "{tile = [96, 48, 64], waves = [1, 1], stages = 2, split = 2}",
)
CASES = (
    {"epilogue": "add", "out": "f32"},
    {"epilogue": "situ"},
    {"epilogue": "sigmoid_gate", "columns": "on", "rows": "on"},
)
SIZES = {"M": 83, "N": 100, "K": 680}
RANGES = {"col_begin": 3, "col_end": 97, "row_begin": 1, "row_end": 80}


def run(schedule, case, order, file):
    """What went wrong, or nothing."""
    command = ["tenon", "run", "--op", "gemm", "--check", "--schedule", schedule]
    for name, value in case.items():
        command += ["--set", f"{name}={value}"]
    for name, value in SIZES.items():
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
    problems, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for schedule in SCHEDULES:
            for case in CASES:
                files = [os.path.join(folder, f"{order}.npy") for order in range(1, 4)]
                for order, file in enumerate(files, start=1):
                    count += 1
                    problem = run(schedule, case, order, file)
                    problems += [problem] if problem else []
                if not all(filecmp.cmp(files[0], file, shallow=False) for file in files):
                    problems.append(f"FAILED: {schedule} {case}: the order changes the result")
    print("\n".join(problems))
    print(f"{count} runs, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
