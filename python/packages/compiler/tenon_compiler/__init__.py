# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler of Tenon as a program. `tenon.Runtime` takes it for kernels that are in no
bundle, and the command `tenon` is it."""

import os
import pathlib
import sys


def program() -> str:
    """The path of the program."""
    return str(pathlib.Path(__file__).resolve().parent / "bin" / "tenon")


def main() -> None:
    """Runs it in the place of this process, with the same arguments."""
    os.execv(program(), ["tenon", *sys.argv[1:]])
