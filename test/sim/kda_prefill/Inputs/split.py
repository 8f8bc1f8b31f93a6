# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""split.py PREFIX: prefills of one prompt, whole and cut in two, compared."""

import subprocess
import sys

import numpy

TOKENS = 180
ROWS = ("qkv", "raw_g", "raw_beta", "out_gate")
OUT_BOUND = 1e-2
STATE_BOUND = 6e-3

prefix = sys.argv[1]


def run(name, tokens, options, outputs):
    """Runs so many tokens, with a check against the recurrence; the files written."""
    command = ["tenon", "run", "--op", "kda_prefill", "--set", "H=2", "--check"]
    command += ["--checks", "none", "--list", f"lengths={tokens}", "--list", "slot=1"]
    files = {output: f"{prefix}.{name}.{output}.npy" for output in outputs}
    for output, file in files.items():
        command += ["--output", f"{output}={file}"]
    subprocess.run(command + options, check=True)
    return {output: numpy.load(file) for output, file in files.items()}


def close(found, expected, bound, what):
    """Fails when the relative L2 error is beyond the bound."""
    error = numpy.linalg.norm(found - expected) / numpy.linalg.norm(expected)
    if not error <= bound:
        sys.exit(f"{what}: relative L2 error {error:.3e}, at most {bound:.3e} expected")


whole = run("whole", TOKENS, [], (*ROWS, "out", "state", "conv_state"))
for cut in (1, 2, 64, 100):
    parts = []
    options = []
    for part, rows in enumerate((slice(0, cut), slice(cut, TOKENS))):
        for name in ROWS:
            file = f"{prefix}.{part}.{name}.npy"
            numpy.save(file, whole[name][rows])
            options += ["--input", f"{name}={file}"]
        tokens = len(whole["qkv"][rows])
        parts.append(run(f"cut{part}", tokens, options, ("out", "state", "conv_state")))
        options = []
        for pool in ("state", "conv_state"):
            options += ["--input", f"{pool}={prefix}.cut{part}.{pool}.npy"]
    out = numpy.concatenate([part["out"] for part in parts])
    close(out, whole["out"], OUT_BOUND, f"out cut at {cut}")
    close(parts[1]["state"][1], whole["state"][1], STATE_BOUND, f"state cut at {cut}")
    if not numpy.array_equal(parts[1]["conv_state"][1], whole["conv_state"][1]):
        sys.exit(f"conv_state cut at {cut} differs")
