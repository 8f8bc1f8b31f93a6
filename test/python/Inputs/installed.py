# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""installed.py FOLDER: uses the package that is installed there, without a compiler."""

import os
import sys

import kda
import tenon

folder = sys.argv[1]
if not os.path.samefile(os.path.dirname(tenon.__file__), os.path.join(folder, "tenon")):
    sys.exit(f"the package of {tenon.__file__} was loaded")
runtime = tenon.Runtime(cache_folder="")
runtime.load(os.path.join(folder, "kda.tenon"))
device = tenon.Device(runtime, "null")
tenon.ops.kda_decode(device, statics={"H": 2}, **kda.operands(2, 2))
print(runtime.counters()["launches"], "launched")
try:
    tenon.Kernel(device, "kda_decode", {"H": 3})
except tenon.CompileFailed as error:
    print("the compiler:", error)
