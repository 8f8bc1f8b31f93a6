#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures the CPU time that `tenon compile` needs, and says where it goes.

Compiles every spec of a folder, and tenon.gemm in each format, with weights row-major and
packed, for several shapes and numbers of tokens. Prints for every pass, and for the phases
of LLVM, the median and the greatest time, then the kernels that took longest. The whole is
the CPU time of the process, which holds loading the program too. The limits are those of
tenon.gemm; specs of other ops are several kernels each. Exit codes: 0 within the limits, 1
beyond them, 2 bad usage or a spec that does not compile.
"""

import argparse
import itertools
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

from silicon import options

ROOT = pathlib.Path(__file__).resolve().parent.parent
GEMM = "gemm "
FORMATS = ("bf16", "fp8", "mxfp4", "mxfp8_mxfp4", "bf16_mxfp4")
TOKENS = (1, 16, 64, 256, 1024, 4096)
BLOCK_SCALED_X = ("mxfp4", "mxfp8_mxfp4")
SHAPES = ((4096, 7168), (8192, 2048), (57344, 8192))


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    options.add_bin(parser, "tenon")
    add(
        "--specs",
        metavar="FOLDER",
        type=pathlib.Path,
        default=ROOT / "kernels_spec",
        help="specs to compile (default: %(default)s)",
    )
    add("--median", type=float, default=0.8, help="CPU seconds, at most (default: %(default)s)")
    add("--largest", type=float, default=1.6, help="CPU seconds, at most (default: %(default)s)")
    return parser


def kernels(specs):
    """Names and arguments of what is compiled."""
    for spec in sorted(specs.rglob("*.mlir")):
        yield str(spec.relative_to(specs)), [str(spec)]
    orders = ("row_major", "packed")
    for form, (n, k), order, tokens in itertools.product(FORMATS, SHAPES, orders, TOKENS):
        settings = {"format": form, "N": n, "K": k, "weights": order, "expected_tokens": tokens}
        if form in BLOCK_SCALED_X:
            settings["x_scale"] = order
        name = f"{GEMM}{form}, {tokens} x {n} x {k}, {order}"
        yield name, ["--op", "gemm", *options.set_words(settings)]


def measure(tenon, arguments, scratch):
    """CPU seconds of one compilation, and milliseconds by phase."""
    times = os.path.join(scratch, "times.json")
    command = [tenon, "compile", *arguments, "-o", os.path.join(scratch, "out.co")]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command + ["--times-json", times], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"compile_time.py: {' '.join(command)}\n{done.stderr}")
    seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    with open(times, encoding="utf-8") as file:
        phases = {entry["name"]: entry["cpu_ms"] for entry in json.load(file)["phases"]}
    phases["loading and the rest"] = seconds * 1e3 - sum(phases.values())
    return seconds, phases


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    tenon = os.path.join(arguments.bin, "tenon")
    results = {}
    with tempfile.TemporaryDirectory(prefix="tenon-compile-") as scratch:
        for name, words in kernels(arguments.specs):
            results[name] = measure(tenon, words, scratch)
    names = list(dict.fromkeys(name for _, phases in results.values() for name in phases))
    print(f"{'phase':26}  median ms  largest ms")
    for name in names:
        values = [phases.get(name, 0.0) for _, phases in results.values()]
        print(f"{name:26}  {statistics.median(values):9.1f}  {max(values):10.1f}")
    totals = sorted(((seconds, name) for name, (seconds, _) in results.items()), reverse=True)
    gemms = [seconds for seconds, name in totals if name.startswith(GEMM)]
    for title, times in (("whole process", [entry[0] for entry in totals]), (GEMM, gemms)):
        print(f"{title:26}  {statistics.median(times) * 1e3:9.1f}  {times[0] * 1e3:10.1f}")
    print(f"{len(totals)} kernels; longest:")
    for seconds, name in totals[:8]:
        print(f"  {seconds:6.2f} s  {name}")
    within = statistics.median(gemms) <= arguments.median and gemms[0] <= arguments.largest
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
