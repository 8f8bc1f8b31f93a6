# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""same_cycles.py PERCENT FULL.json SAMPLED.json: compares the times of the launches in
two files of `tenon run --stats-json`."""

import json
import sys


def timings(path):
    with open(path, encoding="utf-8") as file:
        return [launch["timing"] for launch in json.load(file)["launches"]]


for full, sampled in zip(timings(sys.argv[2]), timings(sys.argv[3]), strict=True):
    assert sampled["sampled"] and not full["sampled"]
    error = 100 * (sampled["cycles"] / full["cycles"] - 1)
    print(f"full {full['cycles']} sampled {sampled['cycles']} cycles: {error:+.1f} %")
    assert abs(error) <= float(sys.argv[1])
