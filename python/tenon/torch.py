# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ops of Tenon as custom operators of torch.

    import tenon.torch

    tenon.torch.load("kimi_k3_tp8.tenon")
    torch.ops.tenon.kda_decode(qkv, raw_g, ..., statics="H=12")

Each op of `tenon.ops` becomes `torch.ops.tenon.NAME` with the operands of its contract,
those that it writes marked as mutated, and returns nothing; `statics` holds the static
parameters that are not at their defaults. Tensors of a GPU run on device "hip" of the
same index and on torch's current stream; tensors of the CPU run in the simulator.
Workspaces are tensors of torch. There are fake implementations, so that graphs with the
operators can be traced.
"""

import atexit
import inspect
import typing

import torch

from . import ops
from ._tenon import Device, Kernel, Runtime

# What an op writes; the rest is read alone.
WRITTEN = {
    "gemm": {"out"},
    "kda_decode": {"conv_state", "state", "out"},
    "kda_plan": {"plan"},
    "kda_prefill": {
        "conv_state",
        "state",
        "checkpoint_state",
        "checkpoint_conv",
        "out",
    },
    "mla_decode": {"out", "lse"},
    "mla_merge": {"out", "merged_lse"},
    "mla_plan": {"plan"},
    "mla_scale": {"out", "merged_lse"},
    "moe_experts": {"out"},
    "moe_pack": {"packed", "packed_scales"},
    "moe_route": {"ids", "weights"},
    "pack": {"packed", "packed_scales"},
}

_COMMON = {"where", "statics", "workspace", "zeroed_workspace", "stream"}


class _State:
    """The runtime that the operators use, its devices, kernels and zeroed workspaces."""

    def __init__(self):
        self.runtime = None
        self.devices = {}
        self.kernels = {}
        self.zeroed = {}


_state = _State()


def use(runtime: Runtime) -> None:
    """Has the operators use a runtime; kernels of the one before are forgotten."""
    _state.__init__()
    _state.runtime = runtime


def runtime() -> Runtime:
    """The runtime of the operators: the last one of `use`, else one of its own."""
    if _state.runtime is None:
        _state.runtime = Runtime()
    return _state.runtime


def load(path: str, sha256: typing.Optional[str] = None) -> None:
    """Opens a bundle for the operators."""
    runtime().load(path, sha256)


def device(like) -> Device:
    """The device of Tenon that a torch.device stands for."""
    like = torch.device(like)
    name = "sim"
    if like.type == "cuda":
        index = torch.cuda.current_device() if like.index is None else like.index
        name = f"hip:{index}"
    if name not in _state.devices:
        _state.devices[name] = Device(runtime(), name)
    return _state.devices[name]


def _kernel(where: Device, op: str, statics: str) -> Kernel:
    key = (where.name, op, statics)
    if key not in _state.kernels:
        pairs = dict(part.split("=", 1) for part in statics.split(",") if part)
        _state.kernels[key] = Kernel(where, op, pairs)
    return _state.kernels[key]


def _operands(function):
    """(name, is scalar, is optional) of each operand of a function of tenon.ops."""
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in _COMMON:
            kinds = typing.get_args(parameter.annotation) or (parameter.annotation,)
            yield name, int in kinds, parameter.default is None


def schema(op: str) -> str:
    """The schema of the operator, such as "kda_plan(Tensor cu_seqlens, ...) -> ()"."""
    parameters, mutated = [], 0
    for name, is_scalar, is_optional in _operands(getattr(ops, op)):
        kind = "int" if is_scalar else "Tensor"
        if name in WRITTEN[op]:
            kind += f"(a{mutated}!)"
            mutated += 1
        parameters.append(f"{kind}? {name}=None" if is_optional else f"{kind} {name}")
    return f"{op}({', '.join(parameters)}, *, str statics='') -> ()"


def _aligned(make, size: int, where):
    """Memory of torch at a multiple of 256, which that of the CPU is not always."""
    memory = make(size + 255, dtype=torch.uint8, device=where)
    first = -memory.data_ptr() % 256
    return memory[first : first + size]


def _implementation(op: str):
    function = getattr(ops, op)
    operands = list(_operands(function))
    names = [name for name, _, _ in operands]
    scalars = {name for name, is_scalar, _ in operands if is_scalar}

    def call(*arguments, statics="", **named):
        given = dict(zip(names, arguments), **named)
        given = {name: value for name, value in given.items() if value is not None}
        first = next(v for name, v in given.items() if name not in scalars)
        where = device(first.device)
        kernel = _kernel(where, op, statics)
        stream = None
        if first.device.type == "cuda":
            stream = torch.cuda.current_stream(first.device).cuda_stream
        arrays = {n: v for n, v in given.items() if n not in scalars}
        integers = {n: v for n, v in given.items() if n in scalars}
        bytes_needed, zeroed_bytes = kernel.workspace(arrays, integers)

        def memory(make, size):
            return _aligned(make, size, first.device) if size else None

        zeroed = None
        if zeroed_bytes:
            # Launches on one stream may share it, since they leave zeros.
            key = (where.name, stream)
            zeroed = _state.zeroed.get(key)
            if zeroed is None or zeroed.numel() < zeroed_bytes:
                zeroed = _state.zeroed[key] = memory(torch.zeros, zeroed_bytes)
        function(
            kernel,
            **given,
            workspace=memory(torch.empty, bytes_needed),
            zeroed_workspace=zeroed,
            stream=stream,
        )

    return call


def _fake(*arguments, **named):
    """Mutates nothing that a fake tensor has: sizes and types stay."""


_library = torch.library.Library("tenon", "DEF")
for _op in ops.__all__:
    if _op not in WRITTEN:
        raise ImportError(f"tenon.torch does not know what {_op} writes")
    _library.define(schema(_op))
    for _key in ("CPU", "CUDA"):
        _library.impl(_op, _implementation(_op), _key)
    # torch 2.4 and later have fakes of their own.
    if hasattr(torch.library, "register_fake"):
        torch.library.register_fake(f"tenon::{_op}", _fake, lib=_library)
    else:
        _library.impl(_op, _fake, "Meta")


@atexit.register
def _end():
    """torch would hold the operators, and they the runtime, past the end of Python."""
    global _library
    _library = None
    _state.__init__()
