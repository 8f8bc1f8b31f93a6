//===- Groups.c - kernels whose work-items work together ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LDS, barriers, atomics and exchanges between lanes, written as any kernel in
// C would be; the test computes what they should give.
//
//===----------------------------------------------------------------------===//

#define KERNEL __attribute__((amdgpu_kernel))
#define LDS __attribute__((address_space(3)))
#define UNINITIALISED __attribute__((loader_uninitialized))

typedef unsigned int u32;
typedef unsigned long u64;
typedef int i32;

static u32 localId(void) { return __builtin_amdgcn_workitem_id_x(); }
static u32 groupId(void) { return __builtin_amdgcn_workgroup_id_x(); }
static u32 globalId(void) { return groupId() * 256 + localId(); }

static void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/// Inclusive sums over a workgroup, by doubling distances.
static LDS u32 sums[2][256] UNINITIALISED;
KERNEL void prefixScan(u32 *out, const u32 *in) {
  u32 t = localId(), from = 0;
  sums[0][t] = in[globalId()];
  barrier();
  for (u32 distance = 1; distance < 256; distance *= 2) {
    u32 value = sums[from][t];
    sums[1 - from][t] = t >= distance ? value + sums[from][t - distance] : value;
    from = 1 - from;
    barrier();
  }
  out[globalId()] = sums[from][t];
}

/// Sorts 256 numbers by a bitonic network.
static LDS u32 keys[256] UNINITIALISED;
KERNEL void bitonicSort(u32 *data) {
  u32 t = localId();
  keys[t] = data[globalId()];
  barrier();
  for (u32 size = 2; size <= 256; size *= 2) {
    for (u32 distance = size / 2; distance; distance /= 2) {
      u32 other = t ^ distance;
      if (other > t) {
        u32 a = keys[t], b = keys[other];
        if ((a > b) == !(t & size)) {
          keys[t] = b;
          keys[other] = a;
        }
      }
      barrier();
    }
  }
  data[globalId()] = keys[t];
}

/// A product of 64x64 matrices by tiles of 16x16; blocks of 16x16 work-items.
static LDS float tileA[16][17] UNINITIALISED;
static LDS float tileB[16][17] UNINITIALISED;
KERNEL void matrixProduct(float *c, const float *a, const float *b) {
  u32 x = __builtin_amdgcn_workitem_id_x(), y = __builtin_amdgcn_workitem_id_y();
  u32 row = __builtin_amdgcn_workgroup_id_y() * 16 + y, column = groupId() * 16 + x;
  float sum = 0;
  for (u32 k = 0; k < 64; k += 16) {
    tileA[y][x] = a[row * 64 + k + x];
    tileB[y][x] = b[(k + y) * 64 + column];
    barrier();
    for (u32 j = 0; j < 16; ++j) {
      sum += tileA[y][j] * tileB[j][x];
    }
    barrier();
  }
  c[row * 64 + column] = sum;
}

/// A transform of 256 numbers modulo 2^16 + 1 by butterflies; w has order 256.
static LDS u32 points[256] UNINITIALISED;
static u32 power(u32 base, u32 exponent) {
  u32 result = 1;
  for (; exponent; exponent >>= 1) {
    result = exponent & 1 ? (u32)((u64)result * base % 65537) : result;
    base = (u32)((u64)base * base % 65537);
  }
  return result;
}
KERNEL void transform(u32 *data, u32 w) {
  u32 t = localId();
  points[__builtin_bitreverse32(t) >> 24] = data[globalId()] % 65537;
  barrier();
  for (u32 half = 1; half < 256; half *= 2) {
    if (t < 128) {
      u32 k = t % half, low = t / half * 2 * half + k;
      u32 odd = (u32)((u64)points[low + half] *
                      power(w, k * (128 / half)) % 65537);
      u32 even = points[low];
      points[low] = (even + odd) % 65537;
      points[low + half] = (even + 65537 - odd) % 65537;
    }
    barrier();
  }
  data[globalId()] = points[t];
}

/// Counts in LDS, then in memory.
static LDS u32 counts[64] UNINITIALISED;
KERNEL void histogram(u32 *bins, const u32 *in) {
  if (localId() < 64) {
    counts[localId()] = 0;
  }
  barrier();
  __atomic_fetch_add(&counts[in[globalId()] % 64], 1u, __ATOMIC_RELAXED);
  barrier();
  if (localId() < 64) {
    __atomic_fetch_add(&bins[localId()], counts[localId()], __ATOMIC_RELAXED);
  }
}

