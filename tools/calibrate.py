#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Holds the timing model against times measured on silicon, and fits its constants.

  calibrate.py table   models every measured row and prints the errors by family
  calibrate.py winners models every tile of a family for a number of shapes and says how
                       often the one that won on silicon is (nearly) the best
  calibrate.py fit     looks for better values of the constants that sources leave open,
                       one constant after the other

The rows of each family are ranked by size. Those of odd rank are for the fit, which sees
no others; those of even rank are held back and check it. No constant belongs to a kernel
or to a shape. Needs the public code objects (TENON_AITER_DIR) and a table of times.
"""

import argparse
import dataclasses
import itertools
import json
import math
import os
import sys
import time

from silicon import launch, options, timing

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# The clock under load that belongs to each family's matrix instructions.
CLOCKS = {
    "f4gemm": "matrixClockF4",
    "bf16gemm": "matrixClockF16",
    "fp8gemm_blockscale": "matrixClockF8",
}
PEAK_HZ = 2.4e9

# What the fit tries, by constant: factors on the present value.
STEPS = {
    "l1BytesPerClock": (0.5, 0.75),
    "ldsCopyBytesPerClock": (0.5, 0.75, 1.5, 2.0),
    "l2ChannelBytesPerClock": (0.67, 0.83, 1.2),
    "l2HitClocks": (0.75, 1.25, 1.5),
    "vectorQueueClocks": (0.5, 2.0, 4.0),
    "hbmNs": (0.8, 1.25),
    "mallNs": (0.7, 1.4),
    "mallBandwidth": (0.85, 1.2),
    "hbmBandwidth": (0.92, 1.08),
    "barrierClocks": (0.5, 1.5),
    "l1HitClocks": (0.7, 1.4),
    "scalarHitClocks": (0.5, 2.0),
    "matrixQueueClocks": (0.25, 4.0),
    "ldsLatency": (0.75, 1.33),
    "waveStartClocks": (0.5, 2.0),
    "branchClocks": (0.5, 2.0),
}


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("command", choices=("table", "winners", "fit"))
    add("--times", required=True, metavar="CSV", help="measured rows, silicon_times.csv")
    options.add_objects(parser)
    options.add_tenon(parser)
    add(
        "--part",
        choices=("all", "fitted", "held-back"),
        default="all",
        help="rows of which part (default: %(default)s; a fit takes those that are its)",
    )
    add("--every", type=int, default=1, help="only every n-th row of a family by size")
    add("--offset", type=int, default=0, help="the first of them")
    add(
        "--shapes",
        type=int,
        default=20,
        metavar="N",
        help="rows of a family that winners takes, evenly by rank (default: %(default)s)",
    )
    add("--largest", type=float, default=math.inf, help="10^9 products of a row at most")
    add("--jobs", type=int, default=2)
    add("--output", metavar="JSON", help="write what was modelled, row by row")
    add(
        "--constant",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="a constant of the model (tenon sim --timing-constant)",
    )
    add("--verbose", action="store_true", help="a line per row")
    return parser


def products(row):
    """Multiplications of a row."""
    return row.problem.m * row.problem.n * row.problem.k


def ranked(rows, family):
    """The rows of a family in the order of size; equal ones in that of the table."""
    return sorted((row for row in rows if row.target.family == family), key=products)


def parts_of(rows):
    """Which rows a fit may see, and which are held back."""
    parts = {"fitted": set(), "held-back": set()}
    for family in launch.FAMILIES:
        for rank, row in enumerate(ranked(rows, family)):
            parts["fitted" if rank % 2 else "held-back"].add(row)
    return parts


def choose(rows, part, every=1, offset=0, largest=math.inf):
    """Every n-th row of each family and part in the order of size."""
    parts = parts_of(rows)
    chosen = []
    for family in launch.FAMILIES:
        own = ranked(rows, family)
        if part != "all":
            own = [row for row in own if row in parts[part]]
        chosen += [r for r in own[offset::every] if products(r) <= largest * 1e9]
    return chosen


def spread(rows, count):
    """So many rows of each family, evenly by rank."""
    chosen = []
    for family in launch.FAMILIES:
        own = ranked(rows, family)
        most = min(count, len(own))
        chosen += [own[(2 * i + 1) * len(own) // (2 * most)] for i in range(most)]
    return chosen


def reevaluate(result, clock, launch_us):
    """The time of a modelled row for another clock under load and launch cost."""
    busy = max(result["fraction_of_mfma"], 1e-6)
    hertz = min(PEAK_HZ, clock * busy ** (-1 / 3))  # as TimedDispatch::evaluate
    return launch_us + result["cycles"] / hertz * 1e6


def best_host_constants(rows, results):
    """Launch cost and clocks that fit best, which need no new simulation: the sum over
    families of the mean absolute logarithm of model over silicon, and the values."""
    best = None
    for launch_us in (1.0, 1.4, 1.8, 2.2, 2.6, 3.0, 3.4):
        total, clocks = 0.0, {}
        for family, name in CLOCKS.items():
            own = [
                (row, r)
                for row, r in zip(rows, results)
                if row.target.family == family and isinstance(r, dict)
            ]
            if not own:
                continue
            errors = []
            for clock in range(1000, 2401, 50):
                error = sum(
                    abs(
                        math.log(
                            reevaluate(r, clock * 1e6, launch_us) / row.microseconds
                        )
                    )
                    for row, r in own
                ) / len(own)
                errors.append((error, clock * 1e6))
            error, clocks[name] = min(errors)
            total += error
        if best is None or total < best[0]:
            best = (total, {"launchUs": launch_us, **clocks})
    return best


def print_errors(rows, results, parts, verbose):
    """The table of errors: by family and part, median and 90th percentile of the
    absolute relative error, and the median of the signed one."""
    for family in launch.FAMILIES:
        errors = {}
        for row, result in zip(rows, results):
            if row.target.family != family:
                continue
            p = row.problem
            text = f"{row.target.name} {p.m}x{p.n}x{p.k}/{p.split_k}"
            if not isinstance(result, dict):
                print(f"not modelled: {text}: {result}")
                continue
            error = result["us"] / row.microseconds - 1
            errors[row] = error
            if verbose:
                print(
                    f"{text:<75} {row.microseconds:>9.2f} us, model "
                    f"{result['us']:>9.2f} ({100 * error:+.0f} %)"
                )
        for part, members in (("all", errors), *parts.items()):
            own = [error for row, error in errors.items() if row in members]
            if not own:
                continue
            absolute = [abs(error) for error in own]
            print(
                f"{family:<20} {part:<10} {len(own):>4} rows: median error "
                f"{100 * timing.quantile(absolute, 0.5):.1f} %, 90th percentile "
                f"{100 * timing.quantile(absolute, 0.9):.1f} %, bias "
                f"{100 * timing.quantile(own, 0.5):+.1f} %"
            )


def rank(values):
    """Ranks from 0, the mean of them for equal values."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for position in order[start:end]:
            ranks[position] = (start + end - 1) / 2
        start = end
    return ranks


