// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision))' --split-input-file --verify-diagnostics

module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @types(%p: !tile.ptr<f32>) attributes {waves = 1 : i32} {
  %a = arith.constant dense<1> : tensor<16x32xi32>
  %b = arith.constant dense<1> : tensor<32x16xi32>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{no instruction of gfx950 multiplies 'i32' by 'i32'}}
  %r = tile.mma %a, %b, %c : tensor<16x32xi32>, tensor<32x16xi32>, tensor<16x16xf32>
  tile.return
}
}

// -----

module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @shape(%p: !tile.ptr<f32>) attributes {waves = 2 : i32} {
  %a = arith.constant dense<1.0> : tensor<24x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x16xbf16>
  %c = arith.constant dense<0.0> : tensor<24x16xf32>
  // expected-error @+1 {{no instruction for 'bf16' divides [24, 32] by [32, 16] among 2 waves}}
  %r = tile.mma %a, %b, %c : tensor<24x32xbf16>, tensor<32x16xbf16>, tensor<24x16xf32>
  tile.return
}
}

// -----

// FP8 of gfx942 has another bias.
module attributes {tile.target = #tile.target<"gfx942">} {
tile.kernel @flavour(%p: !tile.ptr<f32>) attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x128xf8E4M3FN>
  %b = arith.constant dense<1.0> : tensor<128x16xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{no instruction of gfx942 multiplies 'f8E4M3FN' by 'f8E4M3FN'}}
  %r = tile.mma %a, %b, %c : tensor<16x128xf8E4M3FN>, tensor<128x16xf8E4M3FN>, tensor<16x16xf32>
  tile.return
}
}
