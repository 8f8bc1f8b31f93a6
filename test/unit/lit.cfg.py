# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the GoogleTest programs of build/test/unit; each case is one test."""

import os

import lit.formats

config.name = "tenon-unit"
config.test_format = lit.formats.GoogleTest(".", "Tests")
config.suffixes = []
config.test_source_root = os.path.join(config.tenon_build, "test", "unit")
config.test_exec_root = config.test_source_root
