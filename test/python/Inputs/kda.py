# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decode step of Kimi Delta Attention in double precision, by its formula, and
data for it."""

import numpy as np


def to_bf16(values):
    """The bits of bf16, rounded to nearest even."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def operands(requests, heads, slots=None, seed=1):
    """Operands of a call with every slot of one request, slot 0 unused."""
    random = np.random.default_rng(seed)
    size, slots = 128, slots or requests + 1
    channels = 3 * heads * size

    def normal(*shape):
        return random.standard_normal(shape).astype(np.float32)

    return {
        "qkv": to_bf16(normal(requests, channels)),
        "raw_g": to_bf16(normal(requests, heads * size)),
        "raw_beta": to_bf16(normal(requests, heads)),
        "out_gate": to_bf16(normal(requests, heads * size)),
        "conv_weight": 0.5 * normal(channels, 4),
        "a_log": 0.3 * normal(heads),
        "dt_bias": 0.3 * normal(heads * size),
        "norm_weight": 1 + 0.1 * normal(size),
        "conv_state": to_bf16(normal(slots, 3, channels)),
        "state": 0.3 * normal(slots, heads, size, size),
        "slot": 1 + random.permutation(slots - 1)[:requests].astype(np.int32),
        "out": np.full((requests, heads * size), 0x7FC0, np.uint16),
    }


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def expected(given, heads, lower_bound=-5.0, qk_eps=1e-6, norm_eps=1e-5):
    """out, state and conv_state after the step, from operands() before it."""
    size = 128
    wide = {
        name: (from_bf16(value) if value.dtype == np.uint16 else value).astype(float)
        for name, value in given.items()
    }
    state, window = wide["state"].copy(), given["conv_state"].copy()
    out = np.zeros_like(wide["out"])
    for row, slot in enumerate(given["slot"]):
        if slot <= 0:
            continue
        inputs = np.vstack([wide["conv_state"][slot, :3], wide["qkv"][row]])
        mixed = np.einsum("cw,wc->c", wide["conv_weight"], inputs)
        mixed *= sigmoid(mixed)
        window[slot, :2] = given["conv_state"][slot, 1:3]
        window[slot, 2] = given["qkv"][row]
        q, k, v = mixed.reshape(3, heads, size)
        q = q / np.sqrt((q**2).sum(-1, keepdims=True) + qk_eps) / np.sqrt(size)
        k = k / np.sqrt((k**2).sum(-1, keepdims=True) + qk_eps)
        rate = np.exp(wide["a_log"])[:, None]
        raw = (wide["raw_g"][row] + wide["dt_bias"]).reshape(heads, size)
        decay = np.exp(lower_bound * sigmoid(rate * raw))
        beta = sigmoid(wide["raw_beta"][row])[:, None]
        memory = state[slot] * decay[:, None, :]
        update = beta * (v - np.einsum("hvk,hk->hv", memory, k))
        memory += update[:, :, None] * k[:, None, :]
        state[slot] = memory
        o = np.einsum("hvk,hk->hv", memory, q)
        o = o / np.sqrt((o**2).mean(-1, keepdims=True) + norm_eps)
        o = o * wide["norm_weight"]
        out[row] = o.reshape(-1) * sigmoid(wide["out_gate"][row])
    return out, state, window


def relative_error(found, reference):
    """The relative L2 error."""
    return np.linalg.norm(found - reference) / np.linalg.norm(reference)
