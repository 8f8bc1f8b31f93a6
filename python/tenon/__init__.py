# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of Tenon on the arrays of any framework.

    runtime = tenon.Runtime(jit="forbid")
    runtime.load("kimi_k3_tp8.tenon")
    device = tenon.Device(runtime, "sim")
    tenon.ops.kda_decode(device, statics={"H": 12}, qkv=qkv, ...)

`tenon.ops` has one function per op, with the operands of its contract.
"""

from . import experts, ops
from ._tenon import Device, Kernel, Memory, Runtime, version as __version__
from .errors import (
    BadBundle,
    CompileFailed,
    DeviceError,
    Error,
    InvalidArgument,
    KernelNotFound,
    NotLoaded,
    OperandError,
)

__all__ = [
    "BadBundle",
    "CompileFailed",
    "Device",
    "DeviceError",
    "Error",
    "InvalidArgument",
    "Kernel",
    "KernelNotFound",
    "Memory",
    "NotLoaded",
    "OperandError",
    "Runtime",
    "experts",
    "ops",
]
