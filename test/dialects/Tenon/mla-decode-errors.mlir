// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// Dense queries have a dimension of requests and one of tokens.
func.func @f(%q: memref<?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q' must have 4 dimensions, [B, Q, H, columns] without qo_indptr, found 'memref<?x12x576xbf16>'}}
  tenon.mla_decode q(%q : memref<?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

// Packed ones have a dimension of tokens.
func.func @f(%q: memref<?x?x12x576xbf16>, %qo_indptr: memref<?xi32>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q' must have 3 dimensions, [T, H, columns] with qo_indptr, found 'memref<?x?x12x576xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    qo_indptr(%qo_indptr : memref<?xi32>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x?x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q': heads must be static, from 1 to 128, found 'memref<?x?x?x576xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x?x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x129x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q': heads must be static, from 1 to 128, found 'memref<?x?x129x576xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x129x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x512xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q' must be 'memref<?x?x12x576xbf16>', found 'memref<?x?x12x512xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x512xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

// With q_rope, q has the other 512 columns.
func.func @f(%q: memref<?x?x12x576xbf16>, %q_rope: memref<?x?x12x64xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q' must be 'memref<?x?x12x512xbf16>', found 'memref<?x?x12x576xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    q_rope(%q_rope : memref<?x?x12x64xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x512xbf16>, %q_rope: memref<?x?x16x64xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q_rope' must be 'memref<?x?x12x64xbf16>', found 'memref<?x?x16x64xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x512xbf16>)
    q_rope(%q_rope : memref<?x?x16x64xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x512xbf16>, %q_rope: memref<?x?x12x64xf8E4M3FN>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{q and q_rope must have one type, found 'memref<?x?x12x512xbf16>' and 'memref<?x?x12x64xf8E4M3FN>'}}
  tenon.mla_decode q(%q : memref<?x?x12x512xbf16>)
    q_rope(%q_rope : memref<?x?x12x64xf8E4M3FN>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

// Only bf16 and FP8 go.
func.func @f(%q: memref<?x?x12x576xf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q' must be 'memref<?x?x12x576xbf16>', found 'memref<?x?x12x576xf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

// Columns lie side by side.
func.func @f(%q: memref<?x?x12x576xbf16, strided<[?, ?, ?, 2]>>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'q': the stride of dimension 3 must be dense}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16, strided<[?, ?, ?, 2]>>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x12x576xbf16>, %qo_indptr: memref<?xi64>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'qo_indptr' must be 'memref<?xi32>', found 'memref<?xi64>'}}
  tenon.mla_decode q(%q : memref<?x12x576xbf16>)
    qo_indptr(%qo_indptr : memref<?xi64>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x512xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'kv' must be 'memref<?x?x576xbf16>', found 'memref<?x?x512xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x512xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

// Page sizes are run-time values.
func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x64x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'kv' must be 'memref<?x?x576xbf16>', found 'memref<?x64x576xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x64x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi64>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'block_table' must be 'memref<?x?xi32>', found 'memref<?x?xi64>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi64>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32, strided<[?]>>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'seq_len': the stride of dimension 0 must be dense}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32, strided<[?]>>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x576xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x?x12x512xbf16>', found 'memref<?x?x12x576xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x576xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

// Packed queries give packed results.
func.func @f(%q: memref<?x12x576xbf16>, %qo_indptr: memref<?xi32>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x12x512xbf16>', found 'memref<?x?x12x512xbf16>'}}
  tenon.mla_decode q(%q : memref<?x12x576xbf16>)
    qo_indptr(%qo_indptr : memref<?xi32>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %lse: memref<?x?x12xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'lse' must be 'memref<?x?x12xf32>', found 'memref<?x?x12xbf16>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    lse(%lse : memref<?x?x12xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %plan: memref<?x8xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'plan' must be 'memref<?x4xi32>', found 'memref<?x8xi32>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    plan(%plan : memref<?x8xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xf8E4M3FN>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{q_scale must be present, since q is f8E4M3FN}}
  tenon.mla_decode q(%q : memref<?x?x12x576xf8E4M3FN>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xf8E4M3FN>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{kv_scale must be present, since kv is f8E4M3FN}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xf8E4M3FN>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %q_scale: memref<1xf32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{q_scale must be absent, since q is bf16}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    q_scale(%q_scale : memref<1xf32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %kv_scale: memref<1xf32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{kv_scale must be absent, since kv is bf16}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    kv_scale(%kv_scale : memref<1xf32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xf8E4M3FN>, %table: memref<?x?xi32>, %len: memref<?xi32>, %kv_scale: memref<?xf32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{operand 'kv_scale' must be 'memref<1xf32>', found 'memref<?xf32>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xf8E4M3FN>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    kv_scale(%kv_scale : memref<?xf32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xf8E4M3FN>, %table: memref<?x?xi32>, %len: memref<?xi32>, %kv_scale: memref<1xf32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{bf16_probabilities is for q and kv of f8E4M3FN, found 'memref<?x?x12x576xbf16>' and 'memref<?x?x576xf8E4M3FN>'}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xf8E4M3FN>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    kv_scale(%kv_scale : memref<1xf32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64, bf16_probabilities}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{max_queries must be from 1 to 16, found 17}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 17 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{max_queries must be from 1 to 16, found 0}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 0 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{scale must be above 0 and finite, found 0}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.0 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{scale must be above 0 and finite, found}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0x7FF0000000000000 : f64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{cp_size must be at most 1024, found 1025}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1025 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%q: memref<?x?x12x576xbf16>, %kv: memref<?x?x576xbf16>, %table: memref<?x?xi32>, %len: memref<?xi32>, %out: memref<?x?x12x512xbf16>, %rank: index) {
  // expected-error @+1 {{cp_interleave must be at most 1048576, found 1048577}}
  tenon.mla_decode q(%q : memref<?x?x12x576xbf16>)
    kv(%kv : memref<?x?x576xbf16>)
    block_table(%table : memref<?x?xi32>)
    seq_len(%len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16>)
    cp_rank(%rank) {max_queries = 4 : i64, causal = true, scale = 0.125 : f64, cp_size = 1 : i64, cp_interleave = 1048577 : i64}
  return
}

// -----

func.func @f(%len: memref<?xi32>, %plan: memref<?x4xi32>, %rank: index) {
  // expected-error @+1 {{rows must be at most 2048 (heads times queries), found 2049}}
  tenon.mla_plan seq_len(%len : memref<?xi32>) plan(%plan : memref<?x4xi32>) cp_rank(%rank)
    {rows = 2049 : i64, workgroups = 256 : i64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%len: memref<?xi32>, %plan: memref<?x4xi32>, %rank: index) {
  // expected-error @+1 {{cp_size must be at most 1024, found 2000}}
  tenon.mla_plan seq_len(%len : memref<?xi32>) plan(%plan : memref<?x4xi32>) cp_rank(%rank)
    {rows = 48 : i64, workgroups = 256 : i64, cp_size = 2000 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%len: memref<?xi64>, %plan: memref<?x4xi32>, %rank: index) {
  // expected-error @+1 {{operand 'seq_len' must be 'memref<?xi32>', found 'memref<?xi64>'}}
  tenon.mla_plan seq_len(%len : memref<?xi64>) plan(%plan : memref<?x4xi32>) cp_rank(%rank)
    {rows = 48 : i64, workgroups = 256 : i64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%len: memref<?xi32>, %plan: memref<?x8xi32>, %rank: index) {
  // expected-error @+1 {{operand 'plan' must be 'memref<?x4xi32>', found 'memref<?x8xi32>'}}
  tenon.mla_plan seq_len(%len : memref<?xi32>) plan(%plan : memref<?x8xi32>) cp_rank(%rank)
    {rows = 48 : i64, workgroups = 256 : i64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}

// -----

func.func @f(%len: memref<?xi32>, %plan: memref<?x4xi32>, %rank: index) {
  // expected-error @+1 {{workgroups must be at most 65536, found 65537}}
  tenon.mla_plan seq_len(%len : memref<?xi32>) plan(%plan : memref<?x4xi32>) cp_rank(%rank)
    {rows = 48 : i64, workgroups = 65537 : i64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}
