// RUN: tenon-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: memref<?x?xbf16>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'x' must have 2 dimensions, static but for the first, found 'memref<?x?xbf16>'}}
  tenon.moe_experts
    x(%x : memref<?x?xbf16>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'w2' must have 3 dimensions, static ones, found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %expert_map: memref<?xi32>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'expert_map' must have 1 dimension, a static one, found 'memref<?xi32>'}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    expert_map(%expert_map : memref<?xi32>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x65xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{takes 1 to 4096 experts and 1 to 64 of them for a token, found 4 and 65}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x65xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x48xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{D and I must be multiples of 32, found 64 and 48}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x48xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x65536xbf16>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x65536x65536xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{w13 of one expert must be below 2^31 bytes, found D = 65536 and I = 65536}}
  tenon.moe_experts
    x(%x : memref<?x65536xbf16>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x65536x65536xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'w13' must have a #tenon.weight_layout, found 'memref<4x64x64xf4E2M1FN>'}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<aiter>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{w13 and w13_scale must have one layout, found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'w2' has no gate and up that could alternate: it must be packed or aiter, found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<aiter>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<aiter>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{weights of experts in the order 'aiter' need N a multiple of 32 and K a multiple of 64, found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<aiter>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<aiter>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{input must be bf16, fp8 or fp4, found f32}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format f32>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{intermediate must be bf16, fp8 or fp4, found f32}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format f32>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{routes must be f32, bf16 or fp8, found fp4}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format fp4>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{weights must be present: routes are bf16}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{weights must be absent: routes are fp8}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format fp8>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{beta and linear_beta must be present: the activation is situ}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation situ>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>, beta = 4.0 : f64}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{beta and linear_beta must be absent: the activation is silu}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>, beta = 4.0 : f64}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{beta and linear_beta must be positive, found 0}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation situ>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>, beta = 0.0 : f64, linear_beta = 25.0 : f64}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x96x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'w13' must be 'memref<4x64x64xf4E2M1FN>', found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x96x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x4xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'w13_scale' must be 'memref<4x64x2xf8E8M0FNU>', found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x4xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<5x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'w2' must be 'memref<4x64x32xf4E2M1FN>', found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<5x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi64>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'ids' must be 'memref<?x2xi32>', found 'memref<?x2xi64>'}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi64>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x3xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'weights' must be 'memref<?x2xf32>', found 'memref<?x3xf32>'}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x3xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %num_tokens: memref<2xi32>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'num_tokens' must be 'memref<1xi32>', found 'memref<2xi32>'}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    num_tokens(%num_tokens : memref<2xi32>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xf32>) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x64xbf16>', found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xf32>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x2x66xi8>) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x2x128xi8>', found 'memref<?x2x66xi8>'}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x2x66xi8>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format fp8>, scale_mode = #tenon<scale_mode up>}
  return
}

// -----

func.func @f(%x: memref<?x64xbf16, strided<[?, 1]>>,
    %ids: memref<?x2xi32, strided<[?, 1]>>,
    %weights: memref<?x2xf32>,
    %w13: memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x64xbf16, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'ids': the stride of dimension 0 must be dense, found}}
  tenon.moe_experts
    x(%x : memref<?x64xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x2xi32, strided<[?, 1]>>)
    weights(%weights : memref<?x2xf32>)
    w13(%w13 : memref<4x64x64xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<4x64x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<4x64x32xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<4x64x1xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x64xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation silu>, input = #tenon<format bf16>, intermediate = #tenon<format bf16>, routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}
