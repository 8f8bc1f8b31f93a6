# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of faults.cl through `tenon sim` and compares exit codes.

A fault is found by its check alone and by all of them (1); it is not by the
others, unless it ends the launch (3); a kernel without fault has none (0).
"""

import subprocess
import sys

CHECKS = "lds-race global-race wait hazard uninit bounds align barrier budget".split()
ENDS_LAUNCH = ("bounds", "budget")


def run(kernel, checks):
    """Exit code and the text of one launch."""
    command = ["tenon", "sim", sys.argv[1], "--kernel", kernel, "--checks", checks]
    command += "--grid 2 --block 128 --arg buf:4096 --budget 100000".split()
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def main():
    failures = 0

    def expect(kernel, checks, code, text=""):
        nonlocal failures
        found, output = run(kernel, checks)
        if found != code or text not in output:
            failures += 1
            print(f"FAILED: {kernel} --checks {checks}: exit code {found}\n{output}")

    for check in CHECKS:
        stem = check.replace("-", "_")
        others = ",".join(other for other in CHECKS if other != check)
        finding = f"{check}: kernel {stem}_bad, workgroup ("
        expect(stem + "_bad", check, 1, finding)
        expect(stem + "_bad", "all", 1, finding)
        expect(stem + "_bad", "none", 3 if check in ENDS_LAUNCH else 0)
        for checks in (check, "all", others):
            expect(stem + "_good", checks, 0, " 0 findings")
    expect("unknown", "none", 3, "is not implemented")
    print(f"{failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
