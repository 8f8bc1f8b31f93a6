# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lit suite of Tenon. Its folders are the levels; test/unit has its own."""

import os
import shutil
import subprocess

import lit.formats

config.name = "tenon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(os.path.abspath(__file__))
config.test_exec_root = os.path.join(config.tenon_build, "test")

config.environment["PATH"] = os.pathsep.join(
    [
        os.path.join(config.tenon_build, "bin"),
        config.llvm_tools,
        config.environment.get("PATH", ""),
    ]
)

# Compiled kernels are not kept in the user's folder.
config.environment["TENON_CACHE_DIR"] = os.path.join(config.tenon_build, "test", "cache")

# expect-exit CODE COMMAND...: passes when the command ends with this code.
testing = os.path.join(config.tenon_source, "tools", "testing")
config.substitutions += [
    ("expect-exit", f'"{config.python}" "{testing}/expect_exit.py"'),
    ("%{lint}", f'"{config.python}" "{testing}/lint.py"'),
    ("%{python}", f'"{config.python}"'),
    ("%{source}", config.tenon_source),
    ("%{build}", config.tenon_build),
    ("%{specs}", f'"{config.tenon_source}/kernels_spec"'),
]


def is_git_checkout(folder):
    if not shutil.which("git"):
        return False
    command = ["git", "-c", "safe.directory=*", "-C", folder, "rev-parse"]
    return subprocess.run(command, capture_output=True).returncode == 0


# A copy of ROCm/aiter, whose code objects test/foreign executes.
if os.environ.get("TENON_AITER_DIR"):
    config.environment["TENON_AITER_DIR"] = os.environ["TENON_AITER_DIR"]
    config.available_features.add("foreign-objects")
else:
    lit_config.note("TENON_AITER_DIR is not set: foreign code objects are not run")
probe = [config.python, "-c", "import numpy"]
if subprocess.run(probe, capture_output=True).returncode == 0:
    config.available_features.add("numpy")
else:
    lit_config.note(f"{config.python} has no numpy: test/foreign is not complete")

if config.fuzzers:
    config.available_features.add("fuzzers")
    config.substitutions.append(("%{fuzz}", f'"{config.tenon_build}/test/fuzz"'))
else:
    lit_config.note("there is no libFuzzer: test/fuzz is not run")

# Programs against an installed Tenon.
if all(shutil.which(name) for name in ("cc", "c++", "cmake", "pkg-config")):
    config.available_features.add("c-programs")
else:
    lit_config.note("one of cc, c++, cmake and pkg-config is missing: programs "
                    "against an installed Tenon are not built")

# The HIP library of ROCm without a GPU, such as Debian's libamdhip64-5 (200 MB with what
# it needs, so tools/setup.sh does not install it).
probe = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
names = [f"libamdhip64.so.{version}" for version in (7, 6, 5)]
if os.path.exists("/dev/kfd"):
    lit_config.note("there is a GPU: HIP without one is not tested")
elif any(
    subprocess.run([config.python, "-c", probe, name], capture_output=True).returncode
    == 0
    for name in names
):
    config.available_features.add("hip-library")
else:
    lit_config.note("HIP is not installed: its own library is not tested")

# The Python package, where it is built.
if config.package_python:
    config.available_features.add("python-package")
    config.substitutions.append(
        ("%{package-interpreter}", f'"{config.package_python}"')
    )
    config.substitutions.append(
        (
            "%{package-python}",
            f'env "PYTHONPATH={config.tenon_build}/python" "{config.package_python}"',
        )
    )
    probe = [config.package_python, "-c", "import numpy; print(numpy.__file__)"]
    found = subprocess.run(probe, capture_output=True, text=True)
    folder = os.path.dirname(os.path.dirname(found.stdout.strip()))
    config.substitutions.append(("%{numpy-folder}", f'"{folder}"'))
    probe = [config.package_python, "-c", "import pip, scikit_build_core"]
    if subprocess.run(probe, capture_output=True).returncode == 0:
        config.available_features.add("wheels")
    else:
        lit_config.note("pip or scikit-build-core is missing: no wheels are built")
    if os.environ.get("TENON_TEST_WHEEL"):
        config.available_features.add("runtime-wheel")
    else:
        lit_config.note("TENON_TEST_WHEEL is not set: no wheel of the runtime is built")
else:
    lit_config.note("the Python package is not built: test/python is not run")

# What the checks of the files themselves need.
if is_git_checkout(config.tenon_source):
    config.available_features.add("git-checkout")
else:
    lit_config.note("not a git checkout: the files themselves are not checked")
if shutil.which("clang-format-22", path=config.environment["PATH"]):
    config.available_features.add("clang-format")
else:
    lit_config.note("clang-format-22 is not installed: formatting is not checked")
