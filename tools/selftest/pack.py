#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the self-test for owners of a GPU: the runtime, a bundle of the kernels, the
cases with what the simulator computed and how long it thinks that they take, and the
program that compares. No compiler and no Python are in it."""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent

README = """Self-test of Tenon on an AMD Instinct MI355X (gfx950)

  ./selftest.sh

runs every kernel of data/kernels.tenon through HIP (ROCm 6 or 7), compares its results
with those of the simulator and its times with the modelled ones, and writes result.json.
It takes some minutes. Please send that file: the table of the README of Tenon is made of
such files.
"""

SCRIPT = """#!/bin/sh
cd "$(dirname "$0")" && exec bin/tenon-selftest --device hip -o result.json "$@"
"""


def settings(statics):
    return dict(pair.split("=", 1) for pair in statics.split(",") if pair)


def manifest(cases):
    """The kernels that the cases need, each once."""
    kernels = {}
    for case in cases:
        entry = {"op": case["op"]}
        if case.get("statics"):
            entry["set"] = settings(case["statics"])
        kernels[json.dumps(entry, sort_keys=True)] = entry
    return {"version": 1, "target": "gfx950", "kernels": list(kernels.values())}


def prepare(build, folder, chosen):
    """Writes kernels.tenon and cases.json, with what is expected, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    source = json.loads((HERE / "cases.json").read_text())
    if chosen:
        source["cases"] = [case for case in source["cases"] if chosen in case["name"]]
    (folder / "manifest.json").write_text(json.dumps(manifest(source["cases"])))
    bundle = folder / "kernels.tenon"
    tenon = build / "bin" / "tenon"
    subprocess.run([tenon, "bundle", folder / "manifest.json", "-o", bundle], check=True)
    (folder / "manifest.json").unlink()
    (folder / "cases.json").write_text(json.dumps(source))
    environment = dict(os.environ, LD_LIBRARY_PATH=str(build / "lib" / "hip-stand-in"))
    command = [build / "bin" / "tenon-selftest", "--device", "hip", "--data", folder]
    command += ["--launches", "1", "--flush-bytes", "0"]
    command += ["--record", folder / "cases.json"]
    subprocess.run(command, check=True, env=environment)


def pack(build, root, archive):
    for part in ("bin", "lib"):
        (root / part).mkdir()
    shutil.copy(build / "bin" / "tenon-selftest", root / "bin")
    library = "libtenon_runtime.so.0"
    shutil.copy((build / "lib" / library).resolve(), root / "lib" / library)
    shutil.copy(HERE.parent.parent / "LICENSE", root)
    (root / "README").write_text(README)
    (root / "selftest.sh").write_text(SCRIPT)
    (root / "selftest.sh").chmod(0o755)
    with tarfile.open(archive, "w:gz") as out:
        out.add(root, "tenon-selftest")
    print(f"{archive}: {archive.stat().st_size} bytes")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path, help="the build folder")
    parser.add_argument(
        "--data-only", type=pathlib.Path, help="only write the data, into this folder"
    )
    parser.add_argument(
        "-o",
        "--output",
        type=pathlib.Path,
        help="the archive (default: tenon-selftest.tar.gz in the build folder)",
    )
    parser.add_argument("--filter", help="only cases whose names contain this")
    args = parser.parse_args()
    build = args.build.resolve()
    if args.data_only:
        prepare(build, args.data_only, args.filter)
        return
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        prepare(build, root / "data", args.filter)
        pack(build, root, args.output or build / "tenon-selftest.tar.gz")


if __name__ == "__main__":
    main()
