// RUN: tenon-opt %s -split-input-file --tenon-choose-schedule | FileCheck %s

// Four waves keep eight workgroups and their loads on a compute unit; two have
// longer chains and eight repeat more. Of each the back end's own order of
// instructions comes first, the one with fewer registers second.
// CHECK-LABEL: func.func @ranked
// CHECK: tenon.kda_decode
// CHECK-SAME: schedules = [{waves = 4 : i64}, {scheduler = "iterative-ilp", waves = 4 : i64},
// CHECK-SAME: {waves = 2 : i64}, {scheduler = "iterative-ilp", waves = 2 : i64},
// CHECK-SAME: {waves = 8 : i64}, {scheduler = "iterative-ilp", waves = 8 : i64}]
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @ranked(%qkv: memref<?x4608xbf16>, %raw_g: memref<?x1536xbf16>,
    %raw_beta: memref<?x12xbf16>, %out_gate: memref<?x1536xbf16>, %conv_weight: memref<4608x4xf32>,
    %a_log: memref<12xf32>, %dt_bias: memref<1536xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x4608xbf16>, %state: memref<?x12x128x128xf32, #tenon.state_layout<vk>>,
    %slot: memref<?xi32>, %out: memref<?x1536xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x4608xbf16>) raw_g(%raw_g : memref<?x1536xbf16>)
      raw_beta(%raw_beta : memref<?x12xbf16>) out_gate(%out_gate : memref<?x1536xbf16>)
      conv_weight(%conv_weight : memref<4608x4xf32>) a_log(%a_log : memref<12xf32>)
      dt_bias(%dt_bias : memref<1536xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x4608xbf16>)
      state(%state : memref<?x12x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x1536xbf16>)
      {heads = 12 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}
}

// -----

// Every chip has schedules for every static configuration.
// CHECK-LABEL: func.func @other_chip
// CHECK: schedules = [{waves = 4 : i64}, {{.*}}{waves = 2 : i64}, {{.*}}{waves = 8 : i64}
module attributes {tile.target = #tile.target<"gfx942">} {
func.func @other_chip(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>,
    %raw_beta: memref<?x1xbf16>, %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>,
    %dt_bias: memref<128xf32>, %conv_state: memref<?x?x384xbf16>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x384xbf16>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<vk>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = false, qk_eps = 1.0e-6 : f64,
       null_slot = #tenon<null_slot le0>, conv_layout = #tenon<conv_layout sd>}
  return
}
}

// -----

// One sequence of 4096 tokens and 12 heads: 64 chunks in 8 groups of 8 leave 168
// workgroups that find what groups do, one per compute unit. Halves of the value
// columns make 336, of which some units get two.
// CHECK-LABEL: func.func @prefill
// CHECK: schedules = [{group_chunks = 8 : i64, group_rows = 128 : i64, group_waves = 4 : i64, groups = 0 : i64, prologue_workgroups = 2 : i64, same_die = 1 : i64, walk_waves = 4 : i64},
// CHECK-SAME: {group_chunks = 8 : i64, group_rows = 128 : i64, group_waves = 4 : i64, groups = 0 : i64, prologue_workgroups = 1 : i64,
// CHECK-SAME: {group_chunks = 8 : i64, group_rows = 128 : i64, group_waves = 8 : i64, groups = 0 : i64, prologue_workgroups = 2 : i64,
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @prefill(
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
}

// -----

// 32 sequences fill the chip: the least group does not matter.
// CHECK-LABEL: func.func @prefill_many
// CHECK: schedules = [{group_chunks = 4 : i64, group_rows = 128 : i64, group_waves = 4 : i64,
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @prefill_many(
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
     products = #tenon<products bf16>,
     expected_tokens = 131072 : i64, expected_sequences = 32 : i64}
  return
}
}

// -----

