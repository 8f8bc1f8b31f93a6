# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""manifests.py FOLDER OPS: the manifests in FOLDER are sound, name no kernel twice, and
together name every op of OPS, which is what `tenon ops` prints."""

import collections
import pathlib
import re
import subprocess
import sys

folder, ops = sys.argv[1:]
existing = set(re.findall(r"^(\w+) {2,}", open(ops, encoding="utf-8").read(), re.M))
named, kernels, offences = set(), 0, []
paths = sorted(pathlib.Path(folder).glob("*/*/*.json"))
for path in paths:
    done = subprocess.run(
        ["tenon", "bundle", "--keys", str(path)], capture_output=True, text=True
    )
    if done.returncode != 0:
        offences.append(done.stderr)
    keys = done.stdout.splitlines()
    kernels += len(keys)
    named.update(key.partition("(")[0] for key in keys)
    offences += [
        f"{path}: {key} is named {count} times"
        for key, count in collections.Counter(keys).items()
        if count > 1
    ]
offences += [f"no manifest names {op}" for op in sorted(existing - named)]
for offence in offences:
    print(offence)
if offences or not existing:
    sys.exit(1)
print(f"{len(paths)} manifests, {kernels} kernels")
