#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks on the tracked files themselves; prints each offence, fails on any."""

import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAX_LINES = 800
SOURCES = ("*.cpp", "*.h", "*.td", "*.py", "*.c")
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
# Paths of one person's machine. /usr and /opt are the system's.
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:home|root|work|Users|mnt|scratch)/\w")


def tracked(*patterns):
    """Tracked files that match; a file deleted but not committed is left out."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--", *patterns]
    output = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    names = output.stdout.decode().split("\0")
    return [name for name in names if os.path.isfile(os.path.join(ROOT, name))]


def lines(name):
    with open(os.path.join(ROOT, name), encoding="utf-8", errors="replace") as file:
        return file.read().splitlines()


def sizes():
    """No source file is longer than 800 lines."""
    for name in tracked(*SOURCES):
        count = len(lines(name))
        if count > MAX_LINES:
            yield f"{name}: {count} lines; split it, {MAX_LINES} is the limit"


def licence():
    """Every source file and script names its licence in the first five lines."""
    for name in tracked(*SOURCES, "*.sh", ".ci/run"):
        if not any(SPDX in line for line in lines(name)[:5]):
            yield f"{name}: no line '{SPDX}' at the top"


def paths():
    """No file names a folder of somebody's machine."""
    for name in tracked():
        for number, line in enumerate(lines(name), 1):
            if MACHINE_PATH.search(line):
                yield f"{name}:{number}: path of a machine: {line.strip()}"


def formatting():
    """clang-format 22 would change no C++ file."""
    names = tracked("*.cpp", "*.h")
    command = ["clang-format-22", "--dry-run", "--Werror", "-fno-color-diagnostics"]
    result = subprocess.run(
        command + names, cwd=ROOT, capture_output=True, text=True
    )
    offenders = {
        line.split(":")[0] for line in result.stderr.splitlines() if ": error:" in line
    }
    for name in sorted(offenders):
        yield f"{name}: run clang-format-22 -i {name}"
    if result.returncode != 0 and not offenders:
        yield result.stderr.strip()


def named_tests():
    """The tests that the reference of the simulator names exist."""
    test = re.compile(r"\bTEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\)")
    known = set()
    for name in tracked("test/unit/Sim/*.cpp"):
        known.update(map(".".join, test.findall("\n".join(lines(name)))))
    page = "docs/reference/simulator-semantics.md"
    for number, line in enumerate(lines(page), 1):
        for name in re.findall(r"`(Sim\w+\.\w+)`", line):
            if name not in known:
                yield f"{page}:{number}: no test is called {name}"


CHECKS = {
    check.__name__: check for check in (sizes, licence, paths, formatting, named_tests)
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("check", nargs="*", help="of: " + ", ".join(CHECKS))
    names = parser.parse_args().check or list(CHECKS)
    unknown = [name for name in names if name not in CHECKS]
    if unknown:
        parser.error(f"unknown check: {', '.join(unknown)}")
    offences = [text for name in names for text in CHECKS[name]()]
    for text in offences:
        print(text)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