/// Every integer atomic in memory, 32 and 64 bits.
KERNEL void integerAtomics(u32 *small, u64 *large, const u32 *in) {
  u32 value = in[globalId()];
  u64 wide = (u64)value * 0x100000001ul;
  __atomic_fetch_add(&small[0], value, __ATOMIC_RELAXED);
  __atomic_fetch_sub(&small[1], value, __ATOMIC_RELAXED);
  __atomic_fetch_and(&small[2], value | 1, __ATOMIC_RELAXED);
  __atomic_fetch_or(&small[3], value & 0xFF0, __ATOMIC_RELAXED);
  __atomic_fetch_xor(&small[4], value, __ATOMIC_RELAXED);
  __atomic_fetch_min(&small[5], value, __ATOMIC_RELAXED);
  __atomic_fetch_max(&small[6], value, __ATOMIC_RELAXED);
  __atomic_fetch_min((i32 *)&small[7], (i32)value, __ATOMIC_RELAXED);
  __atomic_fetch_max((i32 *)&small[8], (i32)value, __ATOMIC_RELAXED);
  __atomic_fetch_add(&large[0], wide, __ATOMIC_RELAXED);
  __atomic_fetch_xor(&large[1], wide, __ATOMIC_RELAXED);
  __atomic_fetch_min(&large[2], wide, __ATOMIC_RELAXED);
  __atomic_fetch_max((long *)&large[3], (long)wide, __ATOMIC_RELAXED);
}

