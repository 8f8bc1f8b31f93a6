# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the functions of tenon.ops have in common."""

from typing import Any, Mapping, Optional, Protocol, Union

from ._tenon import Device, Kernel, Memory


class Array(Protocol):
    """An array that can be shared through DLPack: of NumPy, torch, JAX, CuPy ..."""

    def __dlpack__(self, *, stream: Any = None) -> Any: ...


Statics = Optional[Mapping[str, Any]]
Workspace = Union[Array, Memory, None]
Stream = Any


def launch(
    where: Union[Device, Kernel],
    op: str,
    statics: Statics,
    arrays: dict,
    scalars: dict,
    workspace: Workspace,
    zeroed_workspace: Workspace,
    stream: Stream,
) -> None:
    if isinstance(where, Kernel):
        if statics is not None:
            raise TypeError(f"{op}: a kernel has its static parameters already")
        kernel = where
    else:
        kernel = Kernel(where, op, statics)
    kernel.launch(arrays, scalars, workspace, zeroed_workspace, stream)
