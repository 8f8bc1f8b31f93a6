// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// Every operand and attribute of the form with output norm, with strides that
// vary where the contract leaves them free.
// CHECK-LABEL: func.func @bounded
// CHECK: tenon.kda_decode qkv(%{{.*}} : memref<?x4608xbf16, strided<[?, 1]>>)
// CHECK-SAME: raw_g(%{{.*}} : memref<?x1536xbf16>) raw_beta(%{{.*}} : memref<?x12xbf16>)
// CHECK-SAME: out_gate(%{{.*}} : memref<?x1536xbf16>) conv_weight(%{{.*}} : memref<4608x4xf32>)
// CHECK-SAME: a_log(%{{.*}} : memref<12xf32>) dt_bias(%{{.*}} : memref<1536xf32>)
// CHECK-SAME: norm_weight(%{{.*}} : memref<128xf32>)
// CHECK-SAME: conv_state(%{{.*}} : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
// CHECK-SAME: state(%{{.*}} : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
// CHECK-SAME: slot(%{{.*}} : memref<?xi32, strided<[?]>>) out(%{{.*}} : memref<?x1536xbf16>)
// CHECK-SAME: {conv_layout = #tenon<conv_layout sd>, gate = #tenon<gate bounded>,
// CHECK-SAME: head_dim = 128 : i64, heads = 12 : i64, lower_bound = -5.000000e+00 : f64,
// CHECK-SAME: norm_eps = {{.*}} : f64, null_slot = #tenon<null_slot le0>,
// CHECK-SAME: output_norm = true, qk_eps = {{.*}} : f64}
func.func @bounded(%qkv: memref<?x4608xbf16, strided<[?, 1]>>, %raw_g: memref<?x1536xbf16>,
    %raw_beta: memref<?x12xbf16>, %out_gate: memref<?x1536xbf16>, %conv_weight: memref<4608x4xf32>,
    %a_log: memref<12xf32>, %dt_bias: memref<1536xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x4608xbf16, strided<[?, 4608, 1]>>,
    %state: memref<?x12x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32, strided<[?]>>,
    %out: memref<?x1536xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x4608xbf16, strided<[?, 1]>>)
      raw_g(%raw_g : memref<?x1536xbf16>) raw_beta(%raw_beta : memref<?x12xbf16>)
      out_gate(%out_gate : memref<?x1536xbf16>) conv_weight(%conv_weight : memref<4608x4xf32>)
      a_log(%a_log : memref<12xf32>) dt_bias(%dt_bias : memref<1536xf32>)
      norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
      state(%state : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
      slot(%slot : memref<?xi32, strided<[?]>>) out(%out : memref<?x1536xbf16>)
      {heads = 12 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// The other value of every attribute, the optional operand, and schedules.
// CHECK-LABEL: func.func @softplus
// CHECK: tenon.kda_decode
// CHECK-NOT: out_gate
// CHECK-NOT: norm_weight
// CHECK-SAME: conv_start(%{{.*}} : memref<?xi32>) state(%{{.*}} : memref<?x1x128x128xf32, #tenon.state_layout<kv>>)
// CHECK-SAME: {conv_layout = #tenon<conv_layout ds>, gate = #tenon<gate softplus>,
// CHECK-NOT: lower_bound
// CHECK-SAME: null_slot = #tenon<null_slot lt0>, output_norm = false
// CHECK-SAME: schedules = [{waves = 4 : i64}, {scheduler = "iterative-ilp", waves = 2 : i64}]}
func.func @softplus(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>,
    %raw_beta: memref<?x1xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %conv_state: memref<?x384x?xbf16>, %conv_start: memref<?xi32>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<kv>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x384x?xbf16>) conv_start(%conv_start : memref<?xi32>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<kv>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot lt0>,
       conv_layout = #tenon<conv_layout ds>,
       schedules = [{waves = 4}, {scheduler = "iterative-ilp", waves = 2}]}
  return
}

// norm_weight has two types.
// CHECK-LABEL: func.func @bf16_norm_weight
// CHECK: norm_weight(%{{.*}} : memref<128xbf16>)
func.func @bf16_norm_weight(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>,
    %raw_beta: memref<?x1xbf16>, %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>,
    %a_log: memref<1xf32>, %dt_bias: memref<128xf32>, %norm_weight: memref<128xbf16>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xbf16>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// Every op of a plan, and both forms of require_stride.
// CHECK-LABEL: tenon.plan @p operands
// CHECK-SAME: [{access = "read_write", dims = ["N", 128], name = "x", type = bf16}] {
// CHECK-NEXT: %[[N:.*]] = tenon.size "x"[0]
// CHECK-NEXT: %[[STRIDE:.*]] = tenon.stride "x"[0]
// CHECK-NEXT: %[[C1:.*]] = arith.constant 1 : index
// CHECK-NEXT: tenon.require_aligned "x" to 16
// CHECK-NEXT: tenon.require_stride "x"[0] multiple_of 8
// CHECK-NEXT: tenon.require_stride "x"[1] equal 1
// CHECK-NEXT: tenon.require sge, %[[N]], %[[C1]], "at least one request"
// CHECK-NEXT: tenon.workspace "sums" bytes %[[N]]
// CHECK-NEXT: tenon.workspace "counts" bytes %[[C1]] zero
// CHECK-NEXT: tenon.launch @k grid(%[[C1]], %[[N]], %[[C1]]) workgroup 256 values(%[[STRIDE]], %[[N]])
// CHECK-SAME: args [{ptr = "x"}, {i64 = 0 : i64}, {i32 = 1 : i64}, {workspace = "sums"}]
tenon.plan @p operands [{name = "x", type = bf16, access = "read_write", dims = ["N", 128]}] {
  %n = tenon.size "x"[0]
  %stride = tenon.stride "x"[0]
  %c1 = arith.constant 1 : index
  tenon.require_aligned "x" to 16
  tenon.require_stride "x"[0] multiple_of 8
  tenon.require_stride "x"[1] equal 1
  tenon.require sge, %n, %c1, "at least one request"
  tenon.workspace "sums" bytes %n
  tenon.workspace "counts" bytes %c1 zero
  tenon.launch @k grid(%c1, %n, %c1) workgroup 256 values(%stride, %n)
    args [{ptr = "x"}, {i64 = 0}, {i32 = 1}, {workspace = "sums"}]
}