// 1024 tokens: three launches for four groups take longer than one walk of 16 chunks.
// CHECK-LABEL: func.func @prefill_short
// CHECK: schedules = [{group_chunks = 12 : i64, group_rows = 128 : i64,
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @prefill_short(
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
     products = #tenon<products bf16>,
     expected_tokens = 1024 : i64}
  return
}
}

// -----

// A list that is given, by hand or by a tuner, is kept as it is.
// CHECK-LABEL: func.func @given
// CHECK: schedules = [{waves = 8 : i64}]
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @given(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
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
       conv_layout = #tenon<conv_layout sd>, schedules = [{waves = 8}]}
  return
}
}

// -----

// Functions without a tenon op are left alone.
// CHECK-LABEL: func.func private @other(i32)
module attributes {tile.target = #tile.target<"gfx950">} {
func.func private @other(i32)
}

// -----

// Workgroups that walk over the tiles stand behind those of one tile each, of which
// 320 come in two rounds. Two groups of waves in turn, and what is asked of the register
// allocator, come last.
// CHECK-LABEL: func.func @rounds
// CHECK: schedules = [{lds = "both", order = "balanced", stages = [2, 3], tile = [256, 256, 64]
// CHECK-SAME: {lds = "both", order = "balanced", persistent = 256 : i64, stages = [2, 3], tile = [256, 256, 64]
// CHECK-SAME: {lds = "both", order = "ping-pong", stages = [2, 3], tile = [256, 256, 64], waves = [2, 4]},
// CHECK-SAME: {agprs = 128 : i64, lds = "both", order = "balanced", stages = [2, 3], tile = [256, 256, 64], waves = [2, 4]},
// CHECK-SAME: {lds = "both", order = "balanced", stages = [2, 3], tile = [256, 256, 64], waves = [2, 4], waves_per_simd = 2 : i64},
// CHECK-SAME: {lds = "both", order = "balanced", pinned, stages = [2, 3], tile = [256, 256, 64], waves = [2, 4]}]
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @rounds(%x: memref<?x1280xbf16, strided<[?, 1]>>,
    %weights: memref<5120x1280xbf16, strided<[?, 1]>>, %out: memref<?x5120xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x1280xbf16, strided<[?, 1]>>)
    weights(%weights : memref<5120x1280xbf16, strided<[?, 1]>>)
    out(%out : memref<?x5120xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>, expected_tokens = 4096 : i64}
  return
}
}

// -----

// Of x in FP8 two groups of waves in turn stand behind the waves that keep pace, once.
// CHECK-LABEL: func.func @fp8
// CHECK: schedules = [{lds = "both", order = "balanced", stages = [2, 3], tile = [256, 256, 128], waves = [2, 4]},
// CHECK-SAME: {lds = "both", order = "ping-pong", stages = [2, 3], tile = [256, 256, 128], waves = [2, 4]},
// CHECK-SAME: {agprs = 128 : i64,
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @fp8(%x: memref<?x4096xf8E4M3FN, strided<[?, 1]>>,
    %weights: memref<4096x4096xf8E4M3FN, strided<[?, 1]>>,
    %xs: memref<?xf32>, %ws: memref<4096xf32>,
    %out: memref<?x4096xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x4096xf8E4M3FN, strided<[?, 1]>>)
    weights(%weights : memref<4096x4096xf8E4M3FN, strided<[?, 1]>>)
    x_scale(%xs : memref<?xf32>) weight_scale(%ws : memref<4096xf32>)
    out(%out : memref<?x4096xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>, expected_tokens = 4096 : i64}
  return
}
}

// -----

// 512 rows by packed FP4 weights: three rows of tall tiles are one for nearly every
// compute unit, and the weights go into the accumulation registers of four waves.
// CHECK-LABEL: func.func @tall
// CHECK: schedules = [{lds = "x", order = "interleave", stages = 3 : i64, tile = [192, 256, 256], waves = [1, 4]},
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @tall(%x: memref<?x16384xf4E2M1FN, strided<[?, 1]>>,
    %weights: memref<20480x16384xf4E2M1FN, #tenon.weight_layout<packed>>,
    %xs: memref<?x512xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %ws: memref<20480x512xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x20480xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x16384xf4E2M1FN, strided<[?, 1]>>)
    weights(%weights : memref<20480x16384xf4E2M1FN, #tenon.weight_layout<packed>>)
    x_scale(%xs : memref<?x512xf8E8M0FNU, #tenon.weight_layout<packed>>)
    weight_scale(%ws : memref<20480x512xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x20480xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>, expected_tokens = 512 : i64}
  return
}
}

