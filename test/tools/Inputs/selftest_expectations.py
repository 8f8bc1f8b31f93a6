# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies the data of a self-test and moves what is expected of `out` in its first case by
a relative error; with --exact that operand has no tolerance."""

import json
import math
import pathlib
import shutil
import sys

source, target, error = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
target.mkdir()
shutil.copy(source / "kernels.tenon", target)
cases = json.loads((source / "cases.json").read_text())
case = cases["cases"][0]
expected = case["expected"]["out"]
norm = math.sqrt(sum(value * value for value in expected["sketch"]))
expected["sketch"][7] += float(error) * norm
expected["xxh3_128"] = "0" * 32
if "--exact" in sys.argv:
    case["tolerances"]["out"] = 0
(target / "cases.json").write_text(json.dumps(cases))
