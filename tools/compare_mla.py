#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models tenon.mla_decode beside hand-written code objects for the same attention.

For every public object of tools/silicon/mla.py, batch and length, the modelled time of its
launch (the first stage, by the best of several numbers of shares), that of our kernel of
the same heads, tokens and types (the launch over the keys alone), and their ratio; both
cold, and from the same run of this program. Theirs find every row of the cache by an
index of its own, ours by pages of --page rows. Needs the public code objects
(TENON_AITER_DIR). Exit codes: 0 modelled, 1 something could not be, 2 bad usage.
"""

import argparse
import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

from silicon import curves, mla, options, timing
from silicon.simulate import SimulationError

COMPUTE_UNITS = 256
# Shares for as many, and fewer, larger ones.
SHARES_OF_CHIP = (COMPUTE_UNITS, 128, 64)
# Rows of the cache, at least, that contexts are picked from.
POOL = 1 << 21


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    options.add_objects(parser)
    options.add_tenon(parser)
    add("--batches", type=int, nargs="+", default=[1, 8, 64])
    add("--lengths", type=int, nargs="+", default=[1200, 8192, 68432])
    add("--page", type=int, default=64, help="rows of a page of ours")
    add("--types", nargs="+", choices=("bf16", "fp8"), default=["bf16", "fp8"])
    add("--largest", type=int, default=1 << 20, help="keys of a batch at most")
    add("--timing", choices=("full", "sampled"), default="full", help="of every workgroup, or of some")
    add("--theirs", action="store_true", help="the public objects alone")
    return parser


def model_theirs(arguments, kernel, batch, length):
    """Microseconds of the public object, by the best number of shares."""
    found = []
    pool = max(POOL, batch * length)
    for shares in SHARES_OF_CHIP:
        decode = mla.Decode(length, max(1, shares // batch), pool, kernel, batch, True)
        with tempfile.TemporaryDirectory(prefix="tenon-mla-") as folder:
            launch = curves.Prepared(
                (mla.WORKGROUPS, 1, 1), mla.BLOCK, mla.arguments(decode, folder)
            )
            path = mla.path_of(arguments.objects, kernel)
            found.append(timing.model(arguments.tenon, path, launch, arguments.timing)["us"])
        if shares <= batch:
            break
    return min(found)


def run_json(command, folder):
    """What a command writes with --stats-json."""
    stats = os.path.join(folder, "stats.json")
    process = subprocess.run(command + ["--stats-json", stats], capture_output=True, text=True)
    if process.returncode != 0:
        raise SimulationError(process.stderr.strip() or process.stdout.strip())
    with open(stats, encoding="utf-8") as file:
        return json.load(file)


def plan_options(arguments, kernel, words, batch, lengths, folder):
    """Options for a plan as the kernel would make it, in a file: what a sampled estimate
    computes is not to be relied upon."""
    report = subprocess.run(
        [arguments.tenon, "compile", "--op", "mla_decode", *words, "--report"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    rows = int(re.search(r"schedule .*rows = (\d+)", report).group(1))
    live = kernel.heads * kernel.tokens
    workgroups = max(1, COMPUTE_UNITS // math.ceil(live / rows))
    numbers = str(2 * batch + max(batch, workgroups))
    path = os.path.join(folder, "plan.npy")
    command = [arguments.tenon, "run", "--op", "mla_plan"]
    command += options.set_words({"rows": live, "workgroups": workgroups})
    command += ["--list", lengths, "--dim", f"N={numbers}", "--output", f"plan={path}"]
    run_json(command, folder)
    return ["--set", "plan=on", "--input", f"plan={path}", "--dim", f"N={numbers}"]


def model_ours(arguments, kernel, batch, length):
    """Microseconds of our launch over the keys, and of all launches end to end (without
    that of a plan when the estimate is sampled)."""
    element = "fp8" if kernel.is_fp8 else "bf16"
    words = options.set_words(
        {"H": kernel.heads, "max_queries": kernel.tokens, "q": element, "kv": element}
    )
    lengths = "seq_len=" + ",".join([str(length)] * batch)
    with tempfile.TemporaryDirectory(prefix="tenon-mla-") as folder:
        command = [arguments.tenon, "run", "--op", "mla_decode", *words, "--list", lengths]
        command += ["--dim", f"page={arguments.page}", "--timing", arguments.timing]
        command += ["--skip-values", "--checks", "none"]
        for operand in ("q", "kv", "out"):
            command += ["--fill", f"{operand}=zero"]
        if arguments.timing == "sampled":
            command += plan_options(arguments, kernel, words, batch, lengths, folder)
        found = run_json(command, folder)
    parts = [
        launch
        for launch in found["launches"]
        if launch["kernel"].endswith(("_parts", "_parts_few"))
    ]
    return parts[0]["timing"]["us"], found["timing"]["us_end_to_end"]


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    if not arguments.objects:
        print("compare_mla.py: no --objects and no TENON_AITER_DIR", file=sys.stderr)
        return 2
    ratios, failures = [], 0
    kernels = [k for k in mla.KERNELS.values() if ("fp8" if k.is_fp8 else "bf16") in arguments.types]
    for kernel, batch, length in itertools.product(kernels, arguments.batches, arguments.lengths):
        name = (
            f"{'fp8 ' if kernel.is_fp8 else 'bf16'} {kernel.heads} heads x {kernel.tokens} "
            f"tokens, {batch:2} x {length:6} keys"
        )
        if batch * length > arguments.largest:
            print(f"{name}: left out, {batch * length} keys")
            continue
        try:
            theirs = model_theirs(arguments, kernel, batch, length)
            if arguments.theirs:
                print(f"{name}: theirs {theirs:7.2f} us", flush=True)
                continue
            ours, all_launches = model_ours(arguments, kernel, batch, length)
        except SimulationError as error:
            failures += 1
            print(f"{name}: not modelled: {error}", flush=True)
            continue
        ratios.append(ours / theirs)
        print(
            f"{name}: theirs {theirs:7.2f} us, ours {ours:7.2f} us, ratio {ratios[-1]:.2f}; "
            f"all our launches {all_launches:7.2f} us",
            flush=True,
        )
    if ratios:
        print(
            f"{len(ratios)} cases: ours over theirs, median "
            f"{timing.quantile(ratios, 0.5):.2f}, largest {max(ratios):.2f}"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
