# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tenon.gemm in the simulator so that every pair of values of two axes meets.

The axes: tokens, columns, depth, types, epilogue, ranges, whether sizes are static,
strides, and the schedule (the ranked one or one of a list); weights row-major or in
another order. Each case is compared with
the double-precision reference, with all checks of the simulator on; unwritten memory
and everything beyond the edges of operands holds NaN.
"""

import argparse
import concurrent.futures
import itertools
import random
import re
import subprocess

AXES = {
    "M": (0, 1, 3, 4, 16, 17, 48, 127, 128, 129, 255, 257, 1024),
    "N": (2, 16, 100, 258, 384, 1000),
    "K": (32, 64, 96, 512, 544, 1024),
    "epilogue": ("none", "add", "sigmoid_gate", "situ", "silu"),
    "out": ("bf16", "f32"),
    "columns": ("off", "cut", "eights"),
    "rows": ("off", "on"),
    "static": ("none", "N", "K", "both"),
    "strides": ("dense", "wide"),
    # D1 is a step along K, of 128 bytes where it can be, D2 and D4 are two and four.
    "schedule": (
        "",
        "{tile = [16, 64, D1], waves = [1, 4], stages = 3}",
        "{tile = [32, 64, D1], waves = [2, 2], stages = 2}",
        "{tile = [64, 64, D1], waves = [2, 2], stages = 1}",
        "{tile = [48, 32, D1], waves = [1, 2], stages = 4}",
        '{tile = [64, 64, D1], waves = [2, 2], stages = 3, lds = "both", order = "interleave"}',
        '{tile = [16, 128, D1], waves = [1, 4], stages = 2, lds = "weights"}',
        '{tile = [128, 32, D1], waves = [4, 1], stages = 4, lds = "x"}',
        '{tile = [128, 128, D1], waves = [2, 4], stages = 2, lds = "both", order = "interleave"}',
        '{tile = [64, 64, D1], waves = [2, 2], stages = [3, 2], lds = "both", order = "balanced"}',
        '{tile = [128, 64, D1], waves = [4, 2], stages = [2, 4], lds = "both", order = "prefetch"}',
        "{tile = [16, 16, D4], waves = [1, 1, 4], stages = 3}",
        "{tile = [32, 48, D2], waves = [2, 1, 2], stages = 2}",
        "{tile = [16, 16, D2], waves = [1, 1, 2], stages = 2, split = 4}",
        "{tile = [48, 32, D1], waves = [1, 1], stages = 2, split = 2}",
        '{tile = [64, 64, D1], waves = [2, 2], stages = 3, lds = "both", order = "interleave", split = 3}',
    ),
}


def covering_cases(axes, seed):
    """Cases (dictionaries) in which every pair of values of two axes occurs."""
    generator = random.Random(seed)
    names = list(axes)
    missing = {
        ((a, x), (b, y))
        for a, b in itertools.combinations(names, 2)
        for x in axes[a]
        for y in axes[b]
    }

    def pairs(case):
        return set(itertools.combinations(list(case.items()), 2))

    while missing:
        first = generator.choice(sorted(missing, key=repr))
        best = None
        for _ in range(30):
            case = {name: generator.choice(axes[name]) for name in names}
            case.update(dict(first))
            gain = len(pairs(case) & missing)
            if best is None or gain > best[0]:
                best = (gain, case)
        missing -= pairs(best[1])
        yield best[1]


def fit(case):
    """The case with sizes and an order of weights that its types have."""
    if not case["weights"].startswith("aiter"):
        return case
    if "mxfp4" not in case["format"]:
        return {**case, "weights": "packed"}
    sizes = {"N": -(-case["N"] // 32) * 32, "K": -(-case["K"] // 64) * 64}
    gated = case["epilogue"] in ("situ", "silu")
    return {**case, **sizes, "weights": case["weights"] if gated else "aiter"}


def command_of(case, index, formats):
    """The command line of one case."""
    case = fit(case)
    gated = case["epilogue"] in ("situ", "silu")
    columns = case["N"] // (2 if gated else 1)
    command = ["tenon", "run", "--op", "gemm", "--check", "--checks", "all"]
    command += ["--seed", str(index), "--threads", "1"]
    sets = {
        "epilogue": case["epilogue"],
        "out": case["out"],
        "format": case["format"],
        "columns": "off" if case["columns"] == "off" else "on",
        "rows": case["rows"],
        "weights": case["weights"],
        "x_scale": case["x_scale"],
    }
    dims = {"M": case["M"]}
    for name in "NK":
        fixed = case["static"] in (name, "both")
        (sets if fixed else dims)[name] = case[name]
    scalars = {}
    if case["columns"] == "eights":
        scalars = {"col_begin": columns // 3 // 8 * 8, "col_end": columns // 8 * 8}
    elif case["columns"] == "cut":
        scalars = {"col_begin": columns // 5, "col_end": columns - columns // 7}
    if case["rows"] == "on":
        scalars["row_begin"] = case["M"] // 4
        scalars["row_end"] = case["M"] - case["M"] // 5
    strides = {}
    if case["strides"] == "wide":
        unit = formats[case["format"]]
        strides = {"x": case["K"] + unit}
        if case["weights"] == "row_major":
            strides["weights"] = case["K"] + 2 * unit
        strides["out"] = columns + columns % 2 + 2
        # Rows of scales begin anywhere, but at dwords where K is a static multiple of 128.
        wide = 4 if "K" in sets and case["K"] % 128 == 0 else 1
        if "mxfp4" in case["format"] and case["weights"] == "row_major":
            strides["weight_scale"] = case["K"] // 32 + 3 * wide
        if case["format"] in ("mxfp4", "mxfp8_mxfp4") and case["x_scale"] == "row_major":
            strides["x_scale"] = case["K"] // 32 + wide
    elif columns % 2 and case["out"] == "bf16":
        strides["out"] = columns + 1
    if case["epilogue"] == "sigmoid_gate":
        strides["multiplicand"] = columns + columns % 2
    for option, values in (
        ("--set", sets),
        ("--dim", dims),
        ("--scalar", scalars),
        ("--stride", strides),
    ):
        for name, value in values.items():
            command += [option, f"{name}={value}"]
    if case["schedule"]:
        schedule = case["schedule"]
        if "mxfp4" in case["format"]:
            # Four views in four stages are more than the scalar registers hold.
            schedule = schedule.replace("stages = 4", "stages = 3")
            # Scales go into registers, which have the stages of the loop.
            schedule = re.sub(r"stages = \[\d, \d\]", "stages = 2", schedule)
            if case["format"] in STEPS:
                # Eight waves copy no less of the codes.
                schedule = schedule.replace("[128, 64, D1]", "[128, 128, D1]")
            if case["weights"] != "row_major" or case["x_scale"] != "row_major":
                schedule = schedule.replace("48, D2]", "64, D2]").replace("[48, 32", "[64, 32")
                if gated:
                    schedule = re.sub(r"stages = \d", "stages = 1", schedule)
            elif gated:
                schedule = schedule.replace("stages = 3", "stages = 2")
        for steps in (1, 2, 4):
            depth = steps * STEPS.get(case["format"], 8 * formats[case["format"]])
            schedule = schedule.replace(f"D{steps}]", f"{depth}]")
        command += ["--schedule", schedule]
    return command


# Elements of 16 bytes, what row strides are multiples of.
FORMATS = {"bf16": 8, "fp8": 16, "mxfp4": 32, "mxfp8_mxfp4": 32, "bf16_mxfp4": 32}

# Steps along K of formats whose operands have unequal sizes.
STEPS = {"mxfp8_mxfp4": 128, "bf16_mxfp4": 128}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--formats", nargs="+", choices=FORMATS, default=["bf16"])
    parser.add_argument("--weights", nargs="+", default=["row_major"])
    parser.add_argument("--x-scale", nargs="+", default=["row_major"])
    parser.add_argument("--tokens", nargs="+", type=int, default=AXES["M"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    axes = {
        **AXES,
        "M": tuple(arguments.tokens),
        "format": tuple(arguments.formats),
        "weights": tuple(arguments.weights),
        "x_scale": tuple(arguments.x_scale),
    }
    cases = list(covering_cases(axes, arguments.seed))

    def run(numbered):
        index, case = numbered
        command = command_of(case, index, FORMATS)
        done = subprocess.run(command, capture_output=True, text=True)
        return command, done

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for command, done in pool.map(run, enumerate(cases)):
            if done.returncode != 0:
                failures += 1
                words = " ".join(f"'{w}'" if " " in w else w for w in command)
                print(f"FAILED: {words}\nexit code {done.returncode}")
                print(done.stdout + done.stderr)
    print(f"{len(cases)} cases, {failures} failed")
    raise SystemExit(failures != 0)


if __name__ == "__main__":
    main()
