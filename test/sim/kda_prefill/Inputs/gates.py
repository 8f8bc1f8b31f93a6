# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gates.py PREFIX [--products KIND]: prefills under gates that decay by nothing, by all, and
by turns."""

import subprocess
import sys

import numpy

TOKENS = 150
CHANNELS = 256

prefix, *rest = sys.argv[1:]
products = rest[1] if rest else "bf16"
by_turns = numpy.full((TOKENS, CHANNELS), -30.0, dtype="<f4")
by_turns[::7] = 30.0
by_turns[:, ::3] *= -1
for name, raw in (
    ("open", numpy.full((TOKENS, CHANNELS), -40.0, dtype="<f4")),
    ("shut", numpy.full((TOKENS, CHANNELS), 40.0, dtype="<f4")),
    ("turns", by_turns),
):
    numpy.save(f"{prefix}.{name}.npy", raw)
    for gate in ("bounded", "softplus"):
        command = ["tenon", "run", "--op", "kda_prefill", "--set", "H=2", "--check"]
        command += ["--set", f"gate={gate}", "--set", f"products={products}"]
        command += ["--list", f"lengths={TOKENS}"]
        command += ["--input", f"raw_g={prefix}.{name}.npy"]
        subprocess.run(command, check=True)
