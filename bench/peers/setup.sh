#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes the Python environment in which kernels of other projects are compiled, apart from
# all that Tenon itself needs. Their packages come without torch, which only their host
# functions use.
set -euo pipefail

root="$(cd "$(dirname "$0")/../.." && pwd)"
environment="${1:-$root/build/peers}"

python3 -m venv "$environment"
"$environment/bin/pip" install --quiet --disable-pip-version-check --no-deps \
  triton==3.9.0 fla-core==0.6.0 einops==0.8.2 packaging numpy
echo "$environment/bin/python $root/bench/peers/kda_prefill.py"