def spearman(first, second):
    """Rank correlation."""
    a, b = rank(first), rank(second)
    mean = (len(a) - 1) / 2
    top = sum((x - mean) * (y - mean) for x, y in zip(a, b))
    low = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return top / math.sqrt(low) if low else math.nan


def print_orders(rows, results, fewest=5):
    """Rank correlation of model and silicon over M, at each family, N and K that has
    enough rows."""
    groups = {}
    for row, result in zip(rows, results):
        if isinstance(result, dict):
            key = (row.target.family, row.problem.n, row.problem.k)
            groups.setdefault(key, []).append((row.microseconds, result["us"]))
    found = [
        (spearman(*zip(*values)), key, len(values))
        for key, values in groups.items()
        if len({row_us for row_us, _ in values}) >= fewest
    ]
    if not found:
        return
    good = sum(value >= 0.95 for value, _, _ in found)
    print(
        f"Spearman over M: at least 0.95 for {good} of {len(found)} (family, N, K) with "
        f"{fewest} rows or more; median {timing.quantile([f[0] for f in found], 0.5):.3f}"
    )
    for value, key, count in sorted(found)[:5]:
        print(f"  lowest: {value:.3f} for {key[0]} N={key[1]} K={key[2]}, {count} rows")
    # Pairs that noise may have turned round are told apart.
    pairs = wrong = close = 0
    for _, key, _ in found:
        for (silicon, model), (other, other_model) in itertools.combinations(
            groups[key], 2
        ):
            pairs += 1
            if (silicon - other) * (model - other_model) < 0:
                wrong += 1
                close += abs(silicon / other - 1) < 0.05
    print(
        f"  {wrong} of {pairs} pairs of rows in the wrong order, {close} of these less "
        "than 5 % apart on silicon"
    )


def candidates(objects, row):
    """The rows that compute the problem of `row` with the other objects of its family:
    those that take the operands in the same order."""
    folder = os.path.join(objects, "hsa", "gfx950", row.target.family)
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".co"):
            continue
        try:
            target = launch.parse_object(row.target.family, name)
            if target.shuffled_b != row.target.shuffled_b:
                continue
            split = row.problem.split_k if target.splits_k else 1
            problem = dataclasses.replace(row.problem, split_k=split)
            launch.describe(target, problem)
        except launch.LaunchError:
            continue
        yield dataclasses.replace(row, target=target, problem=problem)


