# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options that the programs beside this package have in common."""

import os

BUILD_BIN = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    "build",
    "bin",
)


def add_objects(parser, note=""):
    """--objects, the folder of the public code objects; `note` follows its help."""
    parser.add_argument(
        "--objects",
        metavar="FOLDER",
        default=os.environ.get("TENON_AITER_DIR"),
        help=f"a copy of ROCm/aiter (default: $TENON_AITER_DIR){note}",
    )


def add_tenon(parser):
    """--tenon, the program that models and executes."""
    parser.add_argument(
        "--tenon",
        metavar="PROGRAM",
        default=os.path.join(BUILD_BIN, "tenon"),
        help="default: %(default)s",
    )


def add_bin(parser, programs="tenon and tenon-opt"):
    """--bin, the folder of the programs that are run."""
    parser.add_argument(
        "--bin",
        metavar="FOLDER",
        default=BUILD_BIN,
        help=f"where to find {programs} (default: %(default)s)",
    )


def set_words(values):
    """The options of tenon that set static parameters of an op."""
    return [word for item in values.items() for word in ("--set", "=".join(map(str, item)))]
