# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published times of kernels that no GEMM resembles, and what the model says of them.

kda_decode  one launch of a fused KDA decode step, end to end, at 1 to 128 rows of 12
            heads (vLLM pull request 50654). The kernel there is another one than ours
            with the same traffic, grid, and order of loads.
mla_decode  attention over a latent cache, 32 heads of 4 tokens, E4M3, one request
            (AITER pull request 3003). The published times are sums of kernel durations
            as a profiler reports them (op_tests/test_mla_persistent.py of that time),
            over data that no cache holds, and hold the first stage and the merge of its
            shares. The merge is no code object, so that only differences between
            contexts are comparable: there are 31 or 32 shares at each, and the merge
            and the launches cost the same.
"""

import os
import tempfile
from dataclasses import dataclass
from typing import Callable

from . import kda, mla, timing

# The test plans for at most so many shares of a request.
SHARES = 32
# Rows of its cache, of which the context is a random choice: nothing is reused.
POOL = 1 << 21


@dataclass(frozen=True)
class Prepared:
    """A launch whose arguments are texts already."""

    grid: tuple
    block: tuple
    texts: list

    def sim_arguments(self):
        """The --arg texts for `tenon sim`."""
        return self.texts


@dataclass(frozen=True)
class Point:
    """A measured time in microseconds and the one that the model has for it.
    `model(tenon, objects, options)` takes the program, a copy of ROCm/aiter and further
    options of `tenon sim`, and returns microseconds."""

    family: str
    name: str
    measured: float
    model: Callable
    needs_objects: bool


def kda_timing(tenon, rows, options=()):
    """The timing object of one decode step."""
    with tempfile.TemporaryDirectory(prefix="tenon-kda-") as folder:
        path = os.path.join(folder, "kda_decode.co")
        kda.compile_kernel(tenon, path)
        launch = Prepared(kda.grid(rows), kda.BLOCK, kda.arguments(rows, folder))
        return timing.model(tenon, path, launch, "full", options=options)


def mla_timing(tenon, objects, context, options=(), shares=SHARES):
    """The timing object of the first stage of one request."""
    with tempfile.TemporaryDirectory(prefix="tenon-mla-") as folder:
        decode = mla.Decode(context, shares, POOL)
        texts = mla.arguments(decode, folder)
        launch = Prepared((mla.WORKGROUPS, 1, 1), mla.BLOCK, texts)
        path = mla.path_of(objects)
        return timing.model(tenon, path, launch, "full", options=options)


KDA_DECODE = {1: 5.76, 8: 6.15, 32: 12.15, 64: 19.99, 128: 37.72}
# First stage and merge.
MLA_DECODE = {8192: 33.0, 32768: 57.1, 70000: 95.4}


def _kda_point(rows, measured):
    def model(tenon, objects, options=()):
        return kda_timing(tenon, rows, options)["us_end_to_end"]

    return Point("kda_decode", f"{rows} rows", measured, model, False)


def _mla_point(contexts, measured):
    def model(tenon, objects, options=()):
        less, more = (
            mla_timing(tenon, objects, context, options)["us"] for context in contexts
        )
        return more - less

    name = f"{contexts[0]} to {contexts[1]} tokens"
    return Point("mla_decode", name, measured, model, True)


def points():
    """All of them."""
    found = [_kda_point(rows, measured) for rows, measured in KDA_DECODE.items()]
    contexts = list(MLA_DECODE)
    for less, more in zip(contexts, contexts[1:]):
        found.append(_mla_point((less, more), MLA_DECODE[more] - MLA_DECODE[less]))
    return found
