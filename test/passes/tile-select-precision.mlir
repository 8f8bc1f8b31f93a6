// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision))' | FileCheck %s

module attributes {tile.target = #tile.target<"gfx950">} {
// The larger instruction reads each operand less often: it comes first when it divides
// the tile among the waves.
// CHECK-LABEL: @large
// CHECK: tile.mma {{.*}} {instruction = array<i64: 32, 16>}
tile.kernel @large(%p: !tile.ptr<f32>) attributes {waves = 4 : i32} {
  %a = arith.constant dense<1.0> : tensor<64x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x64xbf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.mma %a, %b, %c : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
  tile.return
}

// Sixteen rows leave only the small one.
// CHECK-LABEL: @rows16
// CHECK: tile.mma {{.*}} {instruction = array<i64: 16, 32>}
tile.kernel @rows16(%p: !tile.ptr<f32>) attributes {waves = 4 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x32xf16>
  %b = arith.constant dense<1.0> : tensor<32x64xf16>
  %c = arith.constant dense<0.0> : tensor<16x64xf32>
  %r = tile.mma %a, %b, %c : tensor<16x32xf16>, tensor<32x64xf16>, tensor<16x64xf32>
  tile.return
}

// A given split of the waves counts: 32 columns per wave here, 16 rows.
// CHECK-LABEL: @given_waves
// CHECK: tile.mma {{.*}} {instruction = array<i64: 16, 4>, waves = array<i64: 4, 1>}
tile.kernel @given_waves(%p: !tile.ptr<f32>) attributes {waves = 4 : i32} {
  %a = arith.constant dense<1.0> : tensor<64x8xf32>
  %b = arith.constant dense<1.0> : tensor<8x32xf32>
  %c = arith.constant dense<0.0> : tensor<64x32xf32>
  %r = tile.mma %a, %b, %c {waves = array<i64: 4, 1>} : tensor<64x8xf32>, tensor<8x32xf32>, tensor<64x32xf32>
  tile.return
}

// An instruction that is there is kept.
// CHECK-LABEL: @kept
// CHECK: tile.mma {{.*}} {instruction = array<i64: 16, 32>}
tile.kernel @kept(%p: !tile.ptr<f32>) attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<32x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x32xbf16>
  %c = arith.constant dense<0.0> : tensor<32x32xf32>
  %r = tile.mma %a, %b, %c {instruction = array<i64: 16, 32>} : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xf32>
  tile.return
}

// Four slices of a contraction on four waves: each wave has its own product.
// CHECK-LABEL: @slices
// CHECK: tile.mma {{.*}} {instruction = array<i64: 32, 16>}
tile.kernel @slices(%p: !tile.ptr<f32>) attributes {waves = 4 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x32x32xbf16>
  %b = arith.constant dense<1.0> : tensor<4x32x32xbf16>
  %c = arith.constant dense<0.0> : tensor<4x32x32xf32>
  %r = tile.mma %a, %b, %c : tensor<4x32x32xbf16>, tensor<4x32x32xbf16>, tensor<4x32x32xf32>
  tile.return
}

// Bytes hold two values of FP4; a scaled product of FP4 and FP8.
// CHECK-LABEL: @scaled
// CHECK: tile.mma {{.*}} lhs_scale {{.*}} rhs_scale {{.*}} {instruction = array<i64: 16, 128>}
tile.kernel @scaled(%p: !tile.ptr<f8E8M0FNU>, %n: i32) attributes {waves = 1 : i32} {
  %i = arith.constant 0 : i32
  %v = tile.view %p strides [4, 1] bytes %n : !tile.ptr<f8E8M0FNU> -> !tile.view<2 x f8E8M0FNU>
  %s = tile.load %v[%i, %i] : !tile.view<2 x f8E8M0FNU> -> tensor<16x4xf8E8M0FNU>
  %t = tile.load %v[%i, %i] : !tile.view<2 x f8E8M0FNU> -> tensor<4x16xf8E8M0FNU>
  %a = arith.constant dense<1> : tensor<16x64xi8>
  %b = arith.constant dense<1.0> : tensor<128x16xf8E4M3FN>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  %r = tile.mma %a, %b, %c lhs_scale %s rhs_scale %t : tensor<16x64xi8>, tensor<128x16xf8E4M3FN>, tensor<16x16xf32> lhs_scale tensor<16x4xf8E8M0FNU> rhs_scale tensor<4x16xf8E8M0FNU>
  tile.return
}
}
