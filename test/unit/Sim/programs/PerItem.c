//===- PerItem.c - kernels of the programs that the host runs too ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PerItem.h"

#define MAKE_KERNEL(name)                                                      \
  __attribute__((amdgpu_kernel)) void name##Kernel(u64 *out, const u64 *in) {  \
    u32 i = __builtin_amdgcn_workgroup_id_x() *                                \
                __builtin_amdgcn_workgroup_size_x() +                          \
            __builtin_amdgcn_workitem_id_x();                                  \
    out[i] = name(i, in);                                                      \
  }

PER_ITEM_PROGRAMS(MAKE_KERNEL)
