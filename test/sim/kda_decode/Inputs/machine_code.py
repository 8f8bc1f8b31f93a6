# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the machine code of every variant of the decode kernel."""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile

MOST_VGPRS = 128
MOST_LDS = 4096
STATE_ACCESSES = 16  # per wave: 64 KiB over 4 waves of 64 lanes of 16 bytes


def compile_variant(settings):
    """Assembly lines and report of one variant."""
    command = ["tenon", "compile", "--op", "kda_decode"]
    for name, value in settings.items():
        command += ["--set", f"{name}={value}"]
    assembly = subprocess.run(
        command + ["--emit", "isa"], capture_output=True, text=True, check=True
    ).stdout
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        outputs = ["--report-json", report.name, "-o", os.devnull]
        subprocess.run(command + outputs, check=True)
        kernels = json.load(report)["kernels"]
    body = assembly[assembly.index("\nkda_decode:") :]
    lines = re.findall(r"^\t([a-z]\w+.*)$", body[: body.index(".section")], re.M)
    return lines, kernels


def problems(lines, kernels):
    """What is wrong with one variant."""
    if len(kernels) != 1:
        yield f"{len(kernels)} kernels"
    report = kernels[0]
    if report["scratch_bytes"] != 0:
        yield f"{report['scratch_bytes']} bytes of scratch"
    if report["vgprs"] > MOST_VGPRS:
        yield f"{report['vgprs']} VGPRs"
    if report["lds_bytes"] > MOST_LDS:
        yield f"{report['lds_bytes']} bytes of LDS"
    for kind in ("load", "store"):
        wide = [l for l in lines if re.match(rf"buffer_{kind}_dwordx4 .* nt$", l)]
        if len(wide) != STATE_ACCESSES:
            yield f"{len(wide)} non-temporal 16-byte {kind}s"
        if any(re.search(r"\bnt\b", l) and l not in wide for l in lines if kind in l):
            yield f"a non-temporal {kind} that is not 16 bytes wide"
    state = [i for i, l in enumerate(lines) if l.startswith("buffer_load") and " nt" in l]
    small = [i for i, l in enumerate(lines) if l.startswith("buffer_load") and " nt" not in l]
    if max(small) > min(state):
        yield "a load of the prologue comes after the state"
    # What comes from memory then is waited for by itself, as long as for the state.
    # Arguments may be loaded again at the end.
    barrier = lines.index("s_barrier")
    if any(line.startswith("s_load") for line in lines[min(state) : barrier]):
        yield "a scalar load comes after the state"
    for line in lines[: max(state)]:
        if "vmcnt" in line or "branch" in line or line.startswith("scratch"):
            yield f"before the last load of the state: {line}"


def main():
    failures = 0
    variants = {
        "gate": ("bounded", "softplus"),
        "norm": ("on", "off"),
        "conv_layout": ("sd", "ds"),
        "state_layout": ("vk", "kv"),
        "conv_start": ("on", "off"),
        "H": ("12", "96"),
    }
    for values in itertools.product(*variants.values()):
        settings = dict(zip(variants, values))
        for problem in problems(*compile_variant(settings)):
            failures += 1
            print(settings, problem)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
