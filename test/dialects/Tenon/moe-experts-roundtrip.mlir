// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// CHECK-LABEL: func.func @sum(
func.func @sum(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x128x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>,
    %w13_scale: memref<4x128x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>,
    %w2: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<aiter>>,
    %w2_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<aiter>>,
    %expert_map: memref<9xi32>,
    %num_tokens: memref<1xi32>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // CHECK: tenon.moe_experts x({{.*}}) ids({{.*}}) weights({{.*}}) w13({{.*}} : memref<4x128x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>)
  // CHECK-SAME: w2({{.*}}#tenon.weight_layout<aiter>>) w2_scale({{.*}}) expert_map({{.*}} : memref<9xi32>) num_tokens({{.*}} : memref<1xi32>) out(
  // CHECK-SAME: expected_tokens = 256 : i64, input = #tenon<format fp4>, intermediate = #tenon<format fp8>{{.*}}routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode even>
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x128x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>)
    w13_scale(%w13_scale : memref<4x128x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>)
    w2(%w2 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<aiter>>)
    w2_scale(%w2_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
    expert_map(%expert_map : memref<9xi32>)
    num_tokens(%num_tokens : memref<1xi32>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation situ>, input = #tenon<format fp4>, intermediate = #tenon<format fp8>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode even>, beta = 4.0 : f64, linear_beta = 25.0 : f64, expected_tokens = 256 : i64}
  return
}

// CHECK-LABEL: func.func @rows(
func.func @rows(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x2x128xi8>) {
  // CHECK: tenon.moe_experts x({{.*}}) ids({{.*}}) w13({{.*}}) out({{.*}} : memref<?x2x128xi8>)
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x2x128xi8>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format fp8>, scale_mode = #tenon<scale_mode up>}
  return
}
