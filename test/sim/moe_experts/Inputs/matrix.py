# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs tenon.moe_experts in the simulator against the double-precision reference, with
all checks of the simulator on. Rows of x and weights of tokens without routes hold NaN, and
so do the scales of experts that no route goes to, out and what lies between its rows.

`matrix.py GROUP` runs the cases of a group; `--full` those of the whole model besides.
"""

import argparse
import subprocess
import sys

SMALL = {"E": 32, "K": 4, "D": 256, "I": 128}


def case(tokens, data=None, stride=False, lists=(), checks="all", sampled=False, **sets):
    settings = SMALL | sets
    command = ["tenon", "run", "--op", "moe_experts", "--checks", checks]
    command += ["--check-sampled" if sampled else "--check", "--dim", f"T={tokens}"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    if data:
        command += ["--data", data]
    if stride:
        width = settings["D"]
        command += ["--stride", f"x={width + 64}"]
        if settings.get("routes") != "fp8":
            command += ["--stride", f"out={width + 128}"]
    for name, values in lists:
        command += ["--list", f"{name}={','.join(map(str, values))}"]
    return command


def formats(**sets):
    for given, between in (
        ("bf16", "bf16"),
        ("fp8", "fp8"),
        ("fp4", "fp4"),
        ("fp4", "fp8"),
        ("bf16", "fp8"),
    ):
        yield {"input": given, "intermediate": between} | sets


def tokens(full):
    """Both sides of every boundary of T."""
    for index, count in enumerate((0, 1, 3, 4, 16, 17, 255, 256, 257)):
        for position, types in enumerate(formats()):
            if full or (index + position) % 3 == 0 or count in (16, 17):
                routes = ("bf16", "f32")[(index + position) % 2]
                yield case(count, routes=routes, **types)


def widths(full):
    """Widths of experts that are no power of two, whole steps or whole tiles."""
    for index, inner in enumerate((128, 384, 512, 640, 704, 96, 32)):
        for position, types in enumerate(formats()):
            if full or (index + position) % 2 == 0:
                yield case((5, 20)[position % 2], I=inner, D=(256, 416)[index % 2], **types)
    if full:
        for types in formats():
            yield case(33, I=3072, D=3584, **types)


def data(full):
    """Loads of experts, ids that are no routes, magnitudes, maps, tokens counted on the
    device."""
    kinds = ("one_expert", "few_experts", "holes", "empty_rank", "small", "wide")
    for index, kind in enumerate(kinds):
        for position, count in enumerate((3, 40)):
            types = list(formats())[(2 * index + position) % 5]
            yield case(count, data=kind, stride=position == 1, **types)
            more = (
                {"map": "on", "G": 48},
                {"num_tokens": "on"},
                {"routes": "fp8", "map": "on", "G": 20, "num_tokens": "on"},
            )
            for variant in more if full else (more[(index + position) % 3],):
                yield case(count, data=kind, **(types | variant))
    # Holes among the routes of a token whose experts take several steps.
    for types in list(formats())[1:]:
        yield case(5, data="holes", K=20, I=416, **types)
    for index, given in enumerate((0, 1, 7, 9, 1000)):
        for count in (9, 20) if full else ((9, 20)[index % 2],):
            yield case(count, num_tokens="on", lists=[("num_tokens", [given])], input="fp8")


def variants(full):
    """Activations, scale modes, orders of the weights, rows as results, counts of experts."""
    for index, mode in enumerate(("up", "floor", "even")):
        for types in list(formats())[1:4]:
            yield case((4, 18)[index % 2], scale_mode=mode, activation="silu", **types)
    for w13, w2 in (("aiter", "aiter"), ("aiter_interleaved", "aiter"), ("packed", "aiter")):
        for count in (2, 19):
            yield case(count, w13=w13, w2=w2, I=192, input="fp8", intermediate="fp8")
    for count in (1, 16, 17, 64):
        yield case(count, routes="fp8", input="fp8", intermediate="fp4")
    for experts, chosen in ((1, 1), (3, 2), (100, 16), (32, 32)):
        for count in (2, 21):
            yield case(count, E=experts, K=chosen, beta=2.0, linear_beta=7.5)


def fused(full):
    """Tokens so few that one kernel does it all: types, orders, masked and repeated routes,
    counts of routes, parts and columns that are no powers of two."""
    for index, types in enumerate(formats()):
        for count in (1, 2, 3) if full else (1 + index % 3,):
            routes = ("bf16", "f32")[index % 2]
            yield case(count, D=(512, 1024, 1536)[index % 3], I=(96, 384)[index % 2],
                       K=(3, 16)[index % 2], routes=routes, stride=True, **types)
    kinds = ("one_expert", "few_experts", "holes", "empty_rank", "small", "wide")
    for index, kind in enumerate(kinds):
        for position, types in enumerate(formats()):
            if full or (index + position) % 5 == 0:
                more = ({"map": "on", "G": 48}, {"num_tokens": "on"}, {"activation": "silu"})
                yield case(3, data=kind, D=512, K=5, **types, **more[index % 3])
    for given in (0, 1, 2, 1000):
        yield case(3, D=512, num_tokens="on", lists=[("num_tokens", [given])], input="fp8")
    for w13, w2 in (("aiter", "aiter"), ("aiter_interleaved", "aiter")):
        yield case(2, w13=w13, w2=w2, D=1024, I=192, input="fp8", intermediate="fp4")


def model(full):
    """Kimi K3 at tensor parallelism 8, and as eight ranks of whole experts."""
    eight = {"E": 896, "K": 16, "D": 3584, "I": 384}
    whole = {"E": 112, "K": 16, "D": 3584, "I": 3072, "map": "on", "G": 896}
    a8w4, a4w4 = list(formats())[1:3]
    if not full:
        yield case(2, checks="none", **eight, **a8w4)
        yield case(1, checks="none", **whole, **a4w4)
        return
    for types in (a8w4, a4w4):
        for count in (1, 3, 4, 16, 17, 255, 256, 257, 1024):
            yield case(count, checks="none", sampled=count > 17, **eight, **types)
        for count in (1, 16, 17, 257, 1024):
            yield case(count, checks="none", sampled=count > 17, **whole, **types)


def main():
    groups = {function.__name__: function for function in (tokens, widths, data, variants, fused, model)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("group", choices=groups)
    parser.add_argument("--full", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    commands = list(groups[arguments.group](arguments.full))
    for command in commands:
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            failed += 1
            print(" ".join(command), run.stdout, sep="\n", flush=True)
        elif arguments.full:
            lines = [line for line in run.stdout.splitlines() if line[:4] in ("ok  ", "note")]
            print(" ".join(command[4:]), *lines, sep="\n  ", flush=True)
    print(f"{len(commands)} cases, {failed} failed")
    sys.exit(failed != 0)


main()
