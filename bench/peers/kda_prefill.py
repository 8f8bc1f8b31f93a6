#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models the Triton kernels of flash-linear-attention that compute what tenon.kda_prefill
does, beside its own kernels.

One sequence with an initial state, bounded gate, output norm: convolution, sigmoid of
beta, norms of q and k, gate, scores, inverse, w and u, states, outputs, gated norm. Of each
kernel at most --candidates choices of its autotuner are compiled for gfx950 and modelled,
the fastest counts. Splitting q, k and v, gathering and scattering states, and allocation
are not counted for them. Run it with the Python of bench/peers/setup.sh. Exit codes: 0
modelled, 1 something could not be, 2 bad usage.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import warnings

import stand_ins

warnings.filterwarnings("ignore")
stand_ins.install()

from fla.modules.causal_conv1d import ops as conv  # noqa: E402
from fla.modules.norm import fused_norm_gate, l2norm  # noqa: E402
from fla.ops.common import chunk_delta_h  # noqa: E402
from fla.ops.common import gate as common_gate  # noqa: E402
from fla.ops.gla import chunk as gla  # noqa: E402
from fla.ops.kda import chunk_intra, gate, wy_fast  # noqa: E402

import triton_kernel  # noqa: E402
from triton_kernel import Launch, Tensor  # noqa: E402

D, CHUNK, BLOCK, TAPS = 128, 64, 16, 4
RCP_LN2 = 1.4426950408889634
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SPEC = os.path.join(ROOT, "kernels_spec", "kimi_k3", "tp8", "kda_prefill.mlir")


