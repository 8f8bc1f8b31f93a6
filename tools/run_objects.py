#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs public hand-written GEMM code objects in the simulator and checks the results.

One line per case: its errors against double precision (tools/silicon/compare.py), the
rows of padding that the kernel wrote, what the checks of the simulator found, and how
fast it was executed. Inputs must stay as they are. Exit codes: 0 every case agrees,
1 one does not or was not executed, 2 bad usage.
"""

import argparse
import collections
import shlex
import sys

from silicon import cases, launch, options


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    options.add_objects(parser, note=", whose hsa/gfx950 holds the code objects")
    options.add_tenon(parser)
    add(
        "--all",
        action="store_true",
        help="every object at small shapes, instead of a spread of objects",
    )
    add(
        "--rows",
        metavar="CSV",
        help="a table of measured times: of each object that it names the smallest row; "
        "with --all or --problem only the objects are taken from it",
    )
    add(
        "--largest",
        type=float,
        default=10,
        help="rows of --rows have at most so many 10^9 products (default: 10)",
    )
    add("--family", action="append", choices=launch.FAMILIES, help="may be repeated")
    add("--filter", default="", help="only objects with this text in the name")
    add(
        "--problem",
        metavar="M,N,K[,SPLIT[,OUT]]",
        help="this problem for every object; OUT is bf16 or f32",
    )
    add("--checks", default="none", help="as of tenon sim (default: none)")
    add("--findings", action="store_true", help="print every finding of the checks")
    add("--seed", type=int, default=1, help="of the operands")
    add("--timeout", type=float, default=600, help="seconds per case (default: 600)")
    add(
        "--dry-run",
        action="store_true",
        help="print the tenon sim command of each case, with buffers of zeros",
    )
    add(
        "options",
        nargs="*",
        metavar="-- OPTION",
        help="more options of tenon sim, such as -- --wg-order 3 --perturb 5",
    )
    return parser


def choose_cases(arguments):
    """The cases that the command line asks for."""
    families = arguments.family or launch.FAMILIES
    if not (arguments.all or arguments.problem):
        chosen = cases.spread()
        if arguments.rows:
            chosen = cases.smallest(launch.read_rows(arguments.rows), arguments.largest)
        return [
            case
            for case in chosen
            if case.target.family in families and arguments.filter in case.target.name
        ]
    targets = [
        target
        for family in families
        for target in cases.objects(arguments.objects, family)
        if arguments.filter in target.name
    ]
    if arguments.rows:
        named = {row.target for row in launch.read_rows(arguments.rows)}
        targets = [target for target in targets if target in named]
    if arguments.problem:
        problem = parse_problem(arguments.problem)
        return [cases.Case(target, problem) for target in targets]
    return [case for target in targets for case in cases.of_object(target)]


def parse_problem(text):
    """A launch.Problem of M,N,K[,SPLIT[,OUT]]."""
    fields = text.split(",")
    if not 3 <= len(fields) <= 5:
        raise ValueError(f"--problem: expected M,N,K[,SPLIT[,OUT]], found '{text}'")
    return launch.Problem(*map(int, fields[:4]), *fields[4:])


def print_commands(chosen, arguments):
    """The commands of --dry-run."""
    for case in chosen:
        described = launch.describe(case.target, case.problem)
        command = [arguments.tenon, "sim", cases.path_of(arguments.objects, case.target)]
        command += ["--grid", ",".join(map(str, described.grid))]
        command += ["--block", ",".join(map(str, described.block))]
        for text in described.sim_arguments():
            command += ["--arg", text]
        print(shlex.join(command + arguments.options))


def print_header():
    """The head of the table."""
    print(
        f"{'object':49} {'M':>5} {'N':>5} {'K':>6} {'split':>5} {'out':4} "
        f"{'wave instr':>10} {'s':>6} {'M/s':>5} {'max err':>8} {'rel L2':>8} "
        "pads  findings"
    )


def run_case(case, arguments):
    """Runs one case and prints its line; whether it agrees."""
    # Values need numpy; the commands of --dry-run do not.
    from silicon import compare, operands, simulate

    target, problem = case.target, case.problem
    name = target.name.removesuffix(".co")
    print(
        f"{name:49} {problem.m:5} {problem.n:5} {problem.k:6} "
        f"{problem.split_k:5} {problem.out_type:4}",
        end=" ",
        flush=True,
    )
    try:
        described = launch.describe(target, problem)
        data = operands.generate(target, problem, arguments.seed)
        simulated = simulate.run(
            arguments.tenon,
            cases.path_of(arguments.objects, target),
            described,
            data.buffers,
            arguments.checks,
            arguments.timeout,
            arguments.options,
        )
    except (simulate.SimulationError, launch.LaunchError) as error:
        print(f"FAILED: {error}")
        return False
    errors = compare.errors(simulated.output, data.expected())
    faults = [f"{name} is changed" for name in simulated.changed]
    if not errors.within(compare.tolerance(target, problem)):
        faults.append(f"DIFFERS, worst at {errors.worst}")
    pads = compare.changed_rows(
        simulated.output, data.buffers[described.output], problem.m
    )
    count = simulated.statistics["wave_instructions"]
    findings = simulated.statistics["findings"]
    met = collections.Counter()
    for finding in findings:
        met[finding["check"]] += finding["count"]
    kinds = ", ".join(f"{check} {times}" for check, times in sorted(met.items()))
    print(
        f"{count:10} {simulated.seconds:6.2f} {count / simulated.seconds / 1e6:5.2f} "
        f"{errors.max_error:8.1e} {errors.relative_l2:8.1e} {pads:4}  "
        f"{'  '.join([kinds or '-', *faults])}"
    )
    if arguments.findings:
        for finding in findings:
            print_finding(finding)
    return not faults


def print_finding(finding):
    """A finding of --stats-json, with the earlier instruction if it names one."""
    print(
        f"    {finding['check']}: wave {finding['wave']} at {finding['pc']:#x} "
        f"`{finding['instruction']}`: {finding['message']} ({finding['count']} times)"
    )
    if other := finding["other"]:
        print(
            f"      other: wave {other['wave']} at {other['pc']:#x} "
            f"`{other['instruction']}`"
        )


def summarise(agreed):
    """Prints how many objects agree in all their cases, per family."""
    for family in dict.fromkeys(target.family for target in agreed):
        results = [all(agreed[t]) for t in agreed if t.family == family]
        print(f"{family}: {sum(results)} of {len(results)} objects agree")


def main():
    parser = make_parser()
    arguments = parser.parse_args()
    if not arguments.objects:
        parser.error("name the folder with --objects or TENON_AITER_DIR")
    try:
        chosen = choose_cases(arguments)
        if not chosen:
            parser.error("no object is chosen")
        if arguments.dry_run:
            print_commands(chosen, arguments)
            return 0
    except (OSError, ValueError) as error:
        parser.error(str(error))
    print_header()
    agreed = collections.defaultdict(list)
    for case in chosen:
        agreed[case.target].append(run_case(case, arguments))
    summarise(agreed)
    return 0 if all(map(all, agreed.values())) else 1


if __name__ == "__main__":
    sys.exit(main())
