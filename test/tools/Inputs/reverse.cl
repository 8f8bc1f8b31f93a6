// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reverses 256 integers within each workgroup.

kernel void reverse(global int *data) {
  local int tile[256];
  int item = __builtin_amdgcn_workitem_id_x();
  int group = __builtin_amdgcn_workgroup_id_x();
  tile[item] = data[256 * group + item];
  data[256 * group + item] = tile[255 - item];
}

// The same with the barrier that it needs.
kernel void reverse_fixed(global int *data) {
  local int tile[256];
  int item = __builtin_amdgcn_workitem_id_x();
  int group = __builtin_amdgcn_workgroup_id_x();
  tile[item] = data[256 * group + item];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  data[256 * group + item] = tile[255 - item];
}

// An array and numbers that are found through a table in memory.
struct Table {
  global int *out;
  int step, first;
};
kernel void from_table(global const struct Table *table) {
  int i = __builtin_amdgcn_workitem_id_x();
  table->out[i] = table->first + i * table->step;
}

// Writes 16 bytes per item, to stay in the caches or to stream past them.
typedef float float4 __attribute__((ext_vector_type(4)));
kernel void fill(global float4 *out) {
  int item = __builtin_amdgcn_workitem_id_x();
  out[256 * __builtin_amdgcn_workgroup_id_x() + item] = (float4)(1);
}
kernel void fill_streaming(global float4 *out) {
  int item = __builtin_amdgcn_workitem_id_x();
  int group = __builtin_amdgcn_workgroup_id_x();
  __builtin_nontemporal_store((float4)(1), &out[256 * group + item]);
}
