#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the oldest glibc and libstdc++ that shared libraries load on, and what they
need beside them; fails where that is newer than --at-most or named by --without."""

import argparse
import re
import subprocess
import sys

READELF = "llvm-readelf"


def versions(path):
    """The newest version of each family of symbols that the library takes from others."""
    text = subprocess.run(
        [READELF, "--version-info", path], capture_output=True, text=True, check=True
    ).stdout
    needed = text.partition("Version needs section")[2]
    newest = {}
    for family, number in re.findall(r"Name: (GLIBC|GLIBCXX|CXXABI)_([0-9.]+)", needed):
        value = tuple(map(int, number.split(".")))
        newest[family] = max(newest.get(family, (0,)), value)
    if not newest:
        sys.exit(f"{path}: no versioned symbol is needed; is it a shared library?")
    return newest


def libraries(path):
    text = subprocess.run(
        [READELF, "-d", path], capture_output=True, text=True, check=True
    ).stdout
    return re.findall(r"\(NEEDED\)\s+Shared library: \[(.+)\]", text)


def spell(value):
    return ".".join(map(str, value))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library", nargs="+")
    parser.add_argument(
        "--at-most", action="append", default=[], help="such as GLIBC_2.34"
    )
    parser.add_argument(
        "--without", action="append", default=[], help="part of a library's name"
    )
    args = parser.parse_args()
    limits = {}
    for limit in args.at_most:
        family, _, number = limit.rpartition("_")
        limits[family] = tuple(map(int, number.split(".")))
    offences = []
    for path in args.library:
        found = versions(path)
        name = path.rsplit("/", 1)[-1]
        print(name, *(f"{family}_{spell(v)}" for family, v in sorted(found.items())))
        needed = libraries(path)
        print("  needs", *needed)
        for family, value in found.items():
            if family in limits and value > limits[family]:
                offences.append(
                    f"{name}: {family}_{spell(value)} is needed, "
                    f"{spell(limits[family])} is the limit"
                )
        for part in args.without:
            offences += [
                f"{name}: {library} is needed" for library in needed if part in library
            ]
    for offence in offences:
        print("error:", offence, file=sys.stderr)
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
