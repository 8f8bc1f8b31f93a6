# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Public hand-written code objects and published times as a test of the simulator.

launch     which arguments and which grid a GEMM takes for a problem, and what
           memory; knows no values
mla        the same, values and results of a decode over a latent cache
kda        the launch of our own decode kernel
formats    the number formats
layouts    the orders in which the kernels expect operands and scales
operands   values of the operands, and what the kernel has to compute from them
cases      which problems are run
options    options that the programs beside this package have in common
simulate   one launch through `tenon sim`
timing     the modelled time of one launch, or of many
curves     published times of the decode kernels, and what the model says of them
compare    the errors of a result

The code objects belong to another project and are not in this one.
"""
