/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Chains of instructions between which LLVM has to put wait states. Nothing
 * runs these kernels; their machine code is read.
 */

typedef float f2 __attribute__((ext_vector_type(2)));
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef double d4 __attribute__((ext_vector_type(4)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef _Float16 h2 __attribute__((ext_vector_type(2)));
typedef _Float16 h4 __attribute__((ext_vector_type(4)));
typedef _Float16 h8 __attribute__((ext_vector_type(8)));
typedef short s4 __attribute__((ext_vector_type(4)));

#define GLOBAL __attribute__((address_space(1)))
#define KERNEL __attribute__((amdgpu_kernel))

static unsigned item(void) { return __builtin_amdgcn_workitem_id_x(); }

static float lane_shift(float value) {
  return __builtin_bit_cast(
      float, __builtin_amdgcn_update_dpp(0, __builtin_bit_cast(int, value),
                                         0x111, 15, 15, 0));
}

/* Results of matrix products read by everything. */
KERNEL void read_results(GLOBAL f4 *data, GLOBAL h4 *halves,
                         GLOBAL float *out) {
  f4 c = data[item()];
  h4 a = halves[item()], b = halves[item() + 64];
  c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
  out[item()] = c.x;
  c = __builtin_amdgcn_mfma_f32_16x16x4f32(c.y, c.z, c, 0, 0, 0);
  out[item() + 64] = c.y + 1.0f;
  c = __builtin_amdgcn_mfma_f32_4x4x4f16(a, b, c, 0, 0, 0);
  out[item() + 128] = __builtin_amdgcn_exp2f(c.z);
  c = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, c, 0, 0, 0);
  out[item() + 192] = lane_shift(c.w);
  c = __builtin_amdgcn_mfma_f32_4x4x1f32(c.x, c.y, c, 0, 0, 0);
  h4 packed = {(_Float16)c.x, (_Float16)c.y, (_Float16)c.z, (_Float16)c.w};
  c = __builtin_amdgcn_mfma_f32_16x16x16f16(packed, packed, c, 0, 0, 0);
  data[item()] = c;
}

/* Large blocks, and small ones that read a part of their results. */
KERNEL void parts_of_accumulators(GLOBAL f16v *data, GLOBAL h4 *halves,
                                  GLOBAL f4 *out) {
  f16v c = data[item()];
  h4 a = halves[item()], b = halves[item() + 64];
  c = __builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0);
  f4 part = {c[4], c[5], c[6], c[7]};
  part = __builtin_amdgcn_mfma_f32_16x16x16f16(a, b, part, 0, 0, 0);
  out[item()] = part;
  c = __builtin_amdgcn_mfma_f32_32x32x2f32(part.x, part.y, c, 0, 0, 0);
  c = __builtin_amdgcn_mfma_f32_32x32x8f16(b, a, c, 0, 0, 0);
  data[item()] = c * c;
}

KERNEL void doubles(GLOBAL d4 *data, GLOBAL double *in, GLOBAL double *out) {
  d4 c = data[item()];
  double a = in[item()], b = in[item() + 64];
  c = __builtin_amdgcn_mfma_f64_16x16x4f64(a, b, c, 0, 0, 0);
  out[item()] = __builtin_fma(a, b, a);
  c = __builtin_amdgcn_mfma_f64_16x16x4f64(c.x, c.y, c, 0, 0, 0);
  double d = __builtin_amdgcn_mfma_f64_4x4x4f64(c.x, b, c.z, 0, 0, 0);
  d = __builtin_amdgcn_mfma_f64_4x4x4f64(a, b, d, 0, 0, 0);
  out[item() + 64] = d;
  out[item() + 128] = __builtin_fma(d, c.w, a);
  data[item()] = c;
}

