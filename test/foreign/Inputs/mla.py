# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the first stage of a decode over a latent cache, in time, and prints its errors
against double precision: usage PATH_OF_TOOLS TENON [TYPE HEADS TOKENS], or PATH_OF_TOOLS
alone for the shares of some contexts."""

import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, sys.argv[1])

from silicon import mla  # noqa: E402


def run(tenon, objects, decode):
    """Outputs and log-sum-exps that the kernel leaves, and those that it has to."""
    operands = mla.generate(decode, seed=7)
    with tempfile.TemporaryDirectory() as folder:
        path = mla.path_of(objects, decode.kernel)
        command = [tenon, "sim", path, "--checks", "none", "--timing"]
        command += ["--grid", f"{mla.WORKGROUPS},1,1"]
        command += ["--block", ",".join(map(str, mla.BLOCK))]
        for text in mla.arguments(decode, folder, operands):
            command += ["--arg", text]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        output = np.load(os.path.join(folder, "output.npy")).view(np.float32)
        sums = np.load(os.path.join(folder, "sums.npy")).view(np.float32)
    expected = mla.expected(decode, operands)
    return (output.reshape(expected[0].shape), sums.reshape(expected[1].shape)), expected


def report(decode):
    """Prints the errors of every share and token."""
    found, expected = run(sys.argv[2], os.environ["TENON_AITER_DIR"], decode)
    # E4M3: weights are rounded to steps of 2^-3 of a value, a relative error of 2^-4 at
    # most, and of 0.04 in the mean square, for each. bf16: 16 times less.
    most = 0.04 if decode.kernel.is_fp8 else 0.0025
    for share, (output, wanted) in enumerate(zip(found[0], expected[0])):
        for token in range(decode.kernel.tokens):
            difference = np.linalg.norm(output[token] - wanted[token])
            error = difference / np.linalg.norm(wanted[token])
            log = np.abs(found[1][share, token] - expected[1][share, token]).max()
            verdict = "ok" if error < most and log < 1e-5 else "WRONG"
            print(f"{verdict} share {share} token {token}: {error:.4f} {log:.1e}")


if len(sys.argv) == 2:
    for context, shares in ((700, 4), (35, 19), (70000, 32)):
        plan = mla.Decode(context, shares, 1).plan()
        print(context, shares, len(plan), plan[0], plan[-1])
elif len(sys.argv) == 3:
    report(mla.Decode(700, 4, 2000))
else:
    # Types, heads and tokens: of two requests.
    key = (sys.argv[3] == "fp8", int(sys.argv[4]), int(sys.argv[5]))
    report(mla.Decode(300, 3, 1000, mla.KERNELS[key], requests=2))
