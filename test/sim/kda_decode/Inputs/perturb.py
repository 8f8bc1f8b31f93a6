# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kda_decode under perturbation seeds and orders of workgroups.

Every variant at two heads and two rows under every seed, and two variants at twelve
heads. What agrees with the reference only for one order of sums, one rounding of exp
or one order of workgroups fails here.
"""

import itertools
import subprocess
import sys

SEEDS = (1, 2, 3)


def run(heads, rows, seed, settings):
    """A line about what failed, or nothing."""
    command = ["tenon", "run", "--op", "kda_decode", "--check", "--set", f"H={heads}"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    command += ["--dim", f"N={rows}", "--dim", "L=4", "--seed", str(seed)]
    command += ["--perturb", str(seed), "--wg-order", str(seed + 10)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    return f"FAILED: {' '.join(command)}\n{done.stdout}{done.stderr}"


def main():
    names = ("gate", "norm", "conv_layout", "state_layout")
    values = (("bounded", "softplus"), ("on", "off"), ("sd", "ds"), ("vk", "kv"))
    variants = [dict(zip(names, case)) for case in itertools.product(*values)]
    cases = [(2, 2, seed, variant) for seed in SEEDS for variant in variants]
    cases += [(12, 1, seed, variants[i]) for seed in SEEDS for i in (0, 15)]
    problems = list(filter(None, itertools.starmap(run, cases)))
    print("\n".join(problems))
    print(f"{len(cases)} cases, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