/* Divisions, transcendentals, lanes, DPP, dot products, packed bytes. */
KERNEL void vector_chains(GLOBAL float *in, GLOBAL float *out, float x) {
  float a = in[item()], b = in[item() + 64];
  float quotient = a / b;
  out[item()] = quotient + __builtin_amdgcn_rcpf(b);
  out[item() + 64] = lane_shift(a * b) + lane_shift(lane_shift(a) + b);
  int first = __builtin_amdgcn_readfirstlane(__builtin_bit_cast(int, a + b));
  int lane = __builtin_amdgcn_readlane(__builtin_bit_cast(int, a - b), first);
  out[item() + 128] = __builtin_bit_cast(float, lane) * x;
  out[item() + first] = __builtin_amdgcn_sqrtf(__builtin_amdgcn_logf(a));
  h2 halves = {(_Float16)a, (_Float16)b};
  float dot = __builtin_amdgcn_fdot2(halves, halves, a, 0);
  out[item() + 192] = dot * __builtin_amdgcn_fdot2(halves, halves, dot, 0);
  int bytes = __builtin_amdgcn_cvt_pk_fp8_f32(a, b, 0, 0);
  bytes = __builtin_amdgcn_cvt_pk_fp8_f32(b, a, bytes, 1);
  bytes = __builtin_amdgcn_cvt_sr_fp8_f32(quotient, first, bytes, 1);
  bytes = __builtin_amdgcn_cvt_sr_bf8_f32(dot, first, bytes, 3);
  out[item() + 256] = __builtin_amdgcn_cvt_f32_fp8(bytes, 1);
}

KERNEL void wide_stores(GLOBAL f4 *out, float x) {
  f4 value = {x, x + 1, x + 2, x + 3};
  for (int i = 0; i < 4; ++i) {
    out[item() + 64 * i] = value;
    value *= value;
  }
}

#ifdef __gfx950__
typedef __bf16 b2 __attribute__((ext_vector_type(2)));
typedef __bf16 b8 __attribute__((ext_vector_type(8)));
typedef int i8 __attribute__((ext_vector_type(8)));

KERNEL void small_formats(GLOBAL f4 *data, GLOBAL i8 *codes, GLOBAL f16v *big,
                          int scale) {
  f4 c = data[item()];
  f16v d = big[item()];
  i8 a = codes[item()], b = codes[item() + 64];
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 0, 0, 0, scale,
                                                       0, scale);
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 4, 4, 1, scale,
                                                       2, scale);
  a.x = __builtin_bit_cast(int, c.x);
  c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a, b, c, 4, 2, 1, scale,
                                                       2, scale);
  d = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(b, a, d, 4, 4, 1, scale,
                                                      2, scale);
  f4 part = {d[0], d[1], d[2], d[3]};
  data[item()] = c + part;
  d = __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(b, a, d, 0, 4, 1, scale,
                                                      2, scale);
  big[item()] = d;
}

KERNEL void wide_products(GLOBAL f4 *data, GLOBAL b8 *brains,
                          GLOBAL h8 *halves) {
  f4 c = data[item()];
  b8 a = brains[item()], b = brains[item() + 64];
  c = __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
  c = __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
  a[0] = (__bf16)c.x;
  c = __builtin_amdgcn_mfma_f32_16x16x32_bf16(a, b, c, 0, 0, 0);
  c = __builtin_amdgcn_mfma_f32_16x16x32_f16(halves[item()],
                                             halves[item() + 64], c, 0, 0, 0);
  data[item()] = c;
}

KERNEL void scaled_conversions(GLOBAL float *in, GLOBAL int *out, float scale) {
  float a = in[item()], b = in[item() + 64];
  unsigned codes = 0;
  codes = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(codes, a, b, scale, 0);
  codes = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(codes, b, a, scale, 1);
  codes = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(codes, a, a, scale, 2);
  codes = __builtin_amdgcn_cvt_scalef32_pk_fp4_f32(codes, b, b, scale, 3);
  out[item()] = codes;
  f2 wide = __builtin_amdgcn_cvt_scalef32_pk_f32_fp4(codes, scale, 2);
  codes = __builtin_amdgcn_cvt_scalef32_sr_pk_fp4_f32(codes, wide, 3, scale, 1);
  out[item() + 64] = codes ^ 5;
  codes = __builtin_amdgcn_cvt_scalef32_sr_fp8_f32(codes, a, 7, scale, 2);
  out[item() + 128] = codes + 1;
  typedef unsigned u2 __attribute__((ext_vector_type(2)));
  u2 swapped = __builtin_amdgcn_permlane32_swap(codes, codes + 1, 0, 0);
  swapped = __builtin_amdgcn_permlane16_swap(swapped.x, swapped.y, 0, 0);
  out[item() + 192] = swapped.x * swapped.y;
}
#endif
