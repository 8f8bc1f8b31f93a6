//===- Workloads.c - small kernels compiled by clang ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled at -O0 and -O3 for the tests of the simulator; nothing here is
// written with the simulator in mind.
//
//===----------------------------------------------------------------------===//

#define KERNEL __attribute__((amdgpu_kernel))
#define LDS __attribute__((address_space(3)))

typedef unsigned int u32;
typedef unsigned long u64;

static u32 itemId(void) {
  return __builtin_amdgcn_workgroup_id_x() *
             __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

KERNEL void saxpy(float *y, const float *x, float a, u32 n) {
  u32 i = itemId();
  if (i < n) {
    y[i] = a * x[i] + y[i];
  }
}

/// Sum over a workgroup of 256 in LDS, with barriers.
static LDS float partial[256] __attribute__((loader_uninitialized));
KERNEL void reduceSum(float *out, const float *in) {
  u32 t = __builtin_amdgcn_workitem_id_x();
  partial[t] = in[itemId()];
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  for (u32 width = 128; width; width /= 2) {
    if (t < width) {
      partial[t] += partial[t + width];
    }
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  }
  if (t == 0) {
    out[__builtin_amdgcn_workgroup_id_x()] = partial[0];
  }
}

/// Divergent loops: the length of the Collatz sequence.
KERNEL void collatz(u32 *out, const u32 *in) {
  u32 i = itemId();
  u64 value = in[i];
  u32 steps = 0;
  while (value != 1) {
    value = value % 2 ? 3 * value + 1 : value / 2;
    ++steps;
  }
  out[i] = steps;
}

/// Private arrays with run-time indices: scratch memory.
KERNEL void sortSmall(int *data) {
  int values[16];
  u32 i = itemId();
  for (int k = 0; k < 16; ++k) {
    values[k] = data[i * 16 + k];
  }
  for (int a = 1; a < 16; ++a) {
    int value = values[a], b = a - 1;
    while (b >= 0 && values[b] > value) {
      values[b + 1] = values[b];
      --b;
    }
    values[b + 1] = value;
  }
  for (int k = 0; k < 16; ++k) {
    data[i * 16 + k] = values[k];
  }
}

/// 64-bit integer arithmetic, division included.
KERNEL void mix64(u64 *out, const u64 *in) {
  u32 i = itemId();
  u64 x = in[i];
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdul;
  x ^= x >> 29;
  x = x / (in[i] % 1000 + 1) + (u64)((long)x >> 7) + x % 977;
  out[i] = x;
}

/// Float division and square root expand to long exact sequences.
KERNEL void divideSqrt(float *out, const float *a, const float *b) {
  u32 i = itemId();
  out[i] = a[i] / b[i] + __builtin_sqrtf(b[i] < 0 ? -b[i] : b[i]);
}

KERNEL void divideDouble(double *out, const double *a, const double *b) {
  u32 i = itemId();
  out[i] = a[i] / b[i] + __builtin_sqrt(b[i] < 0 ? -b[i] : b[i]);
}

/// Bytes, shorts and halves.
KERNEL void narrowTypes(short *out, const signed char *a, const unsigned char *b,
                        const _Float16 *h) {
  u32 i = itemId();
  _Float16 product = h[i] * (_Float16)a[i] + (_Float16)b[i];
  out[i] = (short)(a[i] * b[i]) + (short)(product * (_Float16)0.25f);
}

/// Atomics in memory and a grid in three dimensions.
KERNEL void histogram3d(u32 *bins, u32 *visits) {
  u32 x = __builtin_amdgcn_workgroup_id_x() * 4 +
          __builtin_amdgcn_workitem_id_x();
  u32 y = __builtin_amdgcn_workgroup_id_y() * 4 +
          __builtin_amdgcn_workitem_id_y();
  u32 z = __builtin_amdgcn_workgroup_id_z() * 4 +
          __builtin_amdgcn_workitem_id_z();
  __atomic_fetch_add(&bins[(x * 7 + y * 3 + z) % 16], 1u, __ATOMIC_RELAXED);
  visits[(z * 8 + y) * 8 + x] = x | y << 8 | z << 16;
}

/// Calls that are not inlined, and recursion through memory.
__attribute__((noinline)) static u32 gcd(u32 a, u32 b) {
  return b == 0 ? a : gcd(b, a % b);
}
KERNEL void greatestDivisor(u32 *out, const u32 *a, const u32 *b) {
  u32 i = itemId();
  out[i] = gcd(a[i], b[i]);
}

/// A table in the code object's constant memory.
static const u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
KERNEL void lookUp(u32 *out, const u32 *in) {
  u32 i = itemId();
  out[i] = table[in[i] % 16] * 100 + table[(in[i] / 16) % 16];
}