/// Sums of floats and doubles, and a loop of comparing and swapping.
KERNEL void floatAtomics(float *sum, double *wide, u32 *product, const u32 *in) {
  u32 value = in[globalId()] % 1000;
  __atomic_fetch_add(sum, (float)value, __ATOMIC_RELAXED);
  __atomic_fetch_add(wide, (double)value, __ATOMIC_RELAXED);
  u32 old = __atomic_load_n(product, __ATOMIC_RELAXED), next;
  do {
    next = old * (2 * value + 1);
  } while (!__atomic_compare_exchange_n(product, &old, next, 0,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static LDS float localSum UNINITIALISED;
static LDS double localWide UNINITIALISED;
static LDS u32 localProduct UNINITIALISED;
KERNEL void localAtomics(float *out, u32 *product, const u32 *in) {
  if (localId() == 0) {
    localSum = 0;
    localWide = 0;
    localProduct = 1;
  }
  barrier();
  u32 value = in[globalId()] % 1000;
  __atomic_fetch_add(&localSum, (float)value, __ATOMIC_RELAXED);
  __atomic_fetch_add(&localWide, (double)value, __ATOMIC_RELAXED);
  // A read of its own would be a plain one in the machine code, which nothing
  // tells from a race.
  u32 old = 1;
  while (!__atomic_compare_exchange_n(&localProduct, &old, old * (2 * value + 1),
                                      0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  barrier();
  if (localId() == 0) {
    out[2 * groupId()] = localSum;
    out[2 * groupId() + 1] = (float)localWide;
    product[groupId()] = localProduct;
  }
}

/// Exchanges between the lanes of a wave.
KERNEL void exchanges(u32 *out, const u32 *in) {
  u32 lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
  u32 value = in[globalId()];
  u32 *to = out + globalId() * 8;
  to[0] = (u32)__builtin_amdgcn_ds_bpermute((i32)((lane ^ 21) * 4), (i32)value);
  to[1] = (u32)__builtin_amdgcn_ds_permute((i32)((lane ^ 9) * 4), (i32)value);
  to[2] = (u32)__builtin_amdgcn_readlane((i32)value, 17);
  to[3] = (u32)__builtin_amdgcn_readfirstlane((i32)value);
  to[4] = (u32)__builtin_amdgcn_update_dpp(7, (i32)value, 0x111, 0xF, 0xF, 0);
  to[5] = (u32)__builtin_amdgcn_ds_swizzle((i32)value, 0x041F);
  u64 odd = __builtin_amdgcn_ballot_w64(value & 1);
  to[6] = (u32)__builtin_popcountl(odd) * 100 +
          __builtin_amdgcn_mbcnt_hi((u32)(odd >> 32),
                                    __builtin_amdgcn_mbcnt_lo((u32)odd, 0));
  u32 sum = value; // over rows of 16
  sum += (u32)__builtin_amdgcn_update_dpp(0, (i32)sum, 0x128, 0xF, 0xF, 1);
  sum += (u32)__builtin_amdgcn_update_dpp(0, (i32)sum, 0x124, 0xF, 0xF, 1);
  sum += (u32)__builtin_amdgcn_update_dpp(0, (i32)sum, 0x122, 0xF, 0xF, 1);
  sum += (u32)__builtin_amdgcn_update_dpp(0, (i32)sum, 0x121, 0xF, 0xF, 1);
  to[7] = sum;
}

/// Keeps what divides by three; places come from ballots and one counter.
KERNEL void compact(u32 *out, u32 *count, const u32 *in) {
  u32 value = in[globalId()];
  int keep = value % 3 == 0;
  u64 mask = __builtin_amdgcn_ballot_w64(keep);
  u32 before = __builtin_amdgcn_mbcnt_hi(
      (u32)(mask >> 32), __builtin_amdgcn_mbcnt_lo((u32)mask, 0));
  u32 base = 0;
  if (before == 0 && keep) {
    base = __atomic_fetch_add(count, (u32)__builtin_popcountl(mask),
                              __ATOMIC_RELAXED);
  }
  if (keep) {
    base = (u32)__builtin_amdgcn_readfirstlane((i32)base);
    out[base + before] = value;
  }
}

/// The last workgroup to finish adds up what the others left in memory.
static LDS u32 isLast UNINITIALISED;
KERNEL void lastGroupSums(u32 *out, u32 *parts, u32 *ticket, const u32 *in,
                          u32 groups) {
  parts[globalId()] = in[globalId()] * 3;
  barrier();
  if (localId() == 0) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
    isLast = __atomic_fetch_add(ticket, 1u, __ATOMIC_ACQ_REL) == groups - 1;
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
  barrier();
  if (isLast) {
    u32 sum = 0;
    for (u32 g = 0; g < groups; ++g) {
      sum += parts[g * 256 + localId()];
    }
    out[localId()] = sum;
  }
}

/// A generic pointer to memory, LDS or a private array, chosen per item.
static LDS u32 shared[256] UNINITIALISED;
__attribute__((noinline)) static void addTo(u32 *place, u32 value) {
  *place += value;
}
KERNEL void genericPointers(u32 *out, u32 *memory, const u32 *in) {
  u32 t = localId(), own[2] = {5, 6};
  shared[t] = 7;
  u32 value = in[globalId()];
  u32 *place = value % 3 == 0   ? &memory[globalId()]
               : value % 3 == 1 ? (u32 *)&shared[t]
                                : &own[value / 3 % 2];
  addTo(place, value);
  out[globalId()] = memory[globalId()] + 3 * shared[t] + 5 * own[0] + 7 * own[1];
}

/// LDS whose size the launch gives; two arrays one after the other.
extern LDS u32 dynamicWords[];
KERNEL void dynamicLds(u32 *out, const u32 *in, u32 n) {
  for (u32 k = localId(); k < n; k += 256) {
    dynamicWords[k] = in[k];
    dynamicWords[n + k] = in[k] * 2;
  }
  barrier();
  for (u32 k = localId(); k < n; k += 256) {
    out[k] = dynamicWords[n - 1 - k] + dynamicWords[n + (k * 7) % n];
  }
}

/// What the launch tells the kernel, by the hidden arguments.
KERNEL void launchFacts(u32 *out) {
  if (__builtin_amdgcn_workgroup_id_x() == 1 &&
      __builtin_amdgcn_workgroup_id_y() == 1 &&
      __builtin_amdgcn_workgroup_id_z() == 3 && localId() == 2 &&
      __builtin_amdgcn_workitem_id_y() == 1 &&
      __builtin_amdgcn_workitem_id_z() == 0) {
    out[0] = __builtin_amdgcn_workgroup_size_x();
    out[1] = __builtin_amdgcn_workgroup_size_y();
    out[2] = __builtin_amdgcn_workgroup_size_z();
    out[3] = __builtin_amdgcn_grid_size_x();
    out[4] = __builtin_amdgcn_grid_size_y();
    out[5] = __builtin_amdgcn_grid_size_z();
    out[6] = localId() + 100 * __builtin_amdgcn_workitem_id_y();
  }
}
