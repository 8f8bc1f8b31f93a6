# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A sequence of 100 tokens at once, and again as 99 tokens and a decode step of the last
one, which has to give the same."""

import numpy as np
import tenon

HEADS, SIZE, TOKENS, SLOTS = 2, 128, 100, 3
random = np.random.default_rng(1)


def bf16(*shape):
    """Random numbers as the bits of bf16, which NumPy does not have."""
    bits = random.uniform(-1, 1, shape).astype(np.float32).view(np.uint32)
    return (bits >> 16).astype(np.uint16)


def f32(*shape):
    return random.uniform(-1, 1, shape).astype(np.float32)


def numbers(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


runtime = tenon.Runtime(jit="forbid")
runtime.load("kda.tenon")
device = tenon.Device(runtime, "sim")
prefill = tenon.Kernel(device, "kda_prefill", {"H": HEADS})
decode = tenon.Kernel(device, "kda_decode", {"H": HEADS})

tokens = {
    "qkv": bf16(TOKENS, 3 * HEADS * SIZE),
    "raw_g": bf16(TOKENS, HEADS, SIZE),
    "raw_beta": bf16(TOKENS, HEADS),
    "out_gate": bf16(TOKENS, HEADS, SIZE),
    "out": np.zeros((TOKENS, HEADS, SIZE), np.uint16),
}
model = {
    "conv_weight": f32(3 * HEADS * SIZE, 4),
    "a_log": f32(HEADS),
    "dt_bias": f32(HEADS * SIZE),
    "norm_weight": f32(SIZE),
    "conv_state": np.zeros((SLOTS, 3, 3 * HEADS * SIZE), np.uint16),
    "state": np.zeros((SLOTS, HEADS, SIZE, SIZE), np.float32),
}


def rows(first, end):
    return {name: array[first:end] for name, array in tokens.items()}


def run_prefill(count, slot):
    """The first tokens as one sequence, whose state goes to the slot."""
    call = rows(0, count) | model
    call["cu_seqlens"] = np.array([0, count], np.int32)
    call["slot"] = np.array([slot], np.int32)
    size, _ = prefill.workspace(call, {"max_seq_len": count})
    memory = tenon.Memory(device, size)
    tenon.ops.kda_prefill(prefill, **call, max_seq_len=count, workspace=memory)


run_prefill(TOKENS, slot=1)
expected = numbers(tokens["out"][-1])
run_prefill(TOKENS - 1, slot=2)
slot = np.array([2], np.int32)
tenon.ops.kda_decode(decode, **rows(TOKENS - 1, TOKENS), **model, slot=slot)

difference = np.abs(numbers(tokens["out"][-1]) - expected).max()
# What prefill rounds to bf16 differs by parts of 2^-8.
agree = difference <= 0.016 * np.abs(expected).max()
print("the decode step", "agrees" if agree else "disagrees", "with prefill")
