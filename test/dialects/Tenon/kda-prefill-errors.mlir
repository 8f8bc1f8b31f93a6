// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// What the attributes of tenon.kda_decode are held to holds here too.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{head_dim must be 128, found 64}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 64 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// A bounded gate has a bound.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{a bounded gate needs lower_bound}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// Without output norm nothing is gated.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %cu_seqlens: memref<?xi32>,
    %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{out_gate, norm_weight and norm_eps must be absent, since output_norm is off}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) out_gate(%out_gate : memref<?x128xbf16>)
      conv_weight(%conv_weight : memref<384x4xf32>) a_log(%a_log : memref<1xf32>)
      dt_bias(%dt_bias : memref<128xf32>) conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// Boundaries are 32-bit.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi64>, %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'cu_seqlens' must be 'memref<?xi32>', found 'memref<?xi64>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi64>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// Boundaries lie side by side.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32, strided<[?]>>, %slot: memref<?xi32>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'cu_seqlens': the stride of dimension 0 must be dense, found}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32, strided<[?]>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// Flags are bytes.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %has_initial_state: memref<?xi1>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'has_initial_state' must be 'memref<?xi8>', found 'memref<?xi1>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      has_initial_state(%has_initial_state : memref<?xi1>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// There is one initial slot per sequence.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %initial_slot: memref<?x1xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'initial_slot' must be 'memref<?xi32>', found 'memref<?x1xi32>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      initial_slot(%initial_slot : memref<?x1xi32>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// The number of tokens varies from call to call.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %row: memref<64xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'row' must be 'memref<?xi32>', found 'memref<64xi32>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      row(%row : memref<64xi32>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// A chunk is four numbers.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %plan: memref<?x3xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'plan' must be 'memref<?x4xi32>', found 'memref<?x3xi32>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      plan(%plan : memref<?x3xi32>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// A checkpoint is a state and its history.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %checkpoint_offset: memref<?xi32>,
    %checkpoint_slot: memref<?xi32>,
    %checkpoint_state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{checkpoint_offset, checkpoint_slot, checkpoint_state and checkpoint_conv go together, found 3 of them}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      checkpoint_offset(%checkpoint_offset : memref<?xi32>)
      checkpoint_slot(%checkpoint_slot : memref<?xi32>)
      checkpoint_state(%checkpoint_state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// Offsets and slots of checkpoints go in pairs.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %checkpoint_offset: memref<?x?xi32>,
    %checkpoint_slot: memref<?xi32>,
    %checkpoint_state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %checkpoint_conv: memref<?x?x384xbf16>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'checkpoint_slot' must be 'memref<?x?xi32>', found 'memref<?xi32>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      checkpoint_offset(%checkpoint_offset : memref<?x?xi32>)
      checkpoint_slot(%checkpoint_slot : memref<?xi32>)
      checkpoint_state(%checkpoint_state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      checkpoint_conv(%checkpoint_conv : memref<?x?x384xbf16>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// Pools of states say their order.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %checkpoint_offset: memref<?xi32>,
    %checkpoint_slot: memref<?xi32>, %checkpoint_state: memref<?x1x128x128xf32>,
    %checkpoint_conv: memref<?x?x384xbf16>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'checkpoint_state' must carry its layout, #tenon.state_layout<vk> or #tenon.state_layout<kv>, found 'memref<?x1x128x128xf32>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      checkpoint_offset(%checkpoint_offset : memref<?xi32>)
      checkpoint_slot(%checkpoint_slot : memref<?xi32>)
      checkpoint_state(%checkpoint_state : memref<?x1x128x128xf32>)
      checkpoint_conv(%checkpoint_conv : memref<?x?x384xbf16>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// A checkpoint is a copy of a state.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x?x384xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %checkpoint_offset: memref<?xi32>,
    %checkpoint_slot: memref<?xi32>,
    %checkpoint_state: memref<?x1x128x128xf32, #tenon.state_layout<kv>>,
    %checkpoint_conv: memref<?x?x384xbf16>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{state and checkpoint_state must have one layout, found}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      checkpoint_offset(%checkpoint_offset : memref<?xi32>)
      checkpoint_slot(%checkpoint_slot : memref<?xi32>)
      checkpoint_state(%checkpoint_state : memref<?x1x128x128xf32, #tenon.state_layout<kv>>)
      checkpoint_conv(%checkpoint_conv : memref<?x?x384xbf16>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>, products = #tenon<products bf16>}
  return
}

// -----

// Both pools of windows have the order that conv_layout says.
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x384x?xbf16>, %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %cu_seqlens: memref<?xi32>, %slot: memref<?xi32>, %checkpoint_offset: memref<?xi32>,
    %checkpoint_slot: memref<?xi32>,
    %checkpoint_state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>,
    %checkpoint_conv: memref<?x?x384xbf16>, %out: memref<?x128xbf16>) {
  // expected-error @+1 {{operand 'checkpoint_conv' must be 'memref<?x384x?xbf16>', found 'memref<?x?x384xbf16>'}}
  tenon.kda_prefill qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x384x?xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      cu_seqlens(%cu_seqlens : memref<?xi32>) slot(%slot : memref<?xi32>)
      checkpoint_offset(%checkpoint_offset : memref<?xi32>)
      checkpoint_slot(%checkpoint_slot : memref<?xi32>)
      checkpoint_state(%checkpoint_state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>)
      checkpoint_conv(%checkpoint_conv : memref<?x?x384xbf16>) out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout ds>, products = #tenon<products bf16>}
  return
}

// -----

// The rows of a plan are dense.
func.func @f(%cu_seqlens: memref<?xi32>, %plan: memref<?x4xi32, strided<[?, 1]>>) {
  // expected-error @+1 {{operand 'plan': the stride of dimension 0 must be dense, found}}
  tenon.kda_plan cu_seqlens(%cu_seqlens : memref<?xi32>)
      plan(%plan : memref<?x4xi32, strided<[?, 1]>>)
  return
}
