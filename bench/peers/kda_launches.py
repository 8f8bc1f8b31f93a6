# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The launches of a prefill by flash-linear-attention's chunked KDA.

One sequence with an initial state, bounded gate, output norm: convolution, sigmoid of
beta, norms of q and k, gate, scores, inverse, w and u, states, outputs, gated norm. To be
imported behind `stand_ins.install()`.
"""

from fla.modules.causal_conv1d import ops as conv
from fla.modules.norm import fused_norm_gate, l2norm
from fla.ops.common import chunk_delta_h
from fla.ops.common import gate as common_gate
from fla.ops.gla import chunk as gla
from fla.ops.kda import chunk_intra, gate, wy_fast

from triton_kernel import Launch, Tensor

D, CHUNK, BLOCK, TAPS = 128, 64, 16, 4
RCP_LN2 = 1.4426950408889634
LOWER_BOUND, QK_EPS, NORM_EPS = -5.0, 1e-6, 1e-5


def up(a, b):
    """a / b rounded up."""
    return -(-a // b)


def launches(tokens, heads):
    """The launches of a prefill in their order. Between the convolution, which writes
    `mixed`, and the norms its columns are split into q, k and v."""
    chunks, width = up(tokens, CHUNK), heads * D
    shape = {"T": tokens, "H": heads, "HV": heads, "K": D, "BT": CHUNK}
    whole = {**shape, "cu_seqlens": None, "chunk_indices": None, "scale": D**-0.5}

    def rows(name):
        return Tensor("bf16", tokens * width, name)

    q, k, v = (rows(name) for name in "qkv")
    unit_q, unit_k = rows("unit_q"), rows("unit_k")
    kg, w, u, v_new, o = (rows(name) for name in ("kg", "w", "u", "v_new", "o"))
    sums = Tensor("fp32", tokens * width, "sums")
    beta = Tensor("fp32", tokens * heads, "beta")
    aqk = Tensor("bf16", tokens * heads * CHUNK, "aqk")
    akk = Tensor("bf16", tokens * heads * CHUNK, "akk")
    diagonal = Tensor("fp32", tokens * heads * BLOCK, "diagonal")
    states = Tensor("bf16", chunks * heads * D * D, "states")
    per_chunk = {"q": unit_q, "k": unit_k, "g": sums, "beta": beta, "Aqk": aqk}

    yield Launch(
        conv.causal_conv1d_fwd_kernel,
        {
            "x": Tensor("bf16", tokens * 3 * width, "qkv"),
            "y": Tensor("bf16", tokens * 3 * width, "mixed"),
            "weight": Tensor("fp32", 3 * width * TAPS, "conv_weight"),
            **{"bias": None, "residual": None, "cu_seqlens": None, "chunk_indices": None},
            "initial_state": Tensor("bf16", 3 * width * TAPS, "history"),
            **{"B": 1, "T": tokens, "D": 3 * width, "W": TAPS, "BT": CHUNK, "BW": TAPS},
            **{"stride_x_n": tokens * 3 * width, "stride_x_t": 3 * width, "stride_x_d": 1},
            "ACTIVATION": "silu",
        },
        lambda values: (up(3 * width, values["BD"]), chunks, 1),
    )
    yield Launch(
        common_gate.fused_beta_sigmoid_fwd_kernel,
        {
            **{"x": Tensor("bf16", tokens * heads, "raw_beta"), "y": beta, "scale": 1.0},
            **{"n_elements": tokens * heads, "BLOCK_SIZE": 2048},
        },
        lambda values: (up(tokens * heads, values["BLOCK_SIZE"]),),
        {"num_warps": 8},
    )
    for source, target in ((q, unit_q), (k, unit_k)):
        rstd = Tensor("fp32", tokens * heads, "rstd")
        yield Launch(
            l2norm.l2norm_fwd_kernel,
            {
                **{"x": source, "y": target, "rstd": rstd, "eps": QK_EPS},
                **{"T": tokens * heads, "D": D, "BD": D, "NB": up(tokens * heads, 65536)},
            },
            lambda values: (up(tokens * heads, values["BT"]),),
        )
    yield Launch(
        gate.kda_gate_chunk_cumsum_vector_kernel,
        {
            **{"s": rows("raw_g"), "A_log": Tensor("fp32", heads, "a_log"), "o": sums},
            **{"dt_bias": Tensor("fp32", width, "dt_bias"), "S": D, "H": heads},
            **{"cu_seqlens": None, "chunk_indices": None, "scale": RCP_LN2},
            **{"lower_bound": LOWER_BOUND, "T": tokens, "BT": CHUNK, "REVERSE": False},
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
            **{"Akkd": diagonal, "Akk": akk, "BC": BLOCK, "NC": CHUNK // BLOCK},
            **{"USE_SAFE_GATE": True},
        },
        lambda _: (chunks, heads),
    )
    yield Launch(
        wy_fast.recompute_w_u_fwd_kda_kernel,
        {
            **whole,
            **{"q": None, "qg": None, "k": unit_k, "kg": kg, "v": v, "beta": beta},
            **{"w": w, "u": u, "A": akk, "gk": sums, "V": D, "BK": 64, "BV": 64},
        },
        lambda _: (chunks, heads),
    )
    yield Launch(
        chunk_delta_h.chunk_gated_delta_rule_fwd_kernel_h_blockdim64,
        {
            **shape,
            **{"k": kg, "v": u, "w": w, "v_new": v_new, "g": None, "gk": sums, "h": states},
            **{"h0": Tensor("fp32", heads * D * D, "state")},
            **{"ht": Tensor("fp32", heads * D * D, "final_state")},
            **{"cu_seqlens": None, "V": D, "chunk_offsets": None, "STATE_V_FIRST": True},
        },
        lambda values: (up(D, values["BV"]) * heads,),
    )
    yield Launch(
        gla.chunk_gla_fwd_kernel_o,
        {
            **whole,
            **{"q": unit_q, "v": v_new, "g": sums, "h": states, "o": o, "A": aqk},
            **{"V": D, "STATE_V_FIRST": True},
        },
        lambda values: (up(D, values["BV"]) * chunks, heads),
    )
    yield Launch(
        fused_norm_gate.layer_norm_gated_fwd_kernel,
        {
            **{"x": o, "g": rows("out_gate"), "y": rows("out"), "b": None},
            **{"w": Tensor("fp32", D, "norm_weight"), "residual": None},
            **{"residual_out": None, "mean": None},
            **{"rstd": Tensor("fp32", tokens * heads, "rstd"), "eps": NORM_EPS},
            **{"T": tokens * heads, "D": D, "BD": D, "NB": up(tokens * heads, 65536)},
            **{"ACTIVATION": "sigmoid", "IS_RMS_NORM": True},
        },
        lambda values: (up(tokens * heads, values["BT"]),),
    )
