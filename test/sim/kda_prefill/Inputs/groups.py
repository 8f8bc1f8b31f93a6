# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""groups.py PREFIX: the same prefill without groups and in groups of several schedules,
each checked against the recurrence, then compared."""

import subprocess
import sys

import numpy

# Of the largest value of a head or token, as the recurrence is held to.
BOUNDS = {"out": 1e-2, "state": 8e-3}
SCHEDULES = (
    "groups = 4, group_chunks = 2",
    "groups = 5, group_chunks = 1, group_rows = 64, same_die = 0",
    "groups = 8, group_chunks = 1, group_rows = 64, group_waves = 2",
    "groups = 3, group_waves = 8, walk_waves = 8",
)

prefix = sys.argv[1]


def run(schedule):
    """The results of one schedule."""
    command = ["tenon", "run", "--op", "kda_prefill", "--set", "H=2", "--data", "weak"]
    command += ["--list", "lengths=600,0,130,1", "--check", "--checks", "none"]
    command += ["--schedule", "{" + schedule + "}"]
    files = {name: f"{prefix}.{name}.npy" for name in BOUNDS}
    for name, file in files.items():
        command += ["--output", f"{name}={file}"]
    subprocess.run(command, check=True)
    return {name: numpy.load(file).astype(numpy.float64) for name, file in files.items()}


def main():
    """Entry point."""
    whole = run("groups = 1")
    for schedule in SCHEDULES:
        found = run(schedule)
        for name, bound in BOUNDS.items():
            # Slots that no sequence has hold NaN.
            written = numpy.isfinite(whole[name])
            difference = numpy.abs(found[name] - whole[name])[written]
            error = difference.max() / numpy.abs(whole[name][written]).max()
            print(f"{{{schedule}}}: {name} {error:.2e}")
            if not error <= bound:
                sys.exit(f"{{{schedule}}}: {name} differs by {error:.2e}, at most {bound:.0e}")
            if name == "state" and error == 0:
                sys.exit(f"{{{schedule}}}: no sequence was cut: every bit is the same")


if __name__ == "__main__":
    main()
