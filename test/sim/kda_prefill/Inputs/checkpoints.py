# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""checkpoints.py PREFIX: checkpoints of prefills, and prefills that end there, compared."""

import subprocess
import sys

import numpy

ROWS = ("qkv", "raw_g", "raw_beta", "out_gate")
POOLS = ("state", "conv_state")
CHECKPOINTS = ("checkpoint_state", "checkpoint_conv")
# Tokens, and where the state is kept.
PROMPTS = ((256, (64, 192)), (320, (256, 64)), (448, (448, 384)))

prefix = sys.argv[1]


def run(name, tokens, options, outputs):
    """Runs so many tokens in one group of chunks; the arrays named."""
    command = ["tenon", "run", "--op", "kda_prefill", "--set", "H=1", "--checks", "none"]
    command += ["--list", f"lengths={tokens}", "--list", "slot=1"]
    files = {output: f"{prefix}.{name}.{output}.npy" for output in outputs}
    for output, file in files.items():
        command += ["--output", f"{output}={file}"]
    subprocess.run(command + options, check=True)
    return {output: numpy.load(file) for output, file in files.items()}


def same(found, expected, what):
    """Fails unless all bits are equal."""
    if found.tobytes() != expected.tobytes():
        sys.exit(f"{what} differs")


for tokens, offsets in PROMPTS:
    options = ["--set", "checkpoints=several", "--dim", "M=2", "--dim", "P=5"]
    options += ["--list", f"checkpoint_offset={offsets[0]},{offsets[1]}"]
    options += ["--list", "checkpoint_slot=3,1"]
    whole = run("whole", tokens, options, (*ROWS, *POOLS, *CHECKPOINTS, "out"))
    plain = run("plain", tokens, [], (*POOLS, "out"))
    for name, array in plain.items():
        same(whole[name], array, f"{name} of {tokens} tokens, with and without checkpoints")
    for offset, slot in zip(offsets, (3, 1)):
        options = []
        for name in ROWS:
            file = f"{prefix}.cut.{name}.npy"
            numpy.save(file, whole[name][:offset])
            options += ["--input", f"{name}={file}"]
        part = run("part", offset, options, POOLS)
        for pool, checkpoint in zip(POOLS, CHECKPOINTS):
            what = f"{checkpoint} behind {offset} of {tokens} tokens"
            same(whole[checkpoint][slot], part[pool][1], what)
