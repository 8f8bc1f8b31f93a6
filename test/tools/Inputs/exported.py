# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""exported.py HEADER LIBRARY: the library exports the functions that the header declares,
each with a symbol version, and nothing else."""

import re
import subprocess
import sys

header, library = sys.argv[1:]
text = re.sub(r"/\*.*?\*/|//[^\n]*", "", open(header, encoding="utf-8").read(), flags=re.S)
declared = set(re.findall(r"TENON_API[^;(]*?\b(tenon_\w+)\s*\(", text))
table = subprocess.run(
    ["llvm-readelf", "--dyn-syms", library], capture_output=True, text=True, check=True
).stdout
exported = {}
for line in table.splitlines():
    words = line.split()
    if len(words) == 8 and words[4] in ("GLOBAL", "WEAK") and words[6] != "UND":
        name, _, version = words[7].partition("@@")
        # The version itself is an absolute symbol.
        if words[6] != "ABS":
            exported[name] = version
offences = [f"{name} is declared and not exported" for name in declared - set(exported)]
offences += [f"{name} is exported and not declared" for name in set(exported) - declared]
offences += [
    f"{name} has the version '{version}'"
    for name, version in exported.items()
    if not re.fullmatch(r"TENON_\d+\.\d+", version)
]
if not declared:
    offences.append(f"{header} declares nothing")
for offence in sorted(offences):
    print(offence)
if offences:
    sys.exit(1)
print(f"{len(exported)} functions, {', '.join(sorted(set(exported.values())))}")
