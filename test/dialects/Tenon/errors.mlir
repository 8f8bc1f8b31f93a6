// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// The tiles of the kernel are built for heads of 128.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{head_dim must be 128, found 64}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 64 : i64, gate = #tenon<gate bounded>, lower_bound = -5.0 : f64,
       output_norm = true, qk_eps = 1.0e-6 : f64, norm_eps = 1.0e-5 : f64,
       null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Sizes derived from the heads stay far from overflow.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{heads must be at most 4096, found 4097}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 4097 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// No heads is no kernel.
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
  // expected-error @+1 {{attribute 'heads' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
      {heads = 0 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// A bounded gate says its bound.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{a bounded gate needs lower_bound}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>, output_norm = true,
       qk_eps = 1.0e-6 : f64, norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Below -5 the decay leaves the range that the reference was checked in.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{lower_bound must be in [-5, 0), found -5.5}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.5 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// A bound of 0 would never decay.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{lower_bound must be in [-5, 0), found 0}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>, lower_bound = 0.0 : f64,
       output_norm = true, qk_eps = 1.0e-6 : f64, norm_eps = 1.0e-5 : f64,
       null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// NaN is in no range.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{lower_bound must be in [-5, 0), found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = 0x7FF8000000000000 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// A bound on a gate that has none would be ignored in silence.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{a softplus gate has no lower_bound}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// The output norm needs its gate.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{out_gate, norm_weight and norm_eps must be present, since output_norm is on}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      norm_weight(%norm_weight : memref<128xf32>) conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// The output norm needs its weight.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{out_gate, norm_weight and norm_eps must be present, since output_norm is on}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// The output norm needs its epsilon.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{out_gate, norm_weight and norm_eps must be present, since output_norm is on}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Without output norm its operands would be ignored in silence.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{out_gate, norm_weight and norm_eps must be absent, since output_norm is off}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = false, qk_eps = 1.0e-6 : f64,
       null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Without output norm its epsilon would be ignored in silence.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{out_gate, norm_weight and norm_eps must be absent, since output_norm is off}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = false, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// A negative epsilon can make the root imaginary.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{qk_eps and norm_eps must be in [0, 1), found -1.0}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = -1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// An epsilon of 1 is a mistaken exponent.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{qk_eps and norm_eps must be in [0, 1), found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64, norm_eps = 1.0 : f64,
       null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Element types are the contract's: the message names the operand, what is expected and what is there.
func.func @f(%qkv: memref<?x384xf32>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'qkv' must be 'memref<?x384xbf16>', found 'memref<?x384xf32>'}}
  tenon.kda_decode qkv(%qkv : memref<?x384xf32>) raw_g(%raw_g : memref<?x128xbf16>)
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

// -----

// norm_weight may be bf16 or f32, and nothing else.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf16>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'norm_weight' must be 'memref<128xf32>', found 'memref<128xf16>'}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf16>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Sizes follow from the heads.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<256xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'dt_bias' must be 'memref<128xf32>', found 'memref<256xf32>'}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<256xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// The number of requests is a run-time size, never part of the type.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<7x128xbf16>) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x128xbf16>', found 'memref<7x128xbf16>'}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<7x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Slots are 32-bit integers.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi64>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'slot' must be 'memref<?xi32>', found 'memref<?xi64>'}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi64>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// An optional operand is checked like the others.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %conv_start: memref<?xf32>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'conv_start' must be 'memref<?xi32>', found 'memref<?xf32>'}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>) conv_start(%conv_start : memref<?xf32>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// The order of conv_state's columns and channels is an attribute; the shape must agree with it.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'conv_state' must be 'memref<?x384x?xbf16>', found 'memref<?x?x384xbf16>'}}
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
       conv_layout = #tenon<conv_layout ds>}
  return
}

// -----

// vk and kv pools have one shape, so the order must be in the type.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32>, %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'state' must carry its layout, #tenon.state_layout<vk> or #tenon.state_layout<kv>, found 'memref<?x1x128x128xf32>'}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>) state(%state : memref<?x1x128x128xf32>)
      slot(%slot : memref<?xi32>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Strides say nothing about which dimension is the key.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, strided<[?, 16384, 128, 1]>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'state' must carry its layout, #tenon.state_layout<vk> or #tenon.state_layout<kv>, found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, strided<[?, 16384, 128, 1]>>)
      slot(%slot : memref<?xi32>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// A base offset would be lost: kernels take a pointer and strides.
func.func @f(%qkv: memref<?x384xbf16, strided<[?, 1], offset: 8>>, %raw_g: memref<?x128xbf16>,
    %raw_beta: memref<?x1xbf16>, %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>,
    %a_log: memref<1xf32>, %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'qkv' must be strided from offset 0, found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16, strided<[?, 1], offset: 8>>)
      raw_g(%raw_g : memref<?x128xbf16>) raw_beta(%raw_beta : memref<?x1xbf16>)
      out_gate(%out_gate : memref<?x128xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      norm_weight(%norm_weight : memref<128xf32>) conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Only the outermost stride is free.
func.func @f(%qkv: memref<?x384xbf16, strided<[?, ?]>>, %raw_g: memref<?x128xbf16>,
    %raw_beta: memref<?x1xbf16>, %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>,
    %a_log: memref<1xf32>, %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'qkv': the stride of dimension 1 must be dense, found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16, strided<[?, ?]>>)
      raw_g(%raw_g : memref<?x128xbf16>) raw_beta(%raw_beta : memref<?x1xbf16>)
      out_gate(%out_gate : memref<?x128xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      norm_weight(%norm_weight : memref<128xf32>) conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// A free stride is a run-time value; a constant one would need a kernel of its own.
func.func @f(%qkv: memref<?x384xbf16, strided<[512, 1]>>, %raw_g: memref<?x128xbf16>,
    %raw_beta: memref<?x1xbf16>, %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>,
    %a_log: memref<1xf32>, %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'qkv': the stride of dimension 0 must be '?' or dense, found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16, strided<[512, 1]>>)
      raw_g(%raw_g : memref<?x128xbf16>) raw_beta(%raw_beta : memref<?x1xbf16>)
      out_gate(%out_gate : memref<?x128xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      norm_weight(%norm_weight : memref<128xf32>) conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// Weights have no free stride.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32, strided<[?, 1]>>,
    %a_log: memref<1xf32>, %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'conv_weight': the stride of dimension 0 must be dense, found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32, strided<[?, 1]>>) a_log(%a_log : memref<1xf32>)
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

// -----

// Columns of conv_state are dense; only its slots are strided.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16, strided<[?, 512, 1]>>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'conv_state': the stride of dimension 1 must be dense, found}}
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16, strided<[?, 512, 1]>>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}

// -----

// A state layout is that of a pool of matrices per slot and head.
// expected-error @+1 {{a state pool has 4 dimensions [slots, heads, D, D], found 3}}
func.func @f(%state: memref<?x128x128xf32, #tenon.state_layout<vk>>)
