#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the Triton kernels of flash-linear-attention and those of tenon.kda_prefill on the
same inputs, and prints how far each is from the recurrence in double precision.

One sequence with an initial state and a history, bounded gate, output norm. The recurrence
rounds what the convolution puts out to BF16, as both do. Errors are relative L2 of the worst
head, and the largest error of the largest value of a head. Run it with the Python of
bench/peers/setup.sh. Exit codes: 0 executed, 1 something could not be, 2 bad usage.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import warnings

import numpy

import stand_ins

warnings.filterwarnings("ignore")
stand_ins.install()

import kda_launches  # noqa: E402
import triton_kernel  # noqa: E402
from kda_launches import D, TAPS  # noqa: E402


def to_bf16(values):
    """FP32 rounded to the nearest BF16, as their upper halves."""
    bits = numpy.ascontiguousarray(values, numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def from_bf16(bits):
    """BF16 as double precision."""
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def inputs(data, tokens, heads, seed):
    """Operands by name: 16-bit ones are BF16. In the regime of the served model, or with
    queries and keys that differ by a twenty-fifth from token to token."""
    random = numpy.random.default_rng(seed)
    width = heads * D
    qkv = random.normal(0, 0.5, (tokens, 3 * width))
    raw_beta = random.normal(0, 1, (tokens, heads))
    if data == "correlated":
        alike = random.normal(0, 0.5, 2 * width)
        qkv[:, : 2 * width] = alike + random.normal(0, 0.02, (tokens, 2 * width))
        raw_beta[:] = 3
    scale = 0.0 if data == "correlated" else 0.1
    return {
        "qkv": to_bf16(qkv),
        "raw_g": to_bf16(random.normal(0, 1, (tokens, width))),
        "raw_beta": to_bf16(raw_beta),
        "out_gate": to_bf16(random.normal(0, 1, (tokens, width))),
        "conv_weight": random.normal(0, 0.5, (3 * width, TAPS)).astype(numpy.float32),
        "a_log": random.uniform(-0.42, 0.18, heads).astype(numpy.float32),
        "dt_bias": random.uniform(-7.8, -1.4, width).astype(numpy.float32),
        "norm_weight": random.normal(1, 0.1, D).astype(numpy.float32),
        "conv_state": to_bf16(random.normal(0, 0.5, (TAPS - 1, 3 * width))),
        "state": (scale * random.normal(0, 1, (heads, D, D))).astype(numpy.float32),
    }


def recurrence(given):
    """out [T, H, D] and the final state [H, D(v), D(k)], token by token."""
    wide = {
        name: from_bf16(value) if value.dtype == numpy.uint16 else value.astype(numpy.float64)
        for name, value in given.items()
    }
    tokens, heads = wide["raw_beta"].shape
    rows = numpy.concatenate([wide["conv_state"], wide["qkv"]])
    mixed = sum(rows[tap : tap + tokens] * wide["conv_weight"][:, tap] for tap in range(TAPS))
    mixed = from_bf16(to_bf16(mixed * sigmoid(mixed))).reshape(tokens, 3, heads, D)
    q, k, v = (mixed[:, part] for part in range(3))
    unit = [
        x / numpy.sqrt((x * x).sum(-1, keepdims=True) + kda_launches.QK_EPS) for x in (q, k)
    ]
    q, k = unit[0] * D**-0.5, unit[1]
    x = (wide["raw_g"] + wide["dt_bias"]).reshape(tokens, heads, D)
    scale = numpy.exp(wide["a_log"])[:, None]
    decay = numpy.exp(kda_launches.LOWER_BOUND * sigmoid(scale * x))
    beta = sigmoid(wide["raw_beta"])
    state = wide["state"].copy()
    out = numpy.empty((tokens, heads, D))
    for t in range(tokens):
        state *= decay[t][:, None, :]
        update = beta[t][:, None] * (v[t] - (state @ k[t][:, :, None])[:, :, 0])
        state += update[:, :, None] * k[t][:, None, :]
        out[t] = (state @ q[t][:, :, None])[:, :, 0]
    out /= numpy.sqrt((out * out).mean(-1, keepdims=True) + kda_launches.NORM_EPS)
    gate = sigmoid(wide["out_gate"]).reshape(out.shape)
    return out * wide["norm_weight"] * gate, state


def peers(arguments, given, folder):
    """What flash-linear-attention makes of the inputs: (out, state)."""
    tokens, heads = given["raw_beta"].shape
    width = heads * D

    def write(name, array):
        numpy.save(os.path.join(folder, name + ".npy"), numpy.ascontiguousarray(array))

    def read(name):
        return numpy.load(os.path.join(folder, name + ".npy"))

    for name, array in given.items():
        write(name, array)
    # Channel by channel, the oldest of four columns unused.
    history = numpy.zeros((3 * width, TAPS), numpy.uint16)
    history[:, 1:] = given["conv_state"].T
    write("history", history)
    for number, launch in enumerate(kda_launches.launches(tokens, heads)):
        for value in launch.arguments.values():
            if isinstance(value, triton_kernel.Tensor):
                path = os.path.join(folder, value.name + ".npy")
                kind = numpy.uint16 if value.type == "bf16" else numpy.float32
                if not os.path.exists(path):
                    write(value.name, numpy.zeros(value.elements, kind))
        candidate = next(triton_kernel.candidates(launch, 1, folder))
        triton_kernel.executed(arguments.tenon, candidate, folder)
        if number == 0:
            mixed = read("mixed").reshape(tokens, 3, width)
            for part, name in enumerate("qkv"):
                write(name, mixed[:, part])
    out = from_bf16(read("out")).reshape(tokens, heads, D)
    return out, read("final_state").astype(numpy.float64).reshape(heads, D, D)


def ours(arguments, given, folder, products):
    """What tenon.kda_prefill makes of the inputs: (out, state)."""
    tokens, heads = given["raw_beta"].shape
    given = dict(given)
    for name in ("state", "conv_state"):
        # Slot 0 is the null slot.
        given[name] = numpy.stack([numpy.zeros_like(given[name]), given[name]])
    command = [arguments.tenon, "run", "--op", "kda_prefill", "--set", f"H={heads}"]
    command += ["--set", f"products={products}", "--checks", "none"]
    command += ["--list", f"lengths={tokens}", "--list", "slot=1", "--dim", "S=2"]
    for name, array in given.items():
        path = os.path.join(folder, f"our_{name}.npy")
        numpy.save(path, array)
        command += ["--input", f"{name}={path}"]
    for name in ("out", "state"):
        command += ["--output", f"{name}={os.path.join(folder, f'our_{name}.npy')}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    out, state = (
        numpy.load(os.path.join(folder, f"our_{name}.npy")).astype(numpy.float64)
        for name in ("out", "state")
    )
    return out.reshape(tokens, heads, D), state[1]


def errors(found, expected):
    """Relative L2 and maximum of the worst head; heads are the first dimension."""
    axes = tuple(range(1, found.ndim))
    difference = found - expected
    squares = (difference**2).sum(axes) / (expected**2).sum(axes)
    largest = numpy.abs(difference).max(axes) / numpy.abs(expected).max(axes)
    return f"{numpy.sqrt(squares.max()):.1e} | {largest.max():.1e}"


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--tenon", default="tenon", help="the program tenon")
    add("--tokens", type=int, default=1088, help="of the sequence (default: 1088)")
    add("--heads", type=int, default=12, help="default: 12")
    add("--seed", type=int, default=0, help="of the inputs")
    add("data", nargs="*", help="model, correlated (default: both)")
    return parser


def main():
    """Entry point."""
    parser = make_parser()
    arguments = parser.parse_args()
    kinds = arguments.data or ["model", "correlated"]
    if not set(kinds) <= {"model", "correlated"}:
        parser.error("data are model or correlated")
    print("| data | kernels | out, L2 | out, largest | state, L2 | state, largest |")
    print("|---|---|---|---|---|---|", flush=True)
    for kind in kinds:
        given = inputs(kind, arguments.tokens, arguments.heads, arguments.seed)
        out, state = recurrence(given)
        rows = {"flash-linear-attention": lambda folder: peers(arguments, given, folder)}
        for products in ("bf16", "f16"):
            rows[f"Tenon, {products}"] = lambda folder, products=products: ours(
                arguments, given, folder, products
            )
        for name, run in rows.items():
            with tempfile.TemporaryDirectory() as folder:
                try:
                    found = run(folder)
                except RuntimeError as error:
                    print(f"kda_values.py: {error}", file=sys.stderr)
                    return 1
            by_head = (array.transpose(1, 0, 2) for array in (found[0], out))
            line = f"{errors(*by_head)} | {errors(found[1], state)}"
            print(f"| {kind} | {name} | {line} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
