#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""expect_exit.py CODE COMMAND...: runs a command; fails unless it exits so.

In lit tests: expect-exit 2 tenon run ... 2>&1 | FileCheck %s
"""

import subprocess
import sys


def main():
    expected = int(sys.argv[1])
    found = subprocess.run(sys.argv[2:]).returncode
    if found == expected:
        return 0
    how = f"signal {-found}" if found < 0 else f"exit code {found}"
    print(f"expect-exit: expected exit code {expected}, found {how}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
