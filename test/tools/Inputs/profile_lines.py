# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""profile_lines.py PROFILE TILE: what `tenon run --profile` says of lines.

Every location must be a line of the file TILE, by its name without folders. Loads and
stores of device memory keep their op: their lines must hold one. Prints the share of
instructions that have a location and, by kind of access, the ops that their lines hold.
"""

import os
import re
import sys
from collections import defaultdict

profile, tile = sys.argv[1:]
with open(tile) as file:
    lines = file.read().splitlines()

instruction = re.compile(r"^ *\d+ +[0-9a-f]+  (\S+)[^;]*(?:; (.*):(\d+))?$")
total = located = 0
ops = defaultdict(set)
with open(profile) as file:
    for text in file:
        found = instruction.match(text.rstrip())
        if not found:
            continue
        total += 1
        mnemonic, name, number = found.groups()
        if number is None:
            continue
        assert name == os.path.basename(tile), f"{name} is not {tile}"
        located += 1
        op = re.search(r"\b(?:tile|arith|math)\.\w+", lines[int(number) - 1])
        assert op, f"line {number} holds no op: {lines[int(number) - 1]}"
        for kind in ("buffer_load", "buffer_store", "ds_read", "ds_write", "s_barrier"):
            if mnemonic.startswith(kind):
                ops[kind].add(op.group())

print(f"{total} instructions, {100 * located // total} % with a line")
for kind, names in sorted(ops.items()):
    print(kind, *sorted(names))
