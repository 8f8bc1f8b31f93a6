# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the code objects of three GEMM families are launched.

All compute D[M,N] = A[M,K] * B[N,K]^T with 256 work-items per workgroup:

f4gemm              A and B in E2M1 with an E8M0 scale per 32 along K; D in bf16
bf16gemm            A and B in bf16; D in bf16 or float32
fp8gemm_blockscale  A and B in E4M3; float32 scales per 1x128 of A, per 128x128 of B;
                    D in bf16

An object's file name says its tile and the order in which it expects B. A launch
consists of sizes and addresses only, so that it can be timed without values.
Needs nothing beyond Python.
"""

import csv
import re
from dataclasses import dataclass

FAMILIES = ("f4gemm", "bf16gemm", "fp8gemm_blockscale")
BLOCK = (256, 1, 1)


class LaunchError(ValueError):
    """The object cannot compute the problem, or is none of the three families."""


@dataclass(frozen=True)
class GemmObject:
    """What the file name of a code object says.

    shuffled_b: B is expected in blocks of 16 rows (layouts.shuffle_rows).
    splits_k: the object can share K out among several workgroups.
    waits_for_others: workgroups of one output tile wait for each other in memory, so
    they make progress only while all of them are resident.
    """

    family: str
    name: str
    tile_m: int
    tile_n: int
    shuffled_b: bool
    splits_k: bool
    waits_for_others: bool


@dataclass(frozen=True)
class Problem:
    """One GEMM. split_k: workgroups that share K of one output tile, 1 for none."""

    m: int
    n: int
    k: int
    split_k: int = 1
    out_type: str = "bf16"


@dataclass(frozen=True)
class Scalar:
    """An argument by value; kind is 'i32' or 'f32'."""

    kind: str
    value: float


@dataclass(frozen=True)
class Buffer:
    """An argument by address. zeroed: the kernel relies on zeros at its start."""

    bytes: int
    zeroed: bool = False


@dataclass(frozen=True)
class Launch:
    """Grid in workgroups, and the explicit arguments by their name in the object's
    metadata. Null pointers and arguments that are not read are left out: what is not
    given is zero."""

    grid: tuple
    block: tuple
    arguments: dict
    output: str

    def sim_arguments(self, sources=None):
        """The --arg texts for `tenon sim`. `sources` maps the names of buffers to
        texts such as 'npy:FILE'; the other buffers are 'buf:BYTES' of zeros."""
        texts = []
        sources = sources or {}
        for name, argument in self.arguments.items():
            if name in sources:
                text = sources[name]
            elif isinstance(argument, Buffer):
                text = f"buf:{argument.bytes}"
            else:
                text = f"{argument.kind}:{argument.value}"
            texts.append(f"{name}={text}")
        return texts


def round_up(value, multiple):
    """The least multiple of `multiple` that is not below `value`."""
    return -(-value // multiple) * multiple


def blocks(value, size):
    """How many blocks of `size` cover `value`."""
    return -(-value // size)


# f4gemm tiles whose code adds partial sums; the others ignore log2_k_split.
_F4_SPLIT_TILES = {(256, 256), (128, 512)}


def parse_object(family, name):
    """The GemmObject of a code object's file name."""
    if family not in FAMILIES:
        raise LaunchError(f"family '{family}': expected one of {', '.join(FAMILIES)}")
    match = re.search(r"_(\d+)x(\d+)(_|\.co$)", name)
    if not match:
        raise LaunchError(f"{name}: no tile such as _64x128 in the name")
    tile = (int(match[1]), int(match[2]))
    shuffled = re.search(r"_(B|b|Bp|bp)(re)?[sS]huffle", name) is not None
    if family == "f4gemm":
        splits = shuffled and tile in _F4_SPLIT_TILES
    elif family == "bf16gemm":
        splits = name.endswith("_splitk_clean.co")
    else:
        splits = True
    waits = family == "bf16gemm" and splits
    return GemmObject(family, name, *tile, shuffled, splits, waits)


