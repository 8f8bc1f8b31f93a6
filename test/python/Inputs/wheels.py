# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""wheels.py build FOLDER SOURCE [PIP OPTION...]: builds a wheel into FOLDER/dist, with what
this interpreter has instead of an environment of pip's own.
wheels.py site FOLDER: makes FOLDER/site a link to the packages of FOLDER/env.
wheels.py check FOLDER: lists the wheels, and compiles and runs a kernel with what is
installed in FOLDER/env, which need not have NumPy."""

import os
import pathlib
import subprocess
import sys

PROGRAM = """
import os, sys
import kda, tenon
assert os.path.realpath(tenon.__file__).startswith(os.path.realpath(sys.argv[1])), tenon
runtime = tenon.Runtime(jit="allow", cache_folder="")
device = tenon.Device(runtime, "sim")
tenon.ops.kda_decode(device, statics={"H": 1}, **kda.operands(1, 1))
print("launched on the simulator,", runtime.counters()["compiles"], "compiled")
"""


def build(folder, source, options):
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation"]
    pip += ["--no-deps", "--no-index", "--disable-pip-version-check"]
    subprocess.run(pip + ["-w", folder / "dist", *options, source], check=True)


def site(folder):
    code = "import sysconfig; print(sysconfig.get_path('platlib'))"
    python = folder / "env" / "bin" / "python"
    found = subprocess.run([python, "-c", code], capture_output=True, check=True)
    (folder / "site").symlink_to(found.stdout.decode().strip())


def check(folder):
    import numpy

    for wheel in sorted((folder / "dist").iterdir()):
        print(wheel.name, flush=True)
    paths = [os.path.dirname(__file__), os.path.dirname(os.path.dirname(numpy.__file__))]
    environment = {"PATH": "", "PYTHONPATH": os.pathsep.join(paths)}
    command = [folder / "env" / "bin" / "python", "-c", PROGRAM, folder / "site"]
    subprocess.run(command, env=environment, check=True)


def main():
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "build":
        build(folder, sys.argv[3], sys.argv[4:])
    elif sys.argv[1] == "site":
        site(folder)
    else:
        check(folder)


if __name__ == "__main__":
    main()
