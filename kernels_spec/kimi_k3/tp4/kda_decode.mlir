// One decode step of Kimi Delta Attention as Kimi K3 serves it at tensor
// parallelism 4: 24 of 96 heads on a rank, bounded gate, output norm, FP32 state.
func.func @kda_decode(
    %qkv: memref<?x9216xbf16, strided<[?, 1]>>,
    %raw_g: memref<?x3072xbf16, strided<[?, 1]>>,
    %raw_beta: memref<?x24xbf16, strided<[?, 1]>>,
    %out_gate: memref<?x3072xbf16, strided<[?, 1]>>,
    %conv_weight: memref<9216x4xf32>,
    %a_log: memref<24xf32>,
    %dt_bias: memref<3072xf32>,
    %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x9216xbf16, strided<[?, 9216, 1]>>,
    %state: memref<?x24x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32, strided<[?]>>,
    %out: memref<?x3072xbf16, strided<[?, 1]>>) {
  tenon.kda_decode
    qkv(%qkv : memref<?x9216xbf16, strided<[?, 1]>>)
    raw_g(%raw_g : memref<?x3072xbf16, strided<[?, 1]>>)
    raw_beta(%raw_beta : memref<?x24xbf16, strided<[?, 1]>>)
    out_gate(%out_gate : memref<?x3072xbf16, strided<[?, 1]>>)
    conv_weight(%conv_weight : memref<9216x4xf32>)
    a_log(%a_log : memref<24xf32>)
    dt_bias(%dt_bias : memref<3072xf32>)
    norm_weight(%norm_weight : memref<128xf32>)
    conv_state(%conv_state : memref<?x?x9216xbf16, strided<[?, 9216, 1]>>)
    state(%state : memref<?x24x128x128xf32, #tenon.state_layout<vk>>)
    slot(%slot : memref<?xi32, strided<[?]>>)
    out(%out : memref<?x3072xbf16, strided<[?, 1]>>)
    {heads = 24 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>, lower_bound = -5.0 : f64, output_norm = true,
     qk_eps = 1.0e-06 : f64, norm_eps = 1.0e-05 : f64, null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>}
  return
}
