#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models the Triton kernels of flash-linear-attention that compute what tenon.kda_prefill
does, beside its own kernels.

One sequence with an initial state, bounded gate, output norm (`kda_launches.py`). Of each
kernel at most --candidates choices of its autotuner are compiled for gfx950 and modelled,
the fastest counts. Splitting q, k and v, gathering and scattering states, and allocation
are not counted for them. Run it with the Python of bench/peers/setup.sh. Exit codes: 0
modelled, 1 something could not be, 2 bad usage.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings

import stand_ins

warnings.filterwarnings("ignore")
stand_ins.install()

import triton_kernel  # noqa: E402
from kda_launches import launches  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEC = os.path.join(ROOT, "kernels_spec", "kimi_k3", "tp8", "kda_prefill.mlir")


def times(lines):
    """Microseconds of the launches that `lines` of tenon name."""
    found = (re.match(r"time +([0-9.]+) us", line) for line in lines)
    return [float(match[1]) for match in found if match]


def limits(lines):
    """How far the limits of the chip were used, as tenon prints it."""
    return next((line[7:].strip() for line in lines if line.startswith("limits")), "")


def ours(arguments):
    """The launches of tenon.kda_prefill: (kernel, microseconds, limits)."""
    command = [arguments.tenon, "run", SPEC, "--dim", f"T={arguments.tokens}"]
    command += ["--checks", "none", "--skip-values"]
    command += ["--timing=sampled" if arguments.sampled else "--timing=full"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    name, rows = "", []
    for line in result.stdout.splitlines():
        if line.startswith("launch "):
            name = line.split()[1].rstrip(":")
        for time in times([line]):
            rows.append([name, time, ""])
        if rows and line.startswith("limits"):
            rows[-1][2] = limits([line])
    return rows


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--tenon", default="tenon", help="the program tenon")
    add("--tokens", type=int, default=4096, help="of the sequence (default: 4096)")
    add("--heads", type=int, default=12, help="of the peers; ours are those of the spec, 12")
    add("--candidates", type=int, default=4, choices=(1, 2, 3, 4), help="per kernel")
    add("--sampled", action="store_true", help="simulate a part of the workgroups")
    add("--keep", metavar="FOLDER", help="where code objects are to stay")
    return parser


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    folder = arguments.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    failures, sums = 0, {"flash-linear-attention": 0.0, "Tenon": 0.0}
    print("| kernel | us | choice | limits |\n|---|---|---|---|", flush=True)
    for launch in launches(arguments.tokens, arguments.heads):
        best = None
        for candidate in triton_kernel.candidates(launch, arguments.candidates, folder):
            try:
                lines = triton_kernel.modelled(arguments.tenon, candidate, arguments.sampled)
            except RuntimeError as error:
                print(f"kda_prefill.py: {error}", file=sys.stderr)
                continue
            time = times(lines)[0]
            if best is None or time < best[0]:
                best = (time, candidate, limits(lines))
        if best is None:
            failures += 1
            continue
        time, candidate, used = best
        sums["flash-linear-attention"] += time
        print(f"| {candidate.name} | {time:.2f} | {candidate.text} | {used} |", flush=True)
    for name, time, used in ours(arguments):
        sums["Tenon"] += time
        print(f"| {name} | {time:.2f} | | {used} |", flush=True)
    for name, total in sums.items():
        print(f"| {name}, all launches | {total:.2f} | | |")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
