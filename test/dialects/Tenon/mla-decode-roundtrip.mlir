// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// The dense form, with lse.
!q = memref<?x?x12x576xbf16, strided<[?, ?, ?, 1]>>
!kv = memref<?x?x576xbf16, strided<[?, ?, 1]>>
!table = memref<?x?xi32, strided<[?, 1]>>
!out = memref<?x?x12x512xbf16, strided<[?, ?, ?, 1]>>
!lse = memref<?x?x12xf32, strided<[?, ?, 1]>>
// CHECK-LABEL: func.func @dense
// CHECK: tenon.mla_decode q(%{{.*}} : memref<?x?x12x576xbf16, strided<[?, ?, ?, 1]>>) kv(%{{.*}} : memref<?x?x576xbf16, strided<[?, ?, 1]>>) block_table(%{{.*}} : memref<?x?xi32, strided<[?, 1]>>) seq_len(%{{.*}} : memref<?xi32>) out(%{{.*}} : memref<?x?x12x512xbf16, strided<[?, ?, ?, 1]>>) lse(%{{.*}} : memref<?x?x12xf32, strided<[?, ?, 1]>>) cp_rank(%{{.*}}) {causal = true, cp_interleave = 1 : i64, cp_size = 1 : i64, max_queries = 4 : i64, scale = 1.250000e-01 : f64}
func.func @dense(%q: !q, %kv: !kv, %table: !table, %len: memref<?xi32>, %out: !out, %lse: !lse, %rank: index) {
  tenon.mla_decode q(%q : !q) kv(%kv : !kv) block_table(%table : !table) seq_len(%len : memref<?xi32>)
    out(%out : !out) lse(%lse : !lse) cp_rank(%rank)
    {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// Packed tokens in two tensors of FP8 on an FP8 cache, a plan, and dense strides.
!packed = memref<?x96x512xf8E4M3FN>
!rope = memref<?x96x64xf8E4M3FN, strided<[?, ?, 1]>>
!kv8 = memref<?x?x576xf8E4M3FN, strided<[?, 576, 1]>>
// CHECK-LABEL: func.func @packed
// CHECK: tenon.mla_decode q({{.*}}) q_rope({{.*}}) qo_indptr(%{{.*}} : memref<?xi32>) kv({{.*}}) block_table({{.*}}) seq_len({{.*}}) q_scale(%{{.*}} : memref<1xf32>) kv_scale(%{{.*}} : memref<1xf32>) plan(%{{.*}} : memref<?x4xi32>) out({{.*}}) cp_rank({{.*}}) {bf16_probabilities, causal = false, cp_interleave = 16 : i64, cp_size = 8 : i64,
func.func @packed(%q: !packed, %r: !rope, %ptr: memref<?xi32>, %kv: !kv8, %table: memref<?x?xi32>, %len: memref<?xi32>,
    %s: memref<1xf32>, %plan: memref<?x4xi32>, %out: memref<?x96x512xf32>, %rank: index) {
  tenon.mla_decode q(%q : !packed) q_rope(%r : !rope) qo_indptr(%ptr : memref<?xi32>) kv(%kv : !kv8)
    block_table(%table : memref<?x?xi32>) seq_len(%len : memref<?xi32>) q_scale(%s : memref<1xf32>)
    kv_scale(%s : memref<1xf32>) plan(%plan : memref<?x4xi32>) out(%out : memref<?x96x512xf32>) cp_rank(%rank)
    {max_queries = 16 : i64, causal = false, scale = 0.125 : f64, cp_size = 8 : i64, cp_interleave = 16 : i64,
     bf16_probabilities}
  return
}

// CHECK-LABEL: func.func @plan
// CHECK: tenon.mla_plan seq_len(%{{.*}} : memref<?xi32>) plan(%{{.*}} : memref<?x4xi32>) cp_rank(%{{.*}}) {cp_interleave = 1 : i64, cp_size = 1 : i64, rows = 48 : i64, workgroups = 256 : i64}
func.func @plan(%len: memref<?xi32>, %plan: memref<?x4xi32>, %rank: index) {
  tenon.mla_plan seq_len(%len : memref<?xi32>) plan(%plan : memref<?x4xi32>) cp_rank(%rank)
    {rows = 48 : i64, workgroups = 256 : i64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}
