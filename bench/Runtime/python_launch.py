#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU time of a launch through Python: KDA decode with 128 rows on the null device.

Run it where `tenon` can be imported (PYTHONPATH=build/python in a build) and the compiler
or the disk cache has the kernel. Arrays are of NumPy, and of torch where it is installed.
Times are of this process alone, the median of --repeats measurements.
"""

import argparse
import statistics
import time
import timeit

import numpy as np
import tenon

ROWS, HEADS, SIZE, SLOTS = 128, 12, 128, 200
CHANNELS = 3 * HEADS * SIZE


def numpy_operands():
    """Operands by name; numbers do not matter, since nothing reads them."""
    half, single = np.uint16, np.float32
    return {
        "qkv": np.zeros((ROWS, CHANNELS), half),
        "raw_g": np.zeros((ROWS, HEADS * SIZE), half),
        "raw_beta": np.zeros((ROWS, HEADS), half),
        "out_gate": np.zeros((ROWS, HEADS * SIZE), half),
        "conv_weight": np.zeros((CHANNELS, 4), single),
        "a_log": np.zeros(HEADS, single),
        "dt_bias": np.zeros(HEADS * SIZE, single),
        "norm_weight": np.zeros(SIZE, single),
        "conv_state": np.zeros((SLOTS, 3, CHANNELS), half),
        "state": np.zeros((SLOTS, HEADS, SIZE, SIZE), single),
        "slot": np.ones(ROWS, np.int32),
        "out": np.zeros((ROWS, HEADS * SIZE), half),
    }


def torch_operands():
    """The same as tensors of torch, or None where torch is not installed."""
    try:
        import torch
    except ImportError:
        return None
    return {
        name: torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        if array.dtype == np.uint16
        else torch.from_numpy(array)
        for name, array in numpy_operands().items()
    }


def measure(call, repeats):
    """Microseconds of CPU per call, the median."""
    timer = timeit.Timer(call, timer=time.process_time)
    number, _ = timer.autorange()
    times = timer.repeat(repeats, number)
    return statistics.median(times) / number * 1e6


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=7, help="measurements of each")
    repeats = parser.parse_args().repeats
    runtime = tenon.Runtime()
    device = tenon.Device(runtime, "null")
    statics = {"H": HEADS}
    kernel = tenon.Kernel(device, "kda_decode", statics)
    print(f"{'':46}us of CPU")

    def show(what, call):
        print(f"{what:46}{measure(call, repeats):9.2f}")

    def look_up():
        return tenon.Kernel(device, "kda_decode", statics)

    show("look-up: tenon.Kernel(device, op, statics)", look_up)
    arrays = {"NumPy": numpy_operands(), "torch": torch_operands()}
    for framework, operands in arrays.items():
        if operands is None:
            print(f"{framework} is not installed")
            continue

        def launch():
            kernel.launch(operands)

        def of_kernel():
            tenon.ops.kda_decode(kernel, **operands)

        def of_device():
            tenon.ops.kda_decode(device, **operands, statics=statics)

        show(f"{framework}: kernel.launch(operands)", launch)
        show(f"{framework}: tenon.ops.kda_decode(kernel, ...)", of_kernel)
        show(f"{framework}: tenon.ops.kda_decode(device, ...)", of_device)


if __name__ == "__main__":
    main()
