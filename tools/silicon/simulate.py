# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One launch through `tenon sim`."""

import json
import os
import subprocess
import tempfile
import time
from dataclasses import dataclass

import numpy as np


class SimulationError(RuntimeError):
    """`tenon sim` did not execute the launch; the message is its own."""


@dataclass(frozen=True)
class Simulated:
    """output: what the kernel left in its output buffer. changed: other buffers that it
    did not leave as they were. statistics: the object of --stats-json. seconds: of the
    whole process."""

    output: np.ndarray
    changed: list
    statistics: dict
    seconds: float


def run(tenon, path, launch, buffers, checks="none", timeout=600, options=()):
    """Executes `launch` of the code object at `path` on the arrays `buffers` (by
    argument). `checks` is the value of --checks; findings are in the statistics."""
    with tempfile.TemporaryDirectory(prefix="tenon-objects-") as folder:
        sources, after = {}, {}
        for name, array in buffers.items():
            if array.nbytes != launch.arguments[name].bytes:
                raise ValueError(
                    f"{name} has {array.nbytes} bytes, the launch expects "
                    f"{launch.arguments[name].bytes}"
                )
            file = os.path.join(folder, name + ".npy")
            np.save(file, array)
            after[name] = os.path.join(folder, name + ".after.npy")
            sources[name] = f"npy:{file}:out={after[name]}"
        stats = os.path.join(folder, "stats.json")
        command = [tenon, "sim", path, "--checks", checks, "--stats-json", stats]
        command += ["--grid", ",".join(map(str, launch.grid))]
        command += ["--block", ",".join(map(str, launch.block))]
        for text in launch.sim_arguments(sources):
            command += ["--arg", text]
        start = time.monotonic()
        try:
            process = subprocess.run(
                command + list(options), capture_output=True, text=True, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            raise SimulationError(f"no end after {timeout} s") from None
        seconds = time.monotonic() - start
        result = after.pop(launch.output)
        if process.returncode not in (0, 1) or not os.path.exists(result):
            raise SimulationError(process.stderr.strip() or process.stdout.strip())
        with open(stats, encoding="utf-8") as file:
            statistics = json.load(file)
        if not statistics["completed"]:
            raise SimulationError(process.stderr.strip() or process.stdout.strip())
        changed = [
            name
            for name, file in after.items()
            if np.load(file).tobytes() != buffers[name].tobytes()
        ]
        return Simulated(np.load(result), changed, statistics, seconds)
