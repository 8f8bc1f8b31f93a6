# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the KDA decode kernel of Kimi K3 at tensor parallelism 8 is launched as a server
launches it: compiled here, so that its times can be held against those of a kernel that
moves the same bytes.

Per row and head it reads and writes 64 KiB of state, and per row 27 KiB of convolution
state, the projections and gates; the weights are those of all rows.
"""

import os
import subprocess

import numpy as np

from .simulate import SimulationError

HEADS, DIM = 12, 128
CHANNELS = 3 * HEADS * DIM
# q, k, v, the output gate, beta and the input of the decay gate are columns of one
# product, whose rows are padded.
PROJECTED_BYTES = 2 * 6288
BLOCK = (256, 1, 1)

SPEC = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    *("kernels_spec", "kimi_k3", "tp8", "kda_decode.mlir"),
)


def compile_kernel(tenon, path):
    """Writes the code object to `path`."""
    command = [tenon, "compile", SPEC, "--target", "gfx950", "-o", path]
    process = subprocess.run(command, capture_output=True, text=True)
    if process.returncode != 0:
        raise SimulationError(process.stderr.strip())


def arguments(rows, folder):
    """The --arg texts for `tenon sim`, in the order of the kernel's operands and
    strides. The rows have slots of their own, in no order; all data are zeros, which
    no time depends on."""
    head_bytes = DIM * DIM * 4
    conv_bytes = 3 * CHANNELS * 2
    dense_bytes = HEADS * DIM * 2
    slots = 1 + np.random.default_rng(1).permutation(rows).astype(np.int32)
    file = os.path.join(folder, "slots.npy")
    np.save(file, slots)
    buffers = [
        rows * PROJECTED_BYTES,  # qkv
        rows * dense_bytes,  # raw_g
        rows * PROJECTED_BYTES,  # raw_beta
        rows * PROJECTED_BYTES,  # out_gate
        CHANNELS * 4 * 4,  # conv_weight
        HEADS * 4,  # a_log
        HEADS * DIM * 4,  # dt_bias
        DIM * 4,  # norm_weight
        (rows + 1) * conv_bytes,  # slot 0 is the null slot
        (rows + 1) * HEADS * head_bytes,
    ]
    strides = [
        f"i32:{PROJECTED_BYTES}",
        f"i32:{dense_bytes}",
        f"i32:{PROJECTED_BYTES}",
        f"i32:{PROJECTED_BYTES}",
        f"i64:{conv_bytes}",
        f"i64:{HEADS * head_bytes}",
        "i32:4",
        f"i32:{dense_bytes}",
    ]
    texts = [f"buf:{size}" for size in buffers]
    return texts + [f"npy:{file}", f"buf:{rows * dense_bytes}"] + strides


def grid(rows):
    """Workgroups: one per head and row."""
    return (HEADS, rows, 1)
