// RUN: tenon-opt %s -split-input-file -verify-diagnostics --tenon-lower-to-tile=schedule=1

// A schedule is chosen first.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{has no schedules: run tenon-choose-schedule first}}
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

// The driver asks for one schedule after the other, and must learn that there are no more.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{has 1 schedules, number 1 was asked for}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}]}
  return
}
}

// -----

// An empty list is not an invitation to choose.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{has 0 schedules, number 1 was asked for}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = []}
  return
}
}

// -----

// A schedule is a list of named parameters.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{schedule must be a dictionary, found 4 : i64}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}, 4]}
  return
}
}

// -----

// Three waves divide neither rows nor columns.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{a schedule is {waves = 2, 4 or 8} with, if wanted, scheduler = "..."; found {waves = 3 : i64}}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}, {waves = 3}]}
  return
}
}

// -----

// A parameter that is misspelt must not fall back to a default.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{a schedule is {waves = 2, 4 or 8} with, if wanted, scheduler = "..."; found {wave = 4 : i64}}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}, {wave = 4}]}
  return
}
}

// -----

// Nor must one that nobody reads.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{a schedule is {waves = 2, 4 or 8} with, if wanted, scheduler = "..."; found {stages = 2 : i64, waves = 4 : i64}}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}, {waves = 4, stages = 2}]}
  return
}
}

// -----

// One function is one plan.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @two(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}]}
  // expected-error @+1 {{a spec function holds one tenon op, this is the second}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}]}
  return
}
}

// -----

// How much to ask of the register allocator depends on the chip.
module {
func.func @f(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %out_gate: memref<?x128xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %norm_weight: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  // expected-error @+1 {{the module names no chip}}
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 4}, {waves = 2}]}
  return
}
}
