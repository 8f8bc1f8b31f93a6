# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs kda_prefill in the simulator over lengths, gates, and with and without initial state.

What the product leaves out (layouts, plan, output norm, types, strides, padding, seed)
changes from case to case. Of long prompts one case of four is run, another for each,
unless --all asks for the rest.
"""

import argparse
import itertools
import subprocess
import sys

LENGTHS = (
    (1,),
    (2,),
    (63,),
    (64,),
    (65,),
    (500,),
    (1024,),
    (513, 64, 1, 1200),
    (512,) * 6,
    (0, 15, 100, 300),
)


LONG = 600  # tokens


def case_arguments(index, heads, lengths, gate, initial):
    """The command line of one case."""

    def alternate(divisor, values):
        return values[index // divisor % len(values)]

    settings = {
        "H": heads,
        "gate": gate,
        "norm": "off" if index % 5 == 0 else "on",
        "conv_layout": alternate(1, ("sd", "ds")),
        "state_layout": alternate(3, ("vk", "kv")),
        "null_slot": alternate(2, ("le0", "lt0")),
        "norm_weight": alternate(3, ("f32", "bf16")),
        "plan": alternate(1, ("on", "off")),
        "has_initial_state": "off" if initial else "on",
    }
    tokens = sum(lengths)
    width = heads * 128
    # Strides that 16 bytes divide, in elements of 2, 2 and 4 bytes.
    strides = {
        "qkv": 3 * width + 8 * (index % 3),
        "out": width + 8 * (index % 2),
        "state": width * 128 + 4 * (index % 4),
        "slot": 1 + index % 3,
    }
    command = ["tenon", "run", "--op", "kda_prefill", "--check", "--seed", str(index)]
    # The checks of the simulator see the same program in every chunk.
    command += ["--checks", "all" if tokens <= 65 else "none"]
    command += ["--list", f"lengths={','.join(map(str, lengths))}"]
    command += ["--dim", f"T={tokens + index % 4}", "--dim", f"L={3 + index % 2}"]
    if not initial:
        zeros = ",".join("0" for _ in lengths)
        command += ["--list", f"has_initial_state={zeros}"]
    if index % 2:
        # More groups than the ranked schedules make of these lengths.
        workgroups = 1 if gate == "softplus" else 2
        schedule = f"{{prologue_workgroups = {workgroups}, group_chunks = 4}}"
        command += ["--schedule", schedule]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    for name, value in strides.items():
        command += ["--stride", f"{name}={value}"]
    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heads", type=int, required=True)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    failures = 0
    product = itertools.product(LENGTHS, ("bounded", "softplus"), (True, False))
    for index, (lengths, gate, initial) in enumerate(product):
        place, case = divmod(index, 4)
        if sum(lengths) > LONG and case != place % 4 and not arguments.all:
            continue
        command = case_arguments(index, arguments.heads, lengths, gate, initial)
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            failures += 1
            print(" ".join(command))
            print(result.stdout + result.stderr)
    sys.exit(f"{failures} cases failed" if failures else 0)


if __name__ == "__main__":
    main()
