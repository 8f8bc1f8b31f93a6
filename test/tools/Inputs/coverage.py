# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""coverage.py PAGE README OPS: holds the page on coverage and the README against the
ops that there are. OPS is what `tenon ops` prints."""

import re
import sys

page, readme, ops = (open(name, encoding="utf-8").read() for name in sys.argv[1:])
existing = set(re.findall(r"^(\w+) {2,}", ops, re.M))
states = {"op", "contract", "planned", "framework"}
offences, named = [], set()
rows = 0
for line in page.splitlines():
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if not line.startswith("|") or cells[0] in ("launch", "---"):
        continue
    rows += 1
    state = [cell for cell in cells[1:] if cell in states]
    names = re.findall(r"`tenon\.(\w+)`", cells[-1])
    named.update(names)
    if len(state) != 1:
        offences.append(f"one state of {sorted(states)} expected: {line}")
    elif state[0] in ("op", "contract") and not set(names) & existing:
        offences.append(f"there is no such op: {line}")
    elif state[0] == "framework" and names:
        offences.append(f"an op is left to the framework: {line}")
offences += [f"the page does not name tenon.{op}" for op in sorted(existing - named)]
support = re.search(r"^\| Kernels \|.*$", readme, re.M)
claimed = set(re.findall(r"`tenon\.(\w+)`", support[0] if support else ""))
offences += [
    f"the README claims tenon.{op}, which is no op" for op in sorted(claimed - existing)
]
if not rows or not claimed:
    offences.append("the page or the README has no table")
for offence in offences:
    print(offence)
if offences:
    sys.exit(1)
print(f"{rows} launches, {len(existing)} ops")
