# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""timing_difference.py A.json B.json: by how many microseconds the second of two timed
launches takes longer."""

import json
import sys

first, second = (json.load(open(file))["timing"]["us"] for file in sys.argv[1:])
print(f"{second - first:+.3f} us")
