# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kda_decode in the simulator over every combination of its variants.

For one number of heads: N in {1, 7, 128}, both gates, output norm on and off,
both layouts of conv_state and of state. What the product leaves out (strides, L,
conv_start, null_slot, type of norm_weight, seed) changes from case to case, so
that every value of it meets every value of the rest somewhere.
"""

import argparse
import itertools
import json
import subprocess
import sys
import tempfile

MOST_INSTRUCTIONS = 2200  # per row and head, of all waves


def case_arguments(index, heads, requests, gate, norm, conv_layout, state_layout):
    """The command line of one case."""
    conv_start = "on" if index % 2 else "off"
    length = 3 + index % 4
    settings = {
        "H": heads,
        "gate": gate,
        "norm": norm,
        "conv_layout": conv_layout,
        "state_layout": state_layout,
        "conv_start": conv_start,
        "null_slot": "lt0" if index % 3 == 0 else "le0",
        "norm_weight": "bf16" if index % 5 == 0 else "f32",
    }
    width = heads * 128
    # Strides that 16 bytes divide, in elements of 2, 2, 2, 4 and 4 bytes.
    strides = {
        "qkv": 3 * width + 8 * (index % 3),
        "raw_beta": heads + index % 7,
        "out": width + 8 * (index % 2),
        "state": width * 128 + 4 * (index % 4),
        "slot": 1 + index % 3,
    }
    command = ["tenon", "run", "--op", "kda_decode", "--check", "--seed", str(index)]
    # The checks of the simulator see the same program in every row.
    command += ["--checks", "all" if requests == 1 else "none"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    for name, value in strides.items():
        command += ["--stride", f"{name}={value}"]
    return command + ["--dim", f"N={requests}", "--dim", f"L={length}"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--heads", type=int, required=True)
    arguments = parser.parse_args()
    product = itertools.product(
        (1, 7, 128), ("bounded", "softplus"), ("on", "off"), ("sd", "ds"), ("vk", "kv")
    )
    failures = 0
    for index, (requests, gate, norm, conv, state) in enumerate(product):
        command = case_arguments(
            index, arguments.heads, requests, gate, norm, conv, state
        )
        with tempfile.NamedTemporaryFile(suffix=".json") as stats:
            done = subprocess.run(
                command + ["--stats-json", stats.name], capture_output=True, text=True
            )
            launches = json.load(stats)["launches"] if done.returncode == 0 else []
        problem = ""
        if done.returncode != 0:
            problem = f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
        elif len(launches) != 1:
            problem = f"{len(launches)} launches"
        elif launches[0]["instructions_per_row_head"] > MOST_INSTRUCTIONS:
            problem = f"{launches[0]['instructions_per_row_head']} instructions"
        if problem:
            failures += 1
            print("FAILED:", " ".join(command), "\n", problem)
    print(f"{index + 1} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
