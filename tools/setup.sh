#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Installs what Tenon needs from the system, configures and builds into build/.
set -euo pipefail

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
build="$root/build"

# Everything by its Debian name. clang-format-22 is for the format check only,
# libclang-rt-22-dev for the asan preset, ccache for the second build.
packages=(
  llvm-22-dev libmlir-22-dev mlir-22-tools liblld-22-dev lld-22 clang-22
  libclang-rt-22-dev llvm-22-tools clang-format-22 libfmt-dev
  nlohmann-json3-dev libcli11-dev libssl-dev libgtest-dev libbenchmark-dev libzstd-dev
  zlib1g-dev libxxhash-dev cmake ninja-build ccache pkgconf python3
  python3-dev python3-numpy python3-venv)

# What the Python package is built and tested with, by their names on PyPI. Debian 12
# has the last only, and that for its own interpreter.
python_packages=(nanobind==3.1.0 scikit-build-core==1.1.2 numpy)

usage() {
  cat <<'TEXT'
usage: tools/setup.sh [--no-root PREFIX] [--help]

Installs the missing system packages with apt (as root or through sudo),
configures, and builds Tenon into build/ with clang 22, Ninja, ccache and lld.
When no package is missing, apt is not called and no network is needed. The Python
package is built in an environment of its own, build/python-env, into which pip puts
nanobind and NumPy; without it everything else is built.

  --no-root PREFIX  never call apt: take LLVM 22 (with MLIR, LLD and preferably
                    clang) from PREFIX, and the other libraries from where
                    CMake finds them (CMAKE_PREFIX_PATH adds places)
  --help            this text

The first build takes minutes; later ones only what has changed.
TEXT
}

fail() {
  echo "setup: $*" >&2
  exit 1
}

# The packages of the list that dpkg does not have, one a line.
missing_packages() {
  local package
  for package in "${packages[@]}"; do
    if [[ "$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null)" != ii* ]]; then
      echo "$package"
    fi
  done
}

install_packages() {
  local missing as_root=()
  mapfile -t missing < <(missing_packages)
  if [[ ${#missing[@]} -eq 0 ]]; then
    return
  fi
  if [[ "$(id -u)" -ne 0 ]]; then
    command -v sudo >/dev/null || fail "these packages are missing, and there is \
no sudo to install them: ${missing[*]}
       Install them as root (apt-get install ${missing[*]}),
       or use tools/setup.sh --no-root PREFIX with an LLVM 22 of your own."
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update ||
    echo "setup: apt-get update failed; trying with the lists that are there" >&2
  local package unknown=()
  for package in "${missing[@]}"; do
    if ! apt-cache show "$package" >/dev/null 2>&1; then
      unknown+=("$package")
    fi
  done
  if [[ ${#unknown[@]} -ne 0 ]]; then
    fail "apt does not know these packages: ${unknown[*]}
       Packages of LLVM 22 come from https://apt.llvm.org where the distribution
       has none: add its repository for version 22 and run this again."
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"
}

# On a system without apt: says what is missing, as far as it can be seen
# without CMake, which names missing libraries one by one.
check_without_apt() {
  local missing=() program
  for program in cmake ninja python3 clang-22 clang++-22; do
    command -v "$program" >/dev/null || missing+=("$program")
  done
  [[ -f /usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake ]] ||
    missing+=("LLVM 22 with MLIR in /usr/lib/llvm-22")
  [[ -f /usr/lib/llvm-22/lib/cmake/lld/LLDConfig.cmake ]] ||
    missing+=("LLD 22 (library) in /usr/lib/llvm-22")
  if [[ ${#missing[@]} -ne 0 ]]; then
    echo "setup: this system has no apt, and these are missing:" >&2
    printf '       %s\n' "${missing[@]}" >&2
    fail "install them by other means, together with fmt, nlohmann_json, CLI11,
       OpenSSL, xxHash, GoogleTest, Google Benchmark, zstd and zlib (with their CMake files).
       An LLVM 22 elsewhere: tools/setup.sh --no-root PREFIX"
  fi
}

# Sets CC and CXX: the clang of the prefix, else clang 22 of the system.
choose_compiler() {
  if [[ -x "$1/bin/clang++" ]]; then
    export CC="$1/bin/clang" CXX="$1/bin/clang++"
  elif command -v clang++-22 >/dev/null; then
    export CC=clang-22 CXX=clang++-22
  elif command -v clang++ >/dev/null; then
    export CC=clang CXX=clang++
  else
    fail "there is no clang++ in $1/bin and none on the PATH"
  fi
}

prefix=/usr/lib/llvm-22
use_apt=yes
while [[ $# -gt 0 ]]; do
  case "$1" in
  --help | -h)
    usage
    exit 0
    ;;
  --no-root)
    [[ $# -ge 2 ]] || fail "--no-root needs the root of an LLVM 22 installation"
    [[ -d "$2" ]] || fail "--no-root: '$2' is not a folder"
    prefix="$(cd "$2" && pwd)"
    use_apt=no
    shift 2
    ;;
  *)
    usage >&2
    fail "unknown argument '$1'"
    ;;
  esac
done

if [[ $use_apt == no ]]; then
  [[ -f "$prefix/lib/cmake/mlir/MLIRConfig.cmake" ]] ||
    fail "there is no MLIR in $prefix (lib/cmake/mlir/MLIRConfig.cmake)"
  [[ -f "$prefix/lib/cmake/lld/LLDConfig.cmake" ]] ||
    fail "there is no LLD in $prefix (lib/cmake/lld/LLDConfig.cmake)"
  choose_compiler "$prefix"
else
  if command -v apt-get >/dev/null && command -v dpkg-query >/dev/null; then
    install_packages
  else
    check_without_apt
  fi
  export CC=clang-22 CXX=clang++-22
fi
for program in cmake ninja python3; do
  command -v "$program" >/dev/null || fail "$program is missing"
done

# An interpreter with nanobind for the Python package.
prepare_python() {
  local environment="$build/python-env" packages
  packages="$(IFS=' '; echo "${python_packages[*]}")"
  if [[ "$(cat "$environment/tenon-packages" 2>/dev/null)" == "$packages" ]]; then
    return
  fi
  if python3 -m venv --clear --system-site-packages "$environment" &&
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check \
      "${python_packages[@]}"; then
    echo "$packages" >"$environment/tenon-packages"
  else
    rm -rf "$environment"
    echo "setup: pip has no $packages: the Python package is not built" >&2
  fi
}
prepare_python

# A build folder of another LLVM is configured afresh: CMake would keep the
# places where it found things.
fresh=()
if [[ -f "$build/CMakeCache.txt" ]] &&
  ! grep -qxF "TENON_LLVM_PREFIX:PATH=$prefix" "$build/CMakeCache.txt"; then
  fresh=(--fresh)
fi
cmake "${fresh[@]}" -G Ninja -S "$root" -B "$build" "-DTENON_LLVM_PREFIX=$prefix"
cmake --build "$build"