// -----

// The same with row-major scales: a wave reads them row by row, so waves have rows of their
// own, and no tall tile has the registers.
// CHECK-LABEL: func.func @scale_rows
// CHECK: schedules = [{{.*}}tile = [128, 256, 256], waves = [4, 1]}
// CHECK-NOT: tile = [192
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @scale_rows(%x: memref<?x16384xf4E2M1FN, strided<[?, 1]>>,
    %weights: memref<20480x16384xf4E2M1FN, #tenon.weight_layout<packed>>,
    %xs: memref<?x512xf8E8M0FNU, strided<[?, 1]>>,
    %ws: memref<20480x512xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x20480xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x16384xf4E2M1FN, strided<[?, 1]>>)
    weights(%weights : memref<20480x16384xf4E2M1FN, #tenon.weight_layout<packed>>)
    x_scale(%xs : memref<?x512xf8E8M0FNU, strided<[?, 1]>>)
    weight_scale(%ws : memref<20480x512xf8E8M0FNU, #tenon.weight_layout<packed>>)
    out(%out : memref<?x20480xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>, expected_tokens = 512 : i64}
  return
}
}

// -----

// 81 tiles of many steps: evenly shared steps are among the schedules.
// CHECK-LABEL: func.func @shared_steps
// CHECK: stream_k = 256 : i64
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @shared_steps(%x: memref<?x65536xbf16, strided<[?, 1]>>,
    %weights: memref<2304x65536xbf16, strided<[?, 1]>>, %out: memref<?x2304xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x65536xbf16, strided<[?, 1]>>)
    weights(%weights : memref<2304x65536xbf16, strided<[?, 1]>>)
    out(%out : memref<?x2304xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>, expected_tokens = 2304 : i64}
  return
}
}

// -----

// 128 tokens by narrow weights: tiles that nobody shares fill the chip, and sums of larger
// ones would cost more than their operands save.
// CHECK-LABEL: func.func @narrow
// CHECK: schedules = [{stages = 2 : i64, tile = [64, 64, 256], waves = [1, 1, 4]},
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @narrow(%x: memref<?x1536xbf16, strided<[?, 1]>>,
    %weights: memref<7168x1536xbf16, strided<[?, 1]>>, %out: memref<?x7168xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x1536xbf16, strided<[?, 1]>>)
    weights(%weights : memref<7168x1536xbf16, strided<[?, 1]>>)
    out(%out : memref<?x7168xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>, expected_tokens = 128 : i64}
  return
}
}

// -----

// A deeper K is shared. Of stages with the same cost more come first, and none where one
// operand alone has a stage more although LDS has room for both.
// CHECK-LABEL: func.func @deep
// CHECK: schedules = [{lds = "both", order = "prefetch", split = 6 : i64, stages = 4 : i64, tile = [128, 96, 64], waves = [4, 1]},
// CHECK-SAME: {lds = "both", order = "prefetch", split = 6 : i64, stages = 3 : i64, tile = [128, 96, 64], waves = [4, 1]},
// CHECK-NOT: stages = [3, 4]
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @deep(%x: memref<?x7168xbf16, strided<[?, 1]>>,
    %weights: memref<3072x7168xbf16, strided<[?, 1]>>, %out: memref<?x3072xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x7168xbf16, strided<[?, 1]>>)
    weights(%weights : memref<3072x7168xbf16, strided<[?, 1]>>)
    out(%out : memref<?x3072xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>, expected_tokens = 128 : i64}
  return
}
}
