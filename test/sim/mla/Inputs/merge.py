# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""merge.py PREFIX: merges parts some of which are empty, and scales and adds them up.

A part is empty where its lse is NaN or infinite; its values are NaN then. Logarithms
spread over hundreds, so that whole parts vanish beside others and nothing may overflow.
Numbers of parts from 1 to 64, strides of buffers that were gathered along either
dimension. tenon run compares with the reference; what numpy computes from the files is
compared with the outputs besides, and the scaled parts of all ranks with the merged one.
"""

import subprocess
import sys

import numpy

PREFIX = sys.argv[1]
ROWS = 11


def run(op, *options):
    """One checked run."""
    command = ["tenon", "run", "--op", op, "--check", "--checks", "all"]
    done = subprocess.run([*command, *options], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"FAILED: {op} {' '.join(options)}\n{done.stdout}{done.stderr}")


def case(count, spread, strides):
    """Parts, logarithms and what they merge to."""
    random = numpy.random.default_rng(count)
    lse = random.normal(0, spread, (count, ROWS)).astype(numpy.float32)
    parts = random.normal(0, 1, (count, ROWS, 512)).astype(numpy.float32)
    empties = (numpy.nan, numpy.inf, -numpy.inf)
    for row in range(ROWS - 3):
        for part in range(count):
            if (row * 7 + part * 3) % 5 < 2 or row == 2:
                lse[part, row] = empties[(row + part) % 3]
                parts[part, row] = numpy.nan
    numpy.save(f"{PREFIX}.lse.npy", lse)
    numpy.save(f"{PREFIX}.parts.npy", parts)
    files = ["--input", f"lse={PREFIX}.lse.npy"]
    outputs = ["--output", f"out={PREFIX}.out.npy"]
    outputs += ["--output", f"merged_lse={PREFIX}.merged.npy"]
    run("mla_merge", "--set", "out=f32", *files, *outputs, *strides,
        "--input", f"parts={PREFIX}.parts.npy")  # fmt: skip
    used = numpy.isfinite(lse)
    shifted = numpy.where(used, lse.astype(numpy.float64), -1e9)
    greatest = shifted.max(axis=0)
    weights = numpy.where(used, numpy.exp(shifted - greatest), 0)
    total = weights.sum(axis=0)
    values = numpy.where(used[..., None], parts, 0).astype(numpy.float64)
    merged = (weights[..., None] * values).sum(axis=0) / numpy.maximum(total, 1e-300)[:, None]
    expected = numpy.where(total > 0, greatest + numpy.log(numpy.maximum(total, 1e-300)), -numpy.inf)
    found = numpy.load(f"{PREFIX}.out.npy")
    numpy.testing.assert_allclose(found, merged, rtol=0, atol=3e-5)
    numpy.testing.assert_allclose(numpy.load(f"{PREFIX}.merged.npy"), expected, rtol=1e-5, atol=1e-5)
    added = numpy.zeros_like(found)
    for rank in range(min(count, 3)):
        numpy.save(f"{PREFIX}.part.npy", parts[rank])
        run("mla_scale", *files, "--input", f"part={PREFIX}.part.npy",
            "--arg", f"rank={rank}", "--output", f"out={PREFIX}.scaled.npy")  # fmt: skip
        added += numpy.load(f"{PREFIX}.scaled.npy")
    if count <= 3:
        numpy.testing.assert_allclose(added, merged, rtol=0, atol=3e-5)


for number, deviation, options in (
    (1, 3, ()),
    (2, 100, ("--stride", "parts=5700,516", "--stride", "lse=1,2", "--stride", "out=520")),
    (3, 8, ("--stride", "parts=512,1536", "--stride", "lse=13,1")),
    (8, 30, ("--stride", "parts=6000", "--stride", "merged_lse=3")),
    (13, 1, ()),
    (64, 5, ("--stride", "lse=2,130")),
):
    case(number, deviation, options)
