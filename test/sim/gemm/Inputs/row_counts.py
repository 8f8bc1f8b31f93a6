# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The slice-add at row counts at which a library has faulted (vllm-project/vllm,
amd/latent_moe_runner.py): 23393 to 23405 rows by 896 columns, 2914 to 2925 by 7168.

The first rows, the last and some at random are compared. K is small but for the first
count of each, which has the K of the model where --full is given.
"""

import argparse
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("--full", action="store_true")
full = parser.parse_args().full

for first, last, columns in ((23393, 23405, 896), (2914, 2925, 7168)):
    for rows in range(first, last + 1):
        depth = 3584 if full and rows == first else 32
        command = ["tenon", "run", "--op", "gemm", "--check-sampled"]
        command += ["--set", "epilogue=add", "--set", f"N={columns}"]
        command += ["--set", f"K={depth}", "--set", "expected_tokens=16384"]
        command += ["--dim", f"M={rows}", "--checks", "none"]
        subprocess.run(command, check=True)
