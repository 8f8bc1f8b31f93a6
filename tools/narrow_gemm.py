#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models the narrow bf16 products of Kimi K3 with operands in HBM, beside their floor.

The floor is the launch cost and the bytes of x, weights and out at the attainable
bandwidth, both of the timing model. Beside it stand the best times of ROCm/aiter's
kimik3_bf16_tuned_gemm.csv, measured on silicon; some of them imply more than HBM's
bandwidth, so their operands were in caches. --ranked N models the first N schedules of
the ranked list and takes the fastest. Exit codes: 0 modelled, 1 something could not be,
2 bad usage.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import compare_gemm
from silicon import options

# Of lib/Target/Gfx950Timing.cpp.
LAUNCH_US = 3.4
BYTES_PER_US = 6.5e6

# Microseconds of the best kernel of the file for M = 1, 16 and 128, by N and K.
MEASURED = {
    (12, 7168): (3.92, 4.39, 4.99),
    (24, 7168): (3.85, 4.36, 4.86),
    (128, 7168): (4.23, 4.54, 5.03),
    (576, 7168): (4.98, 5.22, 7.51),
    (896, 7168): (5.26, 5.60, 9.01),
    (1536, 7168): (6.10, 6.40, 11.0),
    (2304, 1536): (4.93, 5.55, 7.38),
    (1536, 128): (3.81, 4.10, 4.42),
    (3072, 512): (4.06, 4.19, 4.92),
    (3072, 7168): (8.49, 9.21, 13.9),
    (7168, 768): (4.86, 4.85, 6.51),
    (7168, 1536): (6.71, 7.19, 10.0),
    (7168, 3584): (10.7, 11.7, 18.9),
    (7168, 4224): (12.2, 13.0, 20.7),
    (6144, 7168): (16.8, 17.8, 34.3),
    (8448, 7168): (15.3, 19.6, 26.7),
    (7168, 8448): (23.8, 23.6, 33.6),
}
TOKENS = (1, 16, 128)


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    options.add_bin(parser)
    add("--ranked", type=int, default=1, help="how many schedules to model")
    add("--tokens", type=int, nargs="*", default=TOKENS, choices=TOKENS, metavar="M")
    add("--only", nargs="*", metavar="NxK", help="shapes to model, as 896x7168")
    return parser


def line(arguments, shape, m):
    """The table's row of one product, and its ratio (none when not modelled)."""
    n, k = shape
    measured = MEASURED[shape][TOKENS.index(m)]
    floor = LAUNCH_US + 2 * (m * k + n * k + m * n) / BYTES_PER_US
    try:
        problem = SimpleNamespace(m=m, n=n, k=k)
        words = compare_gemm.settings(problem, "bf16gemm", "bf16")
        best, schedule = compare_gemm.fastest(arguments, problem, words, "full")
    except compare_gemm.CompareError as error:
        return f"| {n}x{k} | {m} | not modelled: {error} |", None
    us, schedule = best["us"], schedule.replace(" : i64", "")
    figures = f"{us:.2f} | {floor:.2f} | {us / floor:.2f} | {measured:.2f}"
    return f"| {n}x{k} | {m} | {figures} | `{schedule}` |", us / floor


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    wanted = arguments.only
    shapes = [(n, k) for n, k in MEASURED if not wanted or f"{n}x{k}" in wanted]
    if not shapes:
        print("narrow_gemm.py: none of these shapes is in the table", file=sys.stderr)
        return 2
    print("| N x K | M | modelled, cold | floor | ratio | measured, warm | schedule |")
    print("|---|---|---|---|---|---|---|", flush=True)
    work = [(shape, m) for shape in shapes for m in arguments.tokens]
    ratios, failures = [], 0
    with ThreadPoolExecutor() as pool:
        for text, ratio in pool.map(lambda item: line(arguments, *item), work):
            print(text, flush=True)
            failures += ratio is None
            ratios += [] if ratio is None else [ratio]
    if ratios:
        ratios.sort()
        print(
            f"\n{len(ratios)} products: over the floor, median {ratios[len(ratios) // 2]:.2f}, "
            f"largest {ratios[-1]:.2f}, at most 1.05 for {sum(r <= 1.05 for r in ratios)}"
        )
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
