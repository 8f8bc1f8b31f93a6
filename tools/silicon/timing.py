# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modelled times of launches, and how they compare with measured ones."""

import json
import math
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

from . import launch as launches
from .simulate import SimulationError


def model(tenon, path, launch, mode="sampled", threads=1, timeout=1800, options=()):
    """The `timing` object of --stats-json of one launch: modelled, operands cold and
    without values, so that nothing but sizes, strides and addresses counts."""
    with tempfile.TemporaryDirectory(prefix="tenon-timing-") as folder:
        stats = os.path.join(folder, "stats.json")
        command = [tenon, "sim", path, "--checks", "none", "--stats-json", stats]
        command += ["--timing", mode, "--skip-values"]
        command += ["--threads", str(threads)]
        command += ["--grid", ",".join(map(str, launch.grid))]
        command += ["--block", ",".join(map(str, launch.block))]
        for text in launch.sim_arguments():
            command += ["--arg", text]
        try:
            process = subprocess.run(
                command + list(options), capture_output=True, text=True, timeout=timeout
            )
        except subprocess.TimeoutExpired:
            raise SimulationError(f"no end after {timeout} s") from None
        if process.returncode != 0 or not os.path.exists(stats):
            raise SimulationError(process.stderr.strip() or process.stdout.strip())
        with open(stats, encoding="utf-8") as file:
            return json.load(file)["timing"]


# How the rows were measured: with so many copies of all operands in turn, as far as
# they fit some bytes.
COPIES, MOST_COPIED_BYTES = 101, 32 << 30
MALL_BYTES = 256 << 20


def cache_of(launch):
    """Where a measured launch finds its operands (--cache): in the memory-side cache when
    all copies fit it, and in HBM otherwise."""
    size = sum(
        argument.bytes
        for argument in launch.arguments.values()
        if isinstance(argument, launches.Buffer)
    )
    copies = max(1, min(COPIES, MOST_COPIED_BYTES // size))
    return "mall" if copies * size <= MALL_BYTES else "cold"


def mode_of(row):
    """Workgroups that wait for each other need all of them; others can be sampled."""
    return "full" if row.target.waits_for_others else "sampled"


def model_rows(tenon, objects, rows, jobs=2, report=None, mode=None, options=()):
    """Models every row; the list holds, in the order of rows, timing objects or
    SimulationErrors. `report(done, row, timing)` is called after each."""
    done = 0
    results = [None] * len(rows)

    def run(index):
        row = rows[index]
        path = os.path.join(
            objects, "hsa", "gfx950", row.target.family, row.target.name
        )
        try:
            described = launches.describe(row.target, row.problem)
            cache = ("--cache", cache_of(described))
            return index, model(
                tenon,
                path,
                described,
                mode or mode_of(row),
                options=(*cache, *options),
            )
        except (SimulationError, launches.LaunchError) as error:
            return index, error

    with ThreadPoolExecutor(jobs) as pool:
        for index, timing in pool.map(run, range(len(rows))):
            results[index] = timing
            done += 1
            if report:
                report(done, rows[index], timing)
    return results


def quantile(values, share):
    """The value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[min(len(ordered) - 1, max(0, math.ceil(share * len(ordered)) - 1))]
