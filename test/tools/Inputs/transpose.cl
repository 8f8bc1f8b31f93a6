// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel of docs/how-to/find-what-is-slow.md; ROW is 64 or, without conflicts, 65.

kernel void transpose(global float *out, global const float *in) {
  local float tile[64][ROW];
  int column = __builtin_amdgcn_workitem_id_x() % 64;
  int wave = __builtin_amdgcn_workitem_id_x() / 64;
  int base = __builtin_amdgcn_workgroup_id_x() * 64 * 64;
  for (int row = wave; row < 64; row += 4)
    tile[row][column] = in[base + 64 * row + column];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  for (int row = wave; row < 64; row += 4)
    out[base + 64 * row + column] = tile[column][row];
}
