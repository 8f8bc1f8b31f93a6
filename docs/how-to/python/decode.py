# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A decode step of KDA for four requests, with NumPy on the simulator."""

import numpy as np
import tenon

HEADS, SIZE, REQUESTS, SLOTS = 2, 128, 4, 8
random = np.random.default_rng(1)


def bf16(*shape):
    """Random numbers as the bits of bf16, which NumPy does not have."""
    bits = random.standard_normal(shape).astype(np.float32).view(np.uint32)
    return (bits >> 16).astype(np.uint16)


def f32(*shape):
    return random.standard_normal(shape).astype(np.float32)


runtime = tenon.Runtime(jit="forbid")
runtime.load("kda.tenon")
device = tenon.Device(runtime, "sim")
print("loaded", device.preload(), "kernel for", device.target)

kernel = tenon.Kernel(device, "kda_decode", {"H": HEADS})
for operand in kernel.operands:
    print(f"  {operand['name']:<12} {operand['type']:<5} {operand['shape']}")

state = f32(SLOTS, HEADS, SIZE, SIZE)
before = state.copy()
out = np.zeros((REQUESTS, HEADS, SIZE), np.uint16)
operands = {
    "qkv": bf16(REQUESTS, 3 * HEADS * SIZE),
    "raw_g": bf16(REQUESTS, HEADS, SIZE),
    "raw_beta": bf16(REQUESTS, HEADS),
    "out_gate": bf16(REQUESTS, HEADS, SIZE),
    "conv_weight": f32(3 * HEADS * SIZE, 4),
    "a_log": f32(HEADS),
    "dt_bias": f32(HEADS * SIZE),
    "norm_weight": f32(SIZE),
    "conv_state": bf16(SLOTS, 3, 3 * HEADS * SIZE),
    "state": state,
    "slot": np.array([5, 1, 0, 3], np.int32),
    "out": out,
}
tenon.ops.kda_decode(kernel, **operands)

changed = [slot for slot in range(SLOTS) if (state[slot] != before[slot]).any()]
print("slots that changed:", changed)
print("rows of out that are zero:", np.flatnonzero((out == 0).all((1, 2))).tolist())

try:
    tenon.ops.kda_decode(kernel, **operands | {"a_log": f32(3)})
except tenon.OperandError as error:
    print(f"{error.operand}: {error}")
print(runtime.counters()["launches"], "launch,", runtime.counters()["compiles"], "compiles")
