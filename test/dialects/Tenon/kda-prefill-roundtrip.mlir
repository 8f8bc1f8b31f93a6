// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// Every operand and attribute.
// CHECK-LABEL: func.func @everything
// CHECK: tenon.kda_prefill
// CHECK-SAME: qkv(%{{arg[0-9]+}} : memref<?x4608xbf16, strided<[?, 1]>>)
// CHECK-SAME: raw_g(%{{arg[0-9]+}} : memref<?x1536xbf16, strided<[?, 1]>>)
// CHECK-SAME: raw_beta(%{{arg[0-9]+}} : memref<?x12xbf16, strided<[?, 1]>>)
// CHECK-SAME: out_gate(%{{arg[0-9]+}} : memref<?x1536xbf16, strided<[?, 1]>>)
// CHECK-SAME: conv_weight(%{{arg[0-9]+}} : memref<4608x4xf32>)
// CHECK-SAME: a_log(%{{arg[0-9]+}} : memref<12xf32>)
// CHECK-SAME: dt_bias(%{{arg[0-9]+}} : memref<1536xf32>)
// CHECK-SAME: norm_weight(%{{arg[0-9]+}} : memref<128xf32>)
// CHECK-SAME: conv_state(%{{arg[0-9]+}} : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
// CHECK-SAME: state(%{{arg[0-9]+}} : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
// CHECK-SAME: cu_seqlens(%{{arg[0-9]+}} : memref<?xi32>)
// CHECK-SAME: slot(%{{arg[0-9]+}} : memref<?xi32, strided<[?]>>)
// CHECK-SAME: initial_slot(%{{arg[0-9]+}} : memref<?xi32, strided<[?]>>)
// CHECK-SAME: has_initial_state(%{{arg[0-9]+}} : memref<?xi8>)
// CHECK-SAME: row(%{{arg[0-9]+}} : memref<?xi32>)
// CHECK-SAME: checkpoint_offset(%{{arg[0-9]+}} : memref<?x?xi32>)
// CHECK-SAME: checkpoint_slot(%{{arg[0-9]+}} : memref<?x?xi32>)
// CHECK-SAME: checkpoint_state(%{{arg[0-9]+}} : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
// CHECK-SAME: checkpoint_conv(%{{arg[0-9]+}} : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
// CHECK-SAME: plan(%{{arg[0-9]+}} : memref<?x4xi32>)
// CHECK-SAME: out(%{{arg[0-9]+}} : memref<?x1536xbf16, strided<[?, 1]>>)
// CHECK-SAME: max_seq_len(%{{arg[0-9]+}})
// CHECK-SAME: {conv_layout = #tenon<conv_layout sd>, expected_sequences = 4 : i64,
// CHECK-SAME: expected_tokens = 8192 : i64, fp32_conv, gate = #tenon<gate bounded>,
// CHECK-SAME: head_dim = 128 : i64, heads = 12 : i64, lower_bound = -5.000000e+00 : f64,
// CHECK-SAME: norm_eps = {{.*}} : f64, null_slot = #tenon<null_slot le0>, output_norm = true,
// CHECK-SAME: products = #tenon<products fp32>, qk_eps = {{.*}} : f64, schedules = [{waves = 4 : i64}]}
func.func @everything(%qkv: memref<?x4608xbf16, strided<[?, 1]>>,
    %raw_g: memref<?x1536xbf16, strided<[?, 1]>>, %raw_beta: memref<?x12xbf16, strided<[?, 1]>>,
    %out_gate: memref<?x1536xbf16, strided<[?, 1]>>, %conv_weight: memref<4608x4xf32>,
    %a_log: memref<12xf32>, %dt_bias: memref<1536xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x4608xbf16, strided<[?, 4608, 1]>>,
    %state: memref<?x12x128x128xf32, #tenon.state_layout<vk>>, %cu_seqlens: memref<?xi32>,
    %slot: memref<?xi32, strided<[?]>>, %initial_slot: memref<?xi32, strided<[?]>>,
    %has_initial_state: memref<?xi8>, %row: memref<?xi32>, %checkpoint_offset: memref<?x?xi32>,
    %checkpoint_slot: memref<?x?xi32>,
    %checkpoint_state: memref<?x12x128x128xf32, #tenon.state_layout<vk>>,
    %checkpoint_conv: memref<?x?x4608xbf16, strided<[?, 4608, 1]>>, %plan: memref<?x4xi32>,
    %out: memref<?x1536xbf16, strided<[?, 1]>>, %n: index) {
  tenon.kda_prefill qkv(%qkv : memref<?x4608xbf16, strided<[?, 1]>>)
      raw_g(%raw_g : memref<?x1536xbf16, strided<[?, 1]>>)
      raw_beta(%raw_beta : memref<?x12xbf16, strided<[?, 1]>>)
      out_gate(%out_gate : memref<?x1536xbf16, strided<[?, 1]>>)
      conv_weight(%conv_weight : memref<4608x4xf32>) a_log(%a_log : memref<12xf32>)
      dt_bias(%dt_bias : memref<1536xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
      state(%state : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32, strided<[?]>>)
      initial_slot(%initial_slot : memref<?xi32, strided<[?]>>)
      has_initial_state(%has_initial_state : memref<?xi8>) row(%row : memref<?xi32>)
      checkpoint_offset(%checkpoint_offset : memref<?x?xi32>)
      checkpoint_slot(%checkpoint_slot : memref<?x?xi32>)
      checkpoint_state(%checkpoint_state : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
      checkpoint_conv(%checkpoint_conv : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
      plan(%plan : memref<?x4xi32>) out(%out : memref<?x1536xbf16, strided<[?, 1]>>)
      max_seq_len(%n)
      {heads = 12 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products fp32>, fp32_conv,
       expected_tokens = 8192 : i64, expected_sequences = 4 : i64, schedules = [{waves = 4}]}
  return
}

// Only what must be there, in the other order of every layout.
// CHECK-LABEL: func.func @least
// CHECK: tenon.kda_prefill
// CHECK-NOT: out_gate(
// CHECK-NOT: norm_weight(
// CHECK-NOT: initial_s
// CHECK-NOT: row(
// CHECK-NOT: checkpoint
// CHECK-NOT: plan(
// CHECK-NOT: max_seq_len
// CHECK-NOT: fp32_conv
// CHECK: out(%{{arg[0-9]+}} : memref<?x128xbf16>) {conv_layout = #tenon<conv_layout ds>,
// CHECK-SAME: products = #tenon<products bf16>
func.func @least(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x384x?xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<kv>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x384x?xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<kv>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot lt0>,
       conv_layout = #tenon<conv_layout ds>, products = #tenon<products bf16>}
  return
}

// One checkpoint per sequence.
// CHECK-LABEL: func.func @one_checkpoint
// CHECK: checkpoint_offset(%{{arg[0-9]+}} : memref<?xi32>) checkpoint_slot(%{{arg[0-9]+}} : memref<?xi32>)
func.func @one_checkpoint(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>,
    %raw_beta: memref<?x1xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %cu_seqlens: memref<?xi32>,
    %slot: memref<?xi32>, %checkpoint_offset: memref<?xi32>, %checkpoint_slot: memref<?xi32>,
    %checkpoint_state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %checkpoint_conv: memref<?x?x384xbf16>, %out: memref<?x128xbf16>) {
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      checkpoint_offset(%checkpoint_offset : memref<?xi32>)
      checkpoint_slot(%checkpoint_slot : memref<?xi32>)
      checkpoint_state(%checkpoint_state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      checkpoint_conv(%checkpoint_conv : memref<?x?x384xbf16>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// CHECK-LABEL: func.func @chunks
// CHECK: tenon.kda_plan cu_seqlens(%{{arg[0-9]+}} : memref<?xi32>) plan(%{{arg[0-9]+}} : memref<?x4xi32>){{$}}
func.func @chunks(%cu_seqlens: memref<?xi32>, %plan: memref<?x4xi32>) {
  tenon.kda_plan cu_seqlens(%cu_seqlens : memref<?xi32>) plan(%plan : memref<?x4xi32>)
  return
}
