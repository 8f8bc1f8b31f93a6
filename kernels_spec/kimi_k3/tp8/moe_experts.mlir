// The routed experts of a Kimi K3 MoE layer at tensor parallelism 8: 384 of 3072 columns
// of each of 896 experts, MXFP4 weights with MXFP8 activations.
func.func @moe_experts(
    %x: memref<?x3584xbf16, strided<[?, 1]>>,
    %ids: memref<?x16xi32>,
    %weights: memref<?x16xf32>,
    %w13: memref<896x768x3584xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w13_scale: memref<896x768x112xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %w2: memref<896x3584x384xf4E2M1FN, #tenon.weight_layout<packed>>,
    %w2_scale: memref<896x3584x12xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x3584xbf16, strided<[?, 1]>>) {
  tenon.moe_experts
    x(%x : memref<?x3584xbf16, strided<[?, 1]>>)
    ids(%ids : memref<?x16xi32>)
    weights(%weights : memref<?x16xf32>)
    w13(%w13 : memref<896x768x3584xf4E2M1FN, #tenon.weight_layout<packed>>)
    w13_scale(%w13_scale : memref<896x768x112xf8E8M0FNU, #tenon.weight_layout<packed>>)
    w2(%w2 : memref<896x3584x384xf4E2M1FN, #tenon.weight_layout<packed>>)
    w2_scale(%w2_scale : memref<896x3584x12xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x3584xbf16, strided<[?, 1]>>)
    {activation = #tenon<activation situ>, beta = 4.0 : f64, linear_beta = 25.0 : f64,
     input = #tenon<format fp8>, intermediate = #tenon<format fp8>,
     routes = #tenon<format bf16>, scale_mode = #tenon<scale_mode up>}
  return
}
