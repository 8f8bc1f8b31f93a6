#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models prefills of Kimi K3 at TP8 and prints the tables of
docs/explanation/kda-prefill-kernels.md.

Of each launch: its time, how far the limits of the chip were used meanwhile, and what
bounds it: a limit that is used to --bound percent or more, else what waves wait for most.
Prompts of more than 4096 tokens are modelled from a sample of workgroups. Exit codes: 0
modelled, 1 something could not be, 2 bad usage.
"""

import argparse
import os
import re
import subprocess
import sys

from silicon import options

SPEC = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
    *("kernels_spec", "kimi_k3", "tp8", "kda_prefill.mlir"),
)
CASES = ("1x4096", "32x4096", "1x131072")
LIMITS = ("MFMA", "LDS", "L2", "HBM")


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    options.add_bin(parser, programs="tenon")
    add("--schedule", help="as of tenon run, instead of the ranked ones")
    add("--bound", type=float, default=75, metavar="PERCENT", help="default: 75")
    add("cases", nargs="*", metavar="NxT", help=f"sequences and tokens of each: {CASES}")
    return parser


def launches(text):
    """What tenon prints of each launch: [kernel, workgroups, us, limits, waits]."""
    found = []
    for line in text.splitlines():
        if match := re.match(r"launch \w+?_prefill_(\w+): (\d+) x (\d+) x (\d+)", line):
            x, y, z = (int(part) for part in match.groups()[1:])
            found.append([match[1], x * y * z, 0.0, {}, []])
        elif match := re.match(r"time +([\d.]+) us", line):
            found[-1][2] = float(match[1])
        elif line.startswith("limits"):
            used = re.findall(r"(\w+) ([\d.]+) %", line)
            found[-1][3] = {name: float(percent) for name, percent in used}
        elif line.startswith("stalls"):
            found[-1][4] = re.findall(r"(\w+) (\d+) %", line)
    return found


def table(arguments, case):
    """Prints the table of one case."""
    sequences, tokens = (int(part) for part in case.split("x"))
    command = [os.path.join(arguments.bin, "tenon"), "run", SPEC]
    command += ["--checks", "none", "--skip-values"]
    command += ["--list", "lengths=" + ",".join([str(tokens)] * sequences)]
    command += ["--arg", f"max_seq_len={tokens}"]
    command += ["--timing=sampled" if sequences * tokens > 4096 else "--timing=full"]
    if arguments.schedule:
        command += ["--schedule", arguments.schedule]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(result.stderr, file=sys.stderr)
        return 1
    print(f"\n{sequences} x {tokens} tokens:\n")
    print("| kernel | workgroups | us | " + " | ".join(LIMITS) + " | bound |")
    print("|---" * (len(LIMITS) + 4) + "|")
    for name, workgroups, us, limits, waits in launches(result.stdout):
        used = " | ".join(f"{limits[limit]:.0f} %" for limit in LIMITS)
        highest = max(LIMITS, key=limits.get)
        bound = highest
        if limits[highest] < arguments.bound:
            names = (f"{wait.replace('_', ' ')} {share} %" for wait, share in waits[:3])
            bound = "waits: " + ", ".join(names)
        print(f"| `{name}` | {workgroups} | {us:.1f} | {used} | {bound} |")
    total = re.search(r"dependent launches: ([\d.]+) us of kernels, ([\d.]+) us", result.stdout)
    print(f"\n{total[1]} us of kernels, {total[2]} us end to end", flush=True)
    return 0


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    cases = arguments.cases or CASES
    for case in cases:
        if not re.fullmatch(r"[1-9]\d*x[1-9]\d*", case):
            print(f"prefill_figures.py: a case is NxT, found {case}", file=sys.stderr)
            return 2
    return max(table(arguments, case) for case in cases)


if __name__ == "__main__":
    sys.exit(main())
