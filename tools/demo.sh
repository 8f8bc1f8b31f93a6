#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds Tenon, compiles the KDA decode kernel of Kimi K3 for gfx950, and runs its
# machine code in the simulator, checked. Arguments go to tools/setup.sh.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
spec=kernels_spec/kimi_k3/tp8/kda_decode.mlir
object=build/kda_decode.gfx950.co
log=build/setup.log

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  cat <<'TEXT'
usage: tools/demo.sh [--no-root PREFIX] [--help]

Runs tools/setup.sh (which takes the same arguments), compiles the KDA decode
kernel of Kimi K3 at tensor parallelism 8 for gfx950, prints its resources, and
runs 128 rows in the simulator, checked against a double-precision reference.
TEXT
  exit 0
fi

# Shows a command as a person would type it, then runs it.
run() {
  printf '\n$ %s\n' "$*"
  PATH="$root/build/bin:$PATH" "$@"
}

# Paths of --no-root are relative to where the script was called.
mkdir -p "$root/build"
echo "Building Tenon (the first time takes minutes; output in $log) ..."
if ! "$root/tools/setup.sh" "$@" >"$root/$log" 2>&1; then
  tail -n 40 "$root/$log" >&2
  echo "demo: setup failed; all of its output is in $log" >&2
  exit 1
fi
cd "$root"

run tenon compile "$spec" --target gfx950 --report -o "$object"
run tenon run "$spec" --device sim --dim N=128 --check

cat <<TEXT

Built:    $object, a code object for MI355X ($(wc -c <"$object") bytes), from
          $spec
Verified: that kernel's machine code, executed in the gfx950 simulator on 128 rows
          of generated data, agrees with the double-precision reference in every
          output. It has not run on a GPU here.
TEXT
