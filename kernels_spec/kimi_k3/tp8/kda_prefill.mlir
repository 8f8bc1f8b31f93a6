// Kimi Delta Attention over whole prompts as Kimi K3 serves it at tensor parallelism 8:
// 12 of 96 heads on a rank, bounded gate, output norm, FP32 state. The chunks come from
// kda_plan.mlir, once per step for all layers.
func.func @kda_prefill(
    %qkv: memref<?x4608xbf16, strided<[?, 1]>>,
    %raw_g: memref<?x1536xbf16, strided<[?, 1]>>,
    %raw_beta: memref<?x12xbf16, strided<[?, 1]>>,
    %out_gate: memref<?x1536xbf16, strided<[?, 1]>>,
    %conv_weight: memref<4608x4xf32>,
    %a_log: memref<12xf32>,
    %dt_bias: memref<1536xf32>,
    %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x4608xbf16, strided<[?, 4608, 1]>>,
    %state: memref<?x12x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>,
    %slot: memref<?xi32, strided<[?]>>,
    %has_initial_state: memref<?xi8>,
    %plan: memref<?x4xi32>,
    %out: memref<?x1536xbf16, strided<[?, 1]>>,
    %max_seq_len: index) {
  tenon.kda_prefill
    qkv(%qkv : memref<?x4608xbf16, strided<[?, 1]>>)
    raw_g(%raw_g : memref<?x1536xbf16, strided<[?, 1]>>)
    raw_beta(%raw_beta : memref<?x12xbf16, strided<[?, 1]>>)
    out_gate(%out_gate : memref<?x1536xbf16, strided<[?, 1]>>)
    conv_weight(%conv_weight : memref<4608x4xf32>)
    a_log(%a_log : memref<12xf32>)
    dt_bias(%dt_bias : memref<1536xf32>)
    norm_weight(%norm_weight : memref<128xf32>)
    conv_state(%conv_state : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
    state(%state : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
    cu_seqlens(%cu_seqlens : memref<?xi32>)
    slot(%slot : memref<?xi32, strided<[?]>>)
    has_initial_state(%has_initial_state : memref<?xi8>)
    plan(%plan : memref<?x4xi32>)
    out(%out : memref<?x1536xbf16, strided<[?, 1]>>)
    max_seq_len(%max_seq_len)
    {heads = 12 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>, lower_bound = -5.0 : f64, output_norm = true,
     qk_eps = 1.0e-06 : f64, norm_eps = 1.0e-05 : f64, null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>,
     products = #tenon<products bf16>}
  return
}