def winners(model, rows, verbose):
    """For each row, where the object that won on silicon stands in the model."""
    close = 0
    for number, row in enumerate(rows, 1):
        others = list(candidates(model.arguments.objects, row))
        results = model.run(others)
        times = {
            other.target.name: result["us"]
            for other, result in zip(others, results)
            if isinstance(result, dict)
        }
        if row.target.name not in times:
            print(f"not modelled: {row.target.name}")
            continue
        best = min(times, key=times.get)
        ratio = times[row.target.name] / times[best]
        close += ratio <= 1.1
        if verbose:
            p = row.problem
            print(
                f"{p.m}x{p.n}x{p.k}/{p.split_k}: {row.target.name} is {ratio:.2f} times "
                f"the best of {len(times)}, {best}; {close} of {number} within 10 %",
                flush=True,
            )
    print(
        f"the winner on silicon is within 10 % of the model's best for {close} of "
        f"{len(rows)} shapes"
    )


class Model:
    """Runs rows with given constants."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.given = dict(text.split("=", 1) for text in arguments.constant)

    def run(self, rows, constants=None, report=None):
        """Timing objects or errors by row."""
        options = []
        for name, value in {**self.given, **(constants or {})}.items():
            options += ["--timing-constant", f"{name}={value}"]
        return timing.model_rows(
            self.arguments.tenon,
            self.arguments.objects,
            rows,
            self.arguments.jobs,
            report,
            options=options,
        )


def fit(model, rows, start):
    """Coordinate descent over STEPS from the values `start`."""
    values = dict(start)
    score, host = best_host_constants(rows, model.run(rows, values))
    print(f"start: {score:.4f} {host}", flush=True)
    improved = True
    while improved:
        improved = False
        for name, factors in STEPS.items():
            present = values[name]
            for factor in factors:
                trial = {**values, name: round(present * factor, 4)}
                found, found_host = best_host_constants(rows, model.run(rows, trial))
                mark = ""
                if found < score - 1e-4:
                    score, host, values, improved = found, found_host, trial, True
                    mark = " *"
                print(f"{name}={trial[name]:g}: {found:.4f}{mark}", flush=True)
        print(f"round: {score:.4f} {json.dumps({**values, **host})}", flush=True)
    return {**values, **host}


def read_constants(header):
    """Present values of the constants in a chip's table."""
    values = {}
    with open(header, encoding="utf-8") as file:
        for line in file:
            line = line.split("//")[0].strip().rstrip(",")
            if line.startswith(".") and "=" in line:
                name, text = line[1:].split("=")
                text = text.strip()
                try:
                    factor = 1
                    if "<<" in text:
                        text, shift = text.split("<<")
                        factor = 1 << int(shift)
                    values[name.strip()] = float(text) * factor
                except ValueError:
                    pass
    return values


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    if not arguments.objects:
        sys.exit("calibrate.py: no --objects and no TENON_AITER_DIR")
    measured = launch.read_rows(arguments.times)
    part = "fitted" if arguments.command == "fit" else arguments.part
    rows = choose(
        measured, part, arguments.every, arguments.offset, arguments.largest
    )
    model = Model(arguments)
    if arguments.command == "fit":
        table = os.path.join(ROOT, "lib", "Target", "Gfx950Timing.cpp")
        present = read_constants(table)
        start = {name: present[name] for name in STEPS}
        start.update({k: float(v) for k, v in model.given.items() if k in STEPS})
        print(json.dumps(fit(model, rows, start), indent=2))
        return
    if arguments.command == "winners":
        winners(model, spread(rows, arguments.shapes), arguments.verbose)
        return
    begin = time.monotonic()

    def report(done, _row, _result):
        if sys.stderr.isatty():
            print(f"\r{done} of {len(rows)}", end="", file=sys.stderr, flush=True)

    results = model.run(rows, report=report)
    print_errors(rows, results, parts_of(measured), arguments.verbose)
    print_orders(rows, results)
    print(f"{len(rows)} rows in {time.monotonic() - begin:.0f} s")
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            for row, result in zip(rows, results):
                p = row.problem
                entry = {
                    "family": row.target.family,
                    "object": row.target.name,
                    "m": p.m,
                    "n": p.n,
                    "k": p.k,
                    "split_k": p.split_k,
                    "silicon_us": row.microseconds,
                    "model": result if isinstance(result, dict) else str(result),
                }
                file.write(json.dumps(entry) + "\n")


if __name__ == "__main__":
    main()