def up(a, b):
    """a / b rounded up."""
    return -(-a // b)


def launches(tokens, heads):
    """The launches of a prefill in their order."""
    chunks, width = up(tokens, CHUNK), heads * D
    shape = {"T": tokens, "H": heads, "HV": heads, "K": D, "BT": CHUNK}
    whole = {**shape, "cu_seqlens": None, "chunk_indices": None, "scale": D**-0.5}
    rows = Tensor("bf16", tokens * width)
    sums = Tensor("fp32", tokens * width)
    beta = Tensor("fp32", tokens * heads)
    scores = Tensor("bf16", tokens * heads * CHUNK)
    diagonal = Tensor("fp32", tokens * heads * BLOCK)
    states = Tensor("bf16", chunks * heads * D * D)
    state = Tensor("fp32", heads * D * D)
    qkv = Tensor("bf16", tokens * 3 * width)
    per_chunk = {"q": rows, "k": rows, "g": sums, "beta": beta, "Aqk": scores}

    yield Launch(
        conv.causal_conv1d_fwd_kernel,
        {
            **{"x": qkv, "y": qkv, "weight": Tensor("fp32", 3 * width * TAPS)},
            **{"bias": None, "residual": None, "cu_seqlens": None, "chunk_indices": None},
            **{"initial_state": Tensor("bf16", 3 * width * TAPS), "B": 1, "T": tokens},
            **{"stride_x_n": tokens * 3 * width, "stride_x_t": 3 * width, "stride_x_d": 1},
            **{"D": 3 * width, "W": TAPS, "BT": CHUNK, "BW": TAPS, "ACTIVATION": "silu"},
        },
        lambda values: (up(3 * width, values["BD"]), chunks, 1),
    )
    yield Launch(
        common_gate.fused_beta_sigmoid_fwd_kernel,
        {
            **{"x": Tensor("bf16", tokens * heads), "y": beta, "scale": 1.0},
            **{"n_elements": tokens * heads, "BLOCK_SIZE": 2048},
        },
        lambda values: (up(tokens * heads, values["BLOCK_SIZE"]),),
        {"num_warps": 8},
    )
    for _ in "qk":
        yield Launch(
            l2norm.l2norm_fwd_kernel,
            {
                **{"x": rows, "y": rows, "rstd": beta, "eps": 1e-6, "T": tokens * heads},
                **{"D": D, "BD": D, "NB": up(tokens * heads, 65536)},
            },
            lambda values: (up(tokens * heads, values["BT"]),),
        )
    yield Launch(
        gate.kda_gate_chunk_cumsum_vector_kernel,
        {
            **{"s": rows, "A_log": Tensor("fp32", heads), "o": sums, "S": D, "H": heads},
            **{"dt_bias": Tensor("fp32", width), "cu_seqlens": None, "chunk_indices": None},
            **{"scale": RCP_LN2, "lower_bound": -5.0, "T": tokens, "BT": CHUNK},
            **{"REVERSE": False},
        },
        lambda values: (up(D, values["BS"]) * chunks, heads),
    )
    yield Launch(
        chunk_intra.chunk_kda_fwd_kernel_intra_sub_chunk,
        {
            **whole,
            **per_chunk,
            **{"Akk": diagonal, "BC": BLOCK, "BK": D, "GATE_SHIFT": 2 * RCP_LN2},
            **{"USE_GATHER": chunk_intra.IS_GATHER_SUPPORTED},
        },
        lambda _: (chunks, CHUNK // BLOCK, heads),
    )
    yield Launch(
        chunk_intra.chunk_kda_fwd_kernel_inter_solve_fused,
        {
            **whole,
            **per_chunk,
            **{"Akkd": diagonal, "Akk": scores, "BC": BLOCK, "NC": CHUNK // BLOCK},
            **{"USE_SAFE_GATE": True},
        },
        lambda _: (chunks, heads),
    )
    yield Launch(
        wy_fast.recompute_w_u_fwd_kda_kernel,
        {
            **whole,
            **{"q": None, "qg": None, "k": rows, "kg": rows, "v": rows, "beta": beta},
            **{"w": rows, "u": rows, "A": scores, "gk": sums, "V": D, "BK": 64, "BV": 64},
        },
        lambda _: (chunks, heads),
    )
    yield Launch(
        chunk_delta_h.chunk_gated_delta_rule_fwd_kernel_h_blockdim64,
        {
            **shape,
            **{"k": rows, "v": rows, "w": rows, "v_new": rows, "g": None, "gk": sums},
            **{"h": states, "h0": state, "ht": state, "cu_seqlens": None, "V": D},
            **{"chunk_offsets": None, "STATE_V_FIRST": True},
        },
        lambda values: (up(D, values["BV"]) * heads,),
    )
    yield Launch(
        gla.chunk_gla_fwd_kernel_o,
        {
            **whole,
            **{"q": rows, "v": rows, "g": sums, "h": states, "o": rows, "A": scores},
            **{"V": D, "STATE_V_FIRST": True},
        },
        lambda values: (up(D, values["BV"]) * chunks, heads),
    )
    yield Launch(
        fused_norm_gate.layer_norm_gated_fwd_kernel,
        {
            **{"x": rows, "g": rows, "y": rows, "w": Tensor("fp32", D), "b": None},
            **{"residual": None, "residual_out": None, "mean": None, "rstd": beta},
            **{"eps": 1e-5, "T": tokens * heads, "D": D, "BD": D},
            **{"NB": up(tokens * heads, 65536), "ACTIVATION": "sigmoid"},
            **{"IS_RMS_NORM": True},
        },
        lambda values: (up(tokens * heads, values["BT"]),),
    )


def times(lines):
    """Microseconds of the launches that `lines` of tenon name."""
    found = (re.match(r"time +([0-9.]+) us", line) for line in lines)
    return [float(match[1]) for match in found if match]


def limits(lines):
    """How far the limits of the chip were used, as tenon prints it."""
    return next((line[7:].strip() for line in lines if line.startswith("limits")), "")


def ours(arguments):
    """The launches of tenon.kda_prefill: (kernel, microseconds, limits)."""
    command = [arguments.tenon, "run", SPEC, "--dim", f"T={arguments.tokens}"]
    command += ["--checks", "none", "--skip-values"]
    command += ["--timing=sampled" if arguments.sampled else "--timing=full"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip())
    name, rows = "", []
    for line in result.stdout.splitlines():
        if line.startswith("launch "):
            name = line.split()[1].rstrip(":")
        for time in times([line]):
            rows.append([name, time, ""])
        if rows and line.startswith("limits"):
            rows[-1][2] = limits([line])
    return rows


def make_parser():
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--tenon", default="tenon", help="the program tenon")
    add("--tokens", type=int, default=4096, help="of the sequence (default: 4096)")
    add("--heads", type=int, default=12, help="of the peers; ours are those of the spec, 12")
    add("--candidates", type=int, default=4, choices=(1, 2, 3, 4), help="per kernel")
    add("--sampled", action="store_true", help="simulate a part of the workgroups")
    add("--keep", metavar="FOLDER", help="where code objects are to stay")
    return parser


def main():
    """Entry point."""
    arguments = make_parser().parse_args()
    folder = arguments.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    failures, sums = 0, {"flash-linear-attention": 0.0, "Tenon": 0.0}
    print("| kernel | us | choice | limits |\n|---|---|---|---|", flush=True)
    for launch in launches(arguments.tokens, arguments.heads):
        best = None
        for candidate in triton_kernel.candidates(launch, arguments.candidates, folder):
            try:
                lines = triton_kernel.modelled(arguments.tenon, candidate, arguments.sampled)
            except RuntimeError as error:
                print(f"kda_prefill.py: {error}", file=sys.stderr)
                continue
            time = times(lines)[0]
            if best is None or time < best[0]:
                best = (time, candidate, limits(lines))
        if best is None:
            failures += 1
            continue
        time, candidate, used = best
        sums["flash-linear-attention"] += time
        print(f"| {candidate.name} | {time:.2f} | {candidate.text} | {used} |", flush=True)
    for name, time, used in ours(arguments):
        sums["Tenon"] += time
        print(f"| {name} | {time:.2f} | | {used} |", flush=True)
    for name, total in sums.items():
        print(f"| {name}, all launches | {total:.2f} | | |")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
