// RUN: tenon-opt %s -split-input-file -verify-diagnostics --tenon-choose-schedule

// What is fast depends on the chip, so the module must name it.
// expected-error @+1 {{the module names no chip: expected an attribute such as tile.target = #tile.target<"gfx950">}}
module {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}
}

// -----

// A name in place of the attribute is not looked up.
// expected-error @+1 {{the module names no chip}}
module attributes {tile.target = "gfx950"} {
}
