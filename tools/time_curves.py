#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what the timing model has for the published times of tools/silicon/curves.py.

One line per point: family, point, measured and modelled microseconds, relative error.
Points of mla_decode are differences of two contexts; their first stages are listed with
the published sums of first stage and merge. Exit codes: 0 modelled, 1 one could not be,
2 bad usage.
"""

import argparse
import sys

from silicon import curves, options
from silicon.simulate import SimulationError


def main():
    """Runs the points."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_objects(parser, note="; without it, the points that need none")
    options.add_tenon(parser)
    parser.add_argument("--family", choices=("kda_decode", "mla_decode"))
    parser.add_argument(
        "options", nargs="*", help="further options of tenon sim, after --"
    )
    arguments = parser.parse_args()
    try:
        for point in curves.points():
            if arguments.family not in (None, point.family):
                continue
            if point.needs_objects and not arguments.objects:
                continue
            us = point.model(arguments.tenon, arguments.objects, arguments.options)
            error = us / point.measured - 1
            print(
                f"{point.family}  {point.name:>21}  measured {point.measured:6.2f} us  "
                f"modelled {us:6.2f} us  {error:+7.1%}",
                flush=True,
            )
        if arguments.objects and arguments.family != "kda_decode":
            for context, measured in curves.MLA_DECODE.items():
                us = curves.mla_timing(
                    arguments.tenon, arguments.objects, context, arguments.options
                )["us"]
                print(
                    f"mla_decode  {context:>14} tokens  first stage and merge measured "
                    f"{measured:5.1f} us  first stage modelled {us:5.2f} us",
                    flush=True,
                )
    except SimulationError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
