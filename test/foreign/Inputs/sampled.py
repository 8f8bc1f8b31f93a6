# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares sampled times with full ones: usage PATH_OF_TOOLS TENON."""

import os
import sys

sys.path.insert(0, sys.argv[1])

from silicon import cases, launch, timing  # noqa: E402
from silicon.launch import Problem  # noqa: E402

# Small and great tiles of each family, several rounds of workgroups each.
CASES = (
    ("f4gemm", "f4gemm_bf16_per1x32Fp4_BpreShuffle_32x128.co", Problem(1024, 8192, 512)),
    ("f4gemm", "f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256.co", Problem(4096, 16384, 512)),
    ("bf16gemm", "bf16gemm_bf16_tn_256x256.co", Problem(4096, 16384, 256)),
    (
        "fp8gemm_blockscale",
        "fp8gemm_bf16_blockscale_BpreShuffle_32x128.co",
        Problem(1024, 8192, 512),
    ),
    (
        "fp8gemm_blockscale",
        "fp8gemm_bf16_blockscale_BpreShuffle_128x128.co",
        Problem(2048, 8192, 512),
    ),
)

objects = os.environ["TENON_AITER_DIR"]
for family, name, problem in CASES:
    target = launch.parse_object(family, name)
    path, described = cases.path_of(objects, target), launch.describe(target, problem)
    full, sampled = (
        timing.model(sys.argv[2], path, described, mode, threads=0)
        for mode in ("full", "sampled")
    )
    error = sampled["cycles"] / full["cycles"] - 1
    verdict = "ok" if sampled["sampled"] and abs(error) <= 0.03 else "WRONG"
    print(
        f"{verdict} {name} full {full['cycles']} sampled {sampled['cycles']} cycles: "
        f"{100 * error:+.1f} %",
        flush=True,
    )
