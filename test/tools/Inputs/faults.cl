// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For every check of the simulator a kernel with its fault and one without.
// They run as 2 workgroups of 128 with 1024 ints and an LDS of 128 ints.

#define LOCAL __builtin_amdgcn_workitem_id_x()
#define ID (__builtin_amdgcn_workgroup_id_x() * 128 + LOCAL)

kernel void lds_race_bad(global int *data) {
  local int values[128];
  values[LOCAL] = data[ID];
  data[ID] = values[127 - LOCAL];
}
kernel void lds_race_good(global int *data) {
  local int values[128];
  values[LOCAL] = data[ID];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  data[ID] = values[127 - LOCAL];
}

kernel void global_race_bad(global int *data) { data[LOCAL] = 1; }
kernel void global_race_good(global int *data) { data[ID] = 1; }

kernel void wait_bad(global int *data) {
  int value;
  __asm__ volatile("global_load_dword v40, %1, off\n"
                   "v_add_u32 %0, v40, v40\n"
                   "s_waitcnt vmcnt(0)"
                   : "=&v"(value) : "v"(data + ID) : "v40");
  data[ID] = value;
}
kernel void wait_good(global int *data) {
  int value;
  __asm__ volatile("global_load_dword v40, %1, off\n"
                   "s_waitcnt vmcnt(0)\n"
                   "v_add_u32 %0, v40, v40"
                   : "=&v"(value) : "v"(data + ID) : "v40");
  data[ID] = value;
}

kernel void hazard_bad(global int *data) {
  __asm__ volatile("v_cmp_ne_u32 vcc, 0, %0\n"
                   "v_div_fmas_f32 v40, 1.0, 1.0, 1.0"
                   : : "v"((int)ID) : "v40", "vcc");
}
kernel void hazard_good(global int *data) {
  __asm__ volatile("v_cmp_ne_u32 vcc, 0, %0\n"
                   "s_nop 3\n"
                   "v_div_fmas_f32 v40, 1.0, 1.0, 1.0\n"
                   "s_nop 4"
                   : : "v"((int)ID) : "v40", "vcc");
}

kernel void uninit_bad(global int *data) {
  int value;
  __asm__ volatile("v_mov_b32 %0, v41" : "=v"(value) : : "v41");
  data[ID] = value;
}
kernel void uninit_good(global int *data) {
  int value;
  __asm__ volatile("v_mov_b32 v41, 5\nv_mov_b32 %0, v41"
                   : "=v"(value) : : "v41");
  data[ID] = value;
}

kernel void bounds_bad(global int *data) { data[ID + 800] = 1; }
kernel void bounds_good(global int *data) { data[ID + 700] = 1; }

kernel void align_bad(global int *data) {
  __asm__ volatile("global_store_dword %0, %1, off offset:2"
                   : : "v"(data + ID), "v"(1) : "memory");
}
kernel void align_good(global int *data) {
  __asm__ volatile("global_store_dword %0, %1, off offset:4"
                   : : "v"(data + 2 * ID), "v"(1) : "memory");
}

kernel void barrier_bad(global int *data) {
  if (LOCAL < 64) {
    __asm__ volatile("s_barrier");
  }
}
kernel void barrier_good(global int *data) { __asm__ volatile("s_barrier"); }

kernel void budget_bad(global int *data) {
  for (;;) {
    __asm__ volatile("s_nop 0");
  }
}
kernel void budget_good(global int *data) {
  for (int i = 0; i < 100; ++i) {
    __asm__ volatile("s_nop 0");
  }
}

kernel void unknown(global int *data) {
  __asm__ volatile("tbuffer_load_format_x v1, off, s[8:11], 0 "
                   "format:[BUF_DATA_FORMAT_32]" : : : "v1");
}
