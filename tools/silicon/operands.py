# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of the operands of a GEMM, and what it has to compute from them."""

from dataclasses import dataclass

import numpy as np

from . import formats, launch, layouts


@dataclass(frozen=True)
class Operands:
    """buffers: the arrays that the kernel gets, by argument, among them the output with
    what it holds before the launch. a, b: the values [M,K] and [N,K] in double
    precision, scales included."""

    buffers: dict
    a: np.ndarray
    b: np.ndarray

    def expected(self):
        """D in double precision."""
        return self.a @ self.b.T


# What untouched output holds: a NaN that no arithmetic produces.
UNTOUCHED_BF16 = 0xFFF5
UNTOUCHED_F32 = 0xFFF5FFF5


def _output(rows, columns, out_type, zeroed):
    if out_type == "bf16":
        return np.full((rows, columns), 0 if zeroed else UNTOUCHED_BF16, np.uint16)
    code = 0 if zeroed else UNTOUCHED_F32
    return np.full((rows, columns), code, np.uint32).view(np.float32)


def _f4gemm(target, problem, zeroed, random):
    m, n, k = problem.m, problem.n, problem.k
    values, buffers = [], {}
    for name, rows in (("A", m), ("B", n)):
        codes = random.integers(0, 16, (rows, k), np.uint8)
        # A scale of its own for every block, over six binades.
        scales = random.integers(124, 131, (rows, k // 32), np.uint8)
        values.append(
            formats.decode_e2m1(codes)
            * np.repeat(formats.decode_e8m0(scales), 32, axis=1)
        )
        buffers[name] = formats.pack_e2m1(codes)
        buffers["Scale" + name] = layouts.shuffle_e8m0(
            scales, launch.f4gemm_scale_rows(rows), launch.f4gemm_scale_columns(k)
        )
    if target.shuffled_b:
        buffers["B"] = layouts.shuffle_rows(buffers["B"])
    rows = launch.f4gemm_output_rows(target, m)
    buffers["D"] = _output(rows, n, "bf16", zeroed)
    return Operands(buffers, *values)


def _bf16gemm(target, problem, zeroed, random):
    m, n, k = problem.m, problem.n, problem.k
    a, b = (
        formats.encode_bf16(random.standard_normal((rows, k))) for rows in (m, n)
    )
    buffers = {"A": a, "B": layouts.shuffle_rows(b) if target.shuffled_b else b}
    buffers["D"] = _output(m, n, problem.out_type, zeroed)
    if problem.split_k > 1:
        buffers["ptr_semaphore"] = np.zeros(launch.SEMAPHORES, np.int32)
    return Operands(buffers, formats.decode_bf16(a), formats.decode_bf16(b))


def _e4m3_codes(random, shape):
    """All finite codes are drawn, so values lie between 2^-9 and 448."""
    codes = random.integers(0, 127, shape, np.uint8)
    return codes | random.integers(0, 2, shape, np.uint8) << 7


def _fp8gemm(target, problem, zeroed, random):
    m, n, k = problem.m, problem.n, problem.k
    a, b = _e4m3_codes(random, (m, k)), _e4m3_codes(random, (n, k))
    scale_a = random.uniform(0.25, 2, (m, k // 128)).astype(np.float32)
    scale_b = random.uniform(0.25, 2, (n // 128, k // 128)).astype(np.float32)
    a_values = formats.decode_e4m3(a) * np.repeat(scale_a, 128, axis=1)
    b_values = formats.decode_e4m3(b) * np.repeat(
        np.repeat(scale_b, 128, axis=0), 128, axis=1
    )
    buffers = {
        "A": a,
        "B": layouts.shuffle_rows(b) if target.shuffled_b else b,
        # Columns of A's scales are contiguous, rows of B's are.
        "SA": np.ascontiguousarray(scale_a.T),
        "SB": scale_b,
        "BIAS": np.zeros(n, np.float32),
        "C": _output(m, n, "bf16", zeroed),
    }
    return Operands(buffers, a_values, b_values)


_GENERATE = {"f4gemm": _f4gemm, "bf16gemm": _bf16gemm, "fp8gemm_blockscale": _fp8gemm}


def generate(target, problem, seed):
    """Operands of one problem from a seed."""
    described = launch.describe(target, problem)
    zeroed = described.arguments[described.output].zeroed
    random = np.random.default_rng(seed)
    return _GENERATE[target.family](target, problem, zeroed, random)