def f4gemm_scale_columns(k):
    """Columns of a shuffled scale array: one per 32 along K, in groups of 8."""
    return round_up(k // 32, 8)


def f4gemm_scale_rows(rows):
    """Rows of a shuffled scale array. The kernels read groups of 32; the preparation
    pads to 256, and what it adds is not initialised."""
    return round_up(rows, 256)


def f4gemm_output_rows(target, m):
    """Rows of D that the caller provides. Objects with shuffled B store groups of 32
    rows within range, the others all rows of a tile."""
    return round_up(m, 32 if target.shuffled_b else target.tile_m)


def _f4gemm(target, problem):
    m, n, k = problem.m, problem.n, problem.k
    if problem.out_type != "bf16":
        raise LaunchError(f"{target.name}: writes bf16, not {problem.out_type}")
    if k % 256:
        raise LaunchError(f"{target.name}: K is read in steps of 256, found {k}")
    if n % 32:
        raise LaunchError(f"{target.name}: N must be a multiple of 32, found {n}")
    log2 = problem.split_k.bit_length() - 1
    if problem.split_k != 1 << log2 or k % problem.split_k:
        raise LaunchError(
            f"{target.name}: split_k must be a power of two that divides K = {k}, "
            f"found {problem.split_k}"
        )
    # Each share of K is a whole number of steps, so there can be fewer shares than
    # asked for.
    share = round_up(k // problem.split_k, 256)
    columns = f4gemm_scale_columns(k)
    arguments = {
        "D": Buffer(
            f4gemm_output_rows(target, m) * n * 2, zeroed=problem.split_k > 1
        ),
        "A": Buffer(m * k // 2),
        "B": Buffer(n * k // 2),
        "alpha": Scalar("f32", 1.0),
        "beta": Scalar("f32", 0.0),
        # Strides count elements, that of D under the name of C.
        "strideC0": Scalar("i32", n),
        "strideA0": Scalar("i32", k),
        "strideB0": Scalar("i32", k),
        "Mdim": Scalar("i32", m),
        "Ndim": Scalar("i32", n),
        "Kdim": Scalar("i32", k),
        "ScaleA": Buffer(f4gemm_scale_rows(m) * columns),
        "ScaleB": Buffer(f4gemm_scale_rows(n) * columns),
        "strideScaleA0": Scalar("i32", columns),
        "strideScaleB0": Scalar("i32", columns),
    }
    if target.splits_k:
        arguments["log2_k_split"] = Scalar("i32", log2)
    grid = (blocks(n, target.tile_n), blocks(m, target.tile_m), blocks(k, share))
    return Launch(grid, BLOCK, arguments, "D")


# One counter per output tile, zero before and after a launch.
SEMAPHORES = 1024


def _bf16gemm(target, problem):
    m, n, k, split = problem.m, problem.n, problem.k, problem.split_k
    if problem.out_type not in ("bf16", "f32"):
        raise LaunchError(f"{target.name}: writes bf16 or f32, not {problem.out_type}")
    if n % target.tile_n or k % 64:
        raise LaunchError(
            f"{target.name}: N must be a multiple of {target.tile_n} and K of 64, "
            f"found {n} and {k}"
        )
    if split > min(16, k // 64):
        raise LaunchError(
            f"{target.name}: split_k is at most 16 and K/64 = {k // 64}, found {split}"
        )
    if (split > 1) != target.splits_k:
        raise LaunchError(
            f"{target.name}: split_k must be {'2 or more' if target.splits_k else '1'}, "
            f"found {split}"
        )
    out_bytes = 2 if problem.out_type == "bf16" else 4
    grid = (n // target.tile_n, blocks(m, target.tile_m), split)
    arguments = {
        "D": Buffer(m * n * out_bytes),
        "A": Buffer(m * k * 2),
        "B": Buffer(n * k * 2),
        "alpha": Scalar("f32", 1.0),
        "beta": Scalar("f32", 0.0),
        # Strides count bytes.
        "strideD0": Scalar("i32", n * out_bytes),
        "strideC0": Scalar("i32", n * out_bytes),
        "strideA0": Scalar("i32", k * 2),
        "strideB0": Scalar("i32", k * 2),
        "Mdim": Scalar("i32", m),
        "Ndim": Scalar("i32", n),
        "Kdim": Scalar("i32", k),
        "splitk": Scalar("i32", split),
        "is_out_b16": Scalar("i32", int(problem.out_type == "bf16")),
        "add_bias": Scalar("i32", 0),
    }
    if split > 1:
        if grid[0] * grid[1] > SEMAPHORES:
            raise LaunchError(
                f"{target.name}: {grid[0] * grid[1]} output tiles, at most {SEMAPHORES}"
            )
        arguments["ptr_semaphore"] = Buffer(SEMAPHORES * 4, zeroed=True)
    return Launch(grid, BLOCK, arguments, "D")


def _fp8gemm(target, problem):
    m, n, k, split = problem.m, problem.n, problem.k, problem.split_k
    if problem.out_type != "bf16":
        raise LaunchError(f"{target.name}: writes bf16, not {problem.out_type}")
    if n % 128 or k % 128:
        raise LaunchError(
            f"{target.name}: N and K must be multiples of 128, found {n} and {k}"
        )
    share = round_up(blocks(k, split), 128)
    if blocks(k, share) != split:
        raise LaunchError(
            f"{target.name}: {split} shares of whole blocks of 128 do not fit K = {k}"
        )
    arguments = {
        # The shares of K are added with atomics.
        "C": Buffer(m * n * 2, zeroed=split > 1),
        "A": Buffer(m * k),
        "B": Buffer(n * k),
        "SA": Buffer(m * (k // 128) * 4),
        "SB": Buffer((n // 128) * (k // 128) * 4),
        # Always read: a row of zeros stands for no bias.
        "BIAS": Buffer(n * 4, zeroed=True),
        "M": Scalar("i32", m),
        "Ndim": Scalar("i32", n),
        "K": Scalar("i32", k),
        "PA": Scalar("i32", k),  # strides of rows, in bytes
        "PB": Scalar("i32", k),
        "PC": Scalar("i32", n * 2),
        "KS": Scalar("i32", split),
        "scale_m": Scalar("i32", m),
        "scale_n": Scalar("i32", n // 128),
        "scale_k": Scalar("i32", k // 128),
    }
    # The shares of K lie along x, beside the tiles of N.
    grid = (n // target.tile_n * split, blocks(m, target.tile_m), 1)
    return Launch(grid, BLOCK, arguments, "C")


_DESCRIBE = {"f4gemm": _f4gemm, "bf16gemm": _bf16gemm, "fp8gemm_blockscale": _fp8gemm}


def describe(target, problem):
    """The Launch with which `target` (a GemmObject) computes `problem`."""
    for name in ("m", "n", "k", "split_k"):
        if getattr(problem, name) < 1:
            raise LaunchError(f"{name} must be positive: {problem}")
    if problem.split_k > 1 and not target.splits_k:
        raise LaunchError(f"{target.name}: cannot share K out (split_k > 1)")
    return _DESCRIBE[target.family](target, problem)


@dataclass(frozen=True)
class MeasuredRow:
    """A row of a table of times measured on the chip, in microseconds."""

    target: GemmObject
    problem: Problem
    microseconds: float


def read_rows(path):
    """The rows of a silicon_times.csv. Its split_k is a logarithm for f4gemm."""
    result = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["bias"] == "True":
                raise LaunchError(f"{path}: a row with bias: {row}")
            split = int(row["split_k"])
            if row["family"] == "f4gemm":
                split = 1 << split
            out = "f32" if row["out_dtype"] == "torch.float32" else "bf16"
            sizes = (int(row["M"]), int(row["N"]), int(row["K"]))
            result.append(
                MeasuredRow(
                    parse_object(row["family"], row["code_object"]),
                    Problem(*sizes, split, out),
                    float(row["us"]),
                )
            )
    return result
