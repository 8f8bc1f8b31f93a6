#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs lit on suites of a build folder and ends with "N passed, M failed".

A GoogleTest case counts as one test, like a lit file. The exit code is 0 only
when something passed and nothing failed.
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

PASSED = {"PASS", "FLAKYPASS", "XFAIL"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def cached(build, name):
    """The value of a CMake cache variable of the build folder."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        for line in cache:
            key, _, value = line.rstrip("\n").partition("=")
            if key.partition(":")[0] == name:
                return value
    sys.exit(f"{build}: {name} is not set; configure with TENON_BUILD_TESTS=ON")


def run_lit(build, suites, options):
    """Runs lit; returns the result codes of all tests, empty if it broke."""
    paths = [os.path.join(build, "test", suite) for suite in suites]
    with tempfile.TemporaryDirectory() as folder:
        results = os.path.join(folder, "results.json")
        command = [cached(build, "TENON_LIT"), "-sv", "-o", results]
        status = subprocess.run(command + options + paths).returncode
        if not os.path.exists(results):
            return status, []
        with open(results, encoding="utf-8") as file:
            return status, [test["code"] for test in json.load(file)["tests"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the build folder")
    parser.add_argument("suites", nargs="*", help="folders of test/ (default: all)")
    parser.add_argument("--lit-options", default="", help="more options for lit")
    args = parser.parse_args()

    status, codes = run_lit(
        os.path.abspath(args.build), args.suites or [""], args.lit_options.split()
    )
    count = collections.Counter(
        "passed" if code in PASSED else "skipped" if code in SKIPPED else "failed"
        for code in codes
    )
    failed = count["failed"]
    if status != 0 and failed == 0:
        print(f"lit ended with {status} and no failed test", flush=True)
        failed = 1
    if not codes:
        print("no test was run", flush=True)
    if count["skipped"]:
        print(f"{count['skipped']} skipped (see above for what is missing)")
    print(f"{count['passed']} passed, {failed} failed", flush=True)
    return 0 if failed == 0 and count["passed"] > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
