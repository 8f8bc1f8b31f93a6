# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which problems the code objects are run on."""

import os
from dataclasses import dataclass

from . import launch
from .launch import Problem


@dataclass(frozen=True)
class Case:
    """A problem for an object."""

    target: launch.GemmObject
    problem: Problem


def objects(folder, family):
    """The objects of a family in a copy of the project that made them."""
    directory = os.path.join(folder, "hsa", "gfx950", family)
    if not os.path.isdir(directory):
        raise launch.LaunchError(f"there is no folder {directory}")
    names = sorted(name for name in os.listdir(directory) if name.endswith(".co"))
    return [launch.parse_object(family, name) for name in names]


def path_of(folder, target):
    """Where the object lies in such a copy."""
    return os.path.join(folder, "hsa", "gfx950", target.family, target.name)


_F4 = "f4gemm_bf16_per1x32Fp4_"
_BF16 = "bf16gemm_"
_FP8 = "fp8gemm_bf16_blockscale_BpreShuffle_"

# Each family: small, middle and great tiles; rows that fill no tile; K of one step and
# of several; shares of K.
_SPREAD = (
    ("f4gemm", _F4 + "BpreShuffle_32x128.co", Problem(1, 128, 256)),
    ("f4gemm", _F4 + "BpreShuffle_32x128.co", Problem(37, 320, 1536)),
    ("f4gemm", _F4 + "BpreShuffle_64x640.co", Problem(64, 640, 512)),
    ("f4gemm", _F4 + "BpreShuffle_96x256.co", Problem(131, 512, 768)),
    ("f4gemm", _F4 + "BpreShuffle_128x512.co", Problem(128, 512, 1024)),
    ("f4gemm", _F4 + "BpreShuffle_256x256.co", Problem(300, 512, 1024)),
    ("f4gemm", _F4 + "BpreShuffle_256x256.co", Problem(65, 256, 2048, 4)),
    ("f4gemm", _F4 + "noBpreShuffle_256x256.co", Problem(200, 256, 512)),
    ("bf16gemm", _BF16 + "bf16_tn_256x256.co", Problem(300, 512, 576)),
    ("bf16gemm", _BF16 + "bf16_tn_256x256.co", Problem(64, 256, 512, out_type="f32")),
    ("bf16gemm", _BF16 + "fp32bf16_tn_48x64_pf3_splitk.co", Problem(50, 128, 512)),
    (
        "bf16gemm",
        _BF16 + "fp32bf16_tn_96x64_pf3_splitk.co",
        Problem(97, 128, 1024, out_type="f32"),
    ),
    ("bf16gemm", _BF16 + "fp32bf16_tn_64x64_splitk_clean.co", Problem(70, 128, 1024, 3)),
    (
        "bf16gemm",
        _BF16 + "fp32bf16_tn_32x64_splitk_clean.co",
        Problem(33, 64, 1536, 6, "f32"),
    ),
    ("fp8gemm_blockscale", _FP8 + "32x128.co", Problem(1, 256, 1536)),
    ("fp8gemm_blockscale", _FP8 + "48x128.co", Problem(50, 256, 1536, 3)),
    ("fp8gemm_blockscale", _FP8 + "96x128.co", Problem(100, 256, 1024, 8)),
    ("fp8gemm_blockscale", _FP8 + "128x128.co", Problem(257, 256, 512)),
)


def spread():
    """A few minutes' worth of cases."""
    return [
        Case(launch.parse_object(family, name), problem)
        for family, name, problem in _SPREAD
    ]


def smallest(rows, largest):
    """Of each object the row (launch.MeasuredRow) with the fewest products, rows of a
    tile counted in full, if there are at most `largest` times 10^9."""
    found = {}
    for row in rows:
        m = launch.round_up(row.problem.m, row.target.tile_m)
        products = m * row.problem.n * row.problem.k
        if products <= largest * 1e9:
            found.setdefault(row.target, []).append((products, row.problem))
    return [
        Case(target, min(choices, key=lambda choice: choice[0])[1])
        for target, choices in found.items()
    ]


def of_object(target):
    """Small problems for one object: rows that fill no tile, and one row."""
    n = 2 * target.tile_n
    ragged = target.tile_m + target.tile_m // 2 + 3
    out = "f32" if target.family == "bf16gemm" else "bf16"
    splits = [1]
    if target.waits_for_others:
        splits = [2, 3]
    elif target.splits_k:
        splits = [1, 4]
    result = [Case(target, Problem(ragged, n, 1024, split)) for split in splits]
    result.append(Case(target, Problem(1, n, 512, splits[0], out)))
    return result
