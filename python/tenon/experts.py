# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of the experts of checkpoints for `tenon.ops.moe_experts`: packed by the host or
on a device, expert by expert."""

from typing import Any, Optional, TextIO, Tuple

from . import _tenon

ROWS = 16  # of a tile of weights
ORDERS = ("packed", "aiter", "aiter_interleaved")


def packed_bytes(experts: int, rows: int, depth: int, order: str = "packed"):
    """Bytes of `experts` packed matrices of `rows` rows and `depth` values along K: of
    their weights and of their scales."""
    weights, scales = _expert_bytes(rows, depth)
    total = experts * scales
    if order == "aiter":
        # The rows of all experts are filled up to 256.
        total = -(-experts * rows // 256) * 256 * (scales // rows)
    return experts * weights, total


def pack(
    weights: Any,
    scales: Any,
    *,
    order: str = "packed",
    interleaved: bool = False,
    out: Optional[Tuple[Any, Any]] = None,
    progress: Optional[TextIO] = None,
):
    """Packs uint8 weights [E, N, K/2], two FP4 values a byte, and uint8 scales
    [E, N, K/32] expert by expert, on the host. Returns arrays of as many bytes as
    `packed_bytes` tells; what AITER leaves behind the last expert is 0.

    `interleaved` says that rows of gate and up alternate. `out` is a pair of arrays of
    bytes to write to; each may be the memory of weights or scales where nothing is filled
    up, since an expert is copied before it is written. No more memory than that of one
    expert is taken besides the results, unless rows have gaps within an expert: then all
    are copied first. `progress`, such as sys.stderr, gets a bar.
    """
    import numpy as np

    experts, rows, depth = _shape(weights, scales, order, interleaved)
    for name, array in (("weights", weights), ("scales", scales)):
        if array.dtype != np.uint8:
            raise TypeError(f"{name}: expected uint8, found {array.dtype}")
    sizes = packed_bytes(experts, rows, depth, order)
    if out is None:
        out = tuple(np.zeros(size, np.uint8) for size in sizes)
    results = []
    for name, source, array, size in zip(
        ("weights", "scales"), (weights, scales), out, sizes
    ):
        if array.dtype != np.uint8 or array.size != size or not array.flags.c_contiguous:
            raise ValueError(
                f"out of {name}: expected {size} bytes without gaps, found {array.size} "
                f"of {array.dtype}"
            )
        _check_overlap(name, source, array)
        results.append(array.reshape(-1))
    sources = []
    for source in (weights, scales):
        # Experts may be apart; what belongs to one is side by side, and they ascend.
        if experts and (
            not source[0].flags.c_contiguous or source.strides[0] < source[0].nbytes
        ):
            source = np.ascontiguousarray(source)
        sources.append(source)
    _tenon.pack_experts(
        experts,
        rows,
        depth,
        order,
        interleaved,
        *((source.ctypes.data, source.strides[0]) for source in sources),
        *(result.ctypes.data for result in results),
        None if progress is None else lambda done, count: _show(progress, done, count),
    )
    return tuple(out)


def pack_on(
    where: Any,
    weights: Any,
    scales: Any,
    *,
    out: Tuple[Any, Any],
    scratch: Optional[Tuple[Any, Any]] = None,
    order: str = "packed",
    interleaved: bool = False,
    stream: Any = None,
    progress: Optional[TextIO] = None,
) -> None:
    """Packs experts with `tenon.ops.moe_pack`, one launch each, on arrays of the device
    `where`, which can be sliced along their first dimension. `out` is a pair of flat arrays
    of the bytes that `packed_bytes` tells. Each may be the memory of weights or scales: with
    `scratch`, arrays [1, N, K/2] and [1, N, K/32] that each expert is copied to first,
    wherever nothing is filled up; without it, under the conditions of the op. `progress`,
    such as sys.stderr, gets a bar.
    """
    from . import ops

    experts, rows, depth = _shape(weights, scales, order, interleaved)
    if order == "aiter" and rows % 256:
        raise ValueError(
            f"{rows} rows of scales are filled up to 256 behind the last expert alone: "
            "pack all experts with one call of tenon.ops.moe_pack"
        )
    statics = {
        "N": rows,
        "K": depth,
        "order": order,
        "interleaved": "on" if interleaved else "off",
    }
    bytes_of = _expert_bytes(rows, depth)
    for expert in range(experts):
        sources = [part[expert : expert + 1] for part in (weights, scales)]
        if scratch is not None:
            for copy, source in zip(scratch, sources):
                copy[...] = source
            sources = scratch
        targets = [
            part[expert * count : (expert + 1) * count]
            for part, count in zip(out, bytes_of)
        ]
        ops.moe_pack(
            where,
            statics=statics,
            weights=sources[0],
            scales=sources[1],
            packed=targets[0],
            packed_scales=targets[1],
            stream=stream,
        )
        _show(progress, expert + 1, experts)


def _expert_bytes(rows, depth):
    filled = -(-rows // ROWS) * ROWS
    scale_rows = -(-rows // (2 * ROWS)) * 2 * ROWS
    blocks = -(-depth // 32 // 8) * 8
    return filled * depth // 2, scale_rows * blocks


def _shape(weights, scales, order, interleaved):
    """E, N and K."""
    experts, rows, row_bytes = weights.shape
    depth = 2 * row_bytes
    if tuple(scales.shape) != (experts, rows, depth // 32):
        raise ValueError(
            f"scales: expected the shape {(experts, rows, depth // 32)}, "
            f"found {tuple(scales.shape)}"
        )
    _check(rows, depth, order, interleaved)
    return experts, rows, depth


def _check(rows, depth, order, interleaved):
    if order not in ORDERS:
        raise ValueError(f"order: expected one of {', '.join(ORDERS)}, found {order!r}")
    row_multiple = 64 if interleaved else 1 if order == "packed" else 32
    depth_multiple = 32 if order == "packed" else 64
    if rows < 1 or depth < 1 or rows % row_multiple or depth % depth_multiple:
        raise ValueError(
            f"N must be a positive multiple of {row_multiple} and K of {depth_multiple}, "
            f"found {rows} and {depth}"
        )


def _check_overlap(name, source, result):
    """The memory of a result may be that of its operand, if no byte is filled up."""
    import numpy as np

    if not np.may_share_memory(source, result):
        return
    if (
        not source.flags.c_contiguous
        or source.size != result.size
        or source.__array_interface__["data"] != result.__array_interface__["data"]
    ):
        raise ValueError(
            f"{name}: packed in place only without gaps and where nothing is filled up"
        )


def _show(stream, done, count):
    if stream is None or (not stream.isatty() and done < count):
        return
    width = 40
    filled = width * done // count
    line = f"\rpacking [{'#' * filled}{' ' * (width - filled)}] {done} of {count} experts"
    stream.write(line + ("\n" if done == count else ""))
    stream.flush()
