# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Public hand-written GEMM code objects as a test of the simulator.

launch     which arguments and which grid an object takes for a problem, and what
           memory; knows no values
formats    the number formats
layouts    the orders in which the kernels expect operands and scales
operands   values of the operands, and what the kernel has to compute from them
cases      which problems are run
simulate   one launch through `tenon sim`
compare    the errors of a result

The code objects belong to another project and are not in this one.
"""
