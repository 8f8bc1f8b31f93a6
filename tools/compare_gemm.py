#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models tenon.gemm beside the hand-written code objects that won on silicon.

Takes rows of a table of measured times at given percentiles of their size, models the
object that the row names and the kernel that tenon compiles for the same problem, and
prints both times and their ratio. --ranked N models the first N schedules of the
ranked list and takes the fastest, which is what a tuner would do. Needs the public code
objects (TENON_AITER_DIR). Exit codes: 0 modelled, 1 something could not be, 2 bad usage.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

from silicon import launch, options, timing

FORMATS = {"bf16gemm": "bf16", "f4gemm": "mxfp4"}
# Operands in the order in which those objects take them.
ORDERS = {"f4gemm": {"weights": "packed", "x_scale": "packed"}}


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--times", required=True, metavar="CSV", help="measured rows, silicon_times.csv")
    options.add_objects(parser)
    options.add_bin(parser)
    add("--family", choices=FORMATS, default="bf16gemm")
    add("--every", type=float, default=5.0, help="percentiles between two rows")
    add("--largest", type=float, default=10000.0, help="10^9 products of a row at most")
    add("--ranked", type=int, default=1, help="how many schedules to model")
    return parser


class CompareError(Exception):
    """Something that could not be modelled."""


def run(command, text=None):
    """The standard output of a command."""
    process = subprocess.run(command, input=text, capture_output=True, text=True)
    if process.returncode != 0:
        raise CompareError(process.stderr.strip() or process.stdout.strip())
    return process.stdout


def settings(problem, family, out):
    """The options that make a spec of the problem."""
    values = {
        **ORDERS.get(family, {}),
        "format": FORMATS[family],
        "out": out,
        "N": problem.n,
        "K": problem.k,
        "expected_tokens": problem.m,
    }
    return options.set_words(values)


def ranked_schedules(folder, words, count):
    """The first schedules of the ranked list."""
    spec = run([os.path.join(folder, "tenon"), "compile", "--op", "gemm", *words, "--emit", "spec"])
    target = 'module attributes {tile.target = #tile.target<"gfx950">} {\n'
    listed = run(
        [os.path.join(folder, "tenon-opt"), "--tenon-choose-schedule", "-"],
        spec if "tile.target" in spec else target + spec + "}\n",
    )
    found = re.search(r"schedules = \[(.*)\]\}", listed, re.DOTALL)
    if not found:
        raise CompareError("no schedules in\n" + listed)
    return re.findall(r"\{[^{}]*\}", found.group(1))[:count]


def model_ours(folder, problem, words, schedule, timing=None):
    """The modelled time of tenon.gemm, operands cold."""
    with tempfile.TemporaryDirectory(prefix="tenon-compare-") as scratch:
        stats = os.path.join(scratch, "stats.json")
        command = [os.path.join(folder, "tenon"), "run", "--op", "gemm", *words]
        command += ["--schedule", schedule, "--dim", f"M={problem.m}"]
        # Workgroups that count each other are timed as a whole.
        counts = "split" in schedule or "stream_k" in schedule
        timing = timing or ("full" if counts else "sampled")
        command += ["--timing", timing]
        command += ["--skip-values", "--checks", "none"]
        for operand in ("x", "weights", "out"):
            command += ["--fill", f"{operand}=zero"]
        run(command + ["--stats-json", stats])
        with open(stats, encoding="utf-8") as file:
            return json.load(file)["launches"][0]["timing"]


def fastest(arguments, problem, words, timing=None):
    """The model's figures of the fastest of the first ranked schedules, and the schedule."""
    best = None
    for schedule in ranked_schedules(arguments.bin, words, arguments.ranked):
        try:
            ours = model_ours(arguments.bin, problem, words, schedule, timing)
        except CompareError as error:
            if "no schedule gives acceptable machine code" not in str(error):
                raise
            continue
        if best is None or ours["us"] < best[0]["us"]:
            best = (ours, schedule)
    if best is None:
        raise CompareError("no schedule gives acceptable machine code")
    return best


def compare(arguments, row):
    """Prints one row; returns ours over theirs."""
    problem = row.problem
    theirs = timing.model_rows(arguments.bin + "/tenon", arguments.objects, [row], 1)[0]
    if not isinstance(theirs, dict):
        raise CompareError(str(theirs))
    out = "f32" if problem.out_type != "bf16" else "bf16"
    words = settings(problem, row.target.family, out)
    best = fastest(arguments, problem, words)
    ratio = best[0]["us"] / theirs["us"]
    limits = {
        name: best[0][f"fraction_of_{name}"] for name in ("mfma", "lds", "l2", "hbm")
    }
    bound = max(limits, key=limits.get)
    print(
        f"{problem.m}x{problem.n}x{problem.k}/{problem.split_k:<3} measured "
        f"{row.microseconds:8.1f} us  theirs {theirs['us']:8.1f} us  ours "
        f"{best[0]['us']:8.1f} us  ratio {ratio:.2f}  {bound} {limits[bound]:.0%}  {best[1]}",
        flush=True,
    )
    return ratio


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    if not arguments.objects:
        print("compare_gemm.py: no --objects and no TENON_AITER_DIR", file=sys.stderr)
        return 2
    rows = sorted(
        (r for r in launch.read_rows(arguments.times) if r.target.family == arguments.family),
        key=lambda r: r.problem.m * r.problem.n * r.problem.k,
    )
    ratios, failures = [], 0
    percentile = arguments.every / 2
    while percentile < 100:
        row = rows[int(percentile / 100 * (len(rows) - 1))]
        percentile += arguments.every
        size = row.problem.m * row.problem.n * row.problem.k
        if size > arguments.largest * 1e9:
            print(f"left out: {size:.1e} products")
            continue
        try:
            ratios.append(compare(arguments, row))
        except CompareError as error:
            failures += 1
            print(f"not modelled: {row.target.name} {row.problem}: {error}")
    if ratios:
        print(
            f"{len(ratios)} rows: ours over theirs, median "
            f"{timing.quantile(ratios, 0.5):.2f}, largest {max(ratios):.2f}, at most 1.1 "
            f"for {sum(ratio <= 1.1 for ratio in ratios)}"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
