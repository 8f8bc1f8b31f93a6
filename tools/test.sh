#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Builds Tenon and its tests and runs every check. The last line is
# "N passed, M failed"; the exit code is 0 only when M is 0 and N is not.
# Arguments go to tools/setup.sh.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
  cat <<'TEXT'
usage: tools/test.sh [--no-root PREFIX] [--help]

Runs tools/setup.sh (which takes the same arguments), builds the tests, runs
every check, and ends with the line "N passed, M failed". Needs no GPU.
TEXT
  exit 0
fi

# A build that does not come about is one failed check.
broken() {
  echo "test: $1"
  echo "0 passed, 1 failed"
  exit 1
}
"$root/tools/setup.sh" "$@" || broken "setup failed, nothing was tested"
cmake --build "$root/build" --target check-build ||
  broken "the tests do not build, nothing was tested"
exec python3 "$root/tools/testing/run_checks.py" "$root/build"
