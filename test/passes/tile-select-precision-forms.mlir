// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision))' | FileCheck %s
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision{form=bf16x1}))' | FileCheck %s --check-prefix=FORCED
// RUN: not tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision{form=bf16x2}))' 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: form must be auto, native, bf16x1, bf16x3 or bf16x6, found 'bf16x2'
module attributes {tile.target = #tile.target<"gfx950">} {
// FP32 operands as sums of BF16 parts where that is accurate enough and costs less: the
// products of the small parts come first, and gate and up share the parts of x.
// CHECK-LABEL: @split
// CHECK: %[[A:.*]] = tile.load
// CHECK: %[[A0:.*]] = arith.truncf %[[A]]
// CHECK: %[[BACK:.*]] = arith.extf %[[A0]]
// CHECK: %[[REST:.*]] = arith.subf %[[A]], %[[BACK]]
// CHECK: %[[A1:.*]] = arith.truncf %[[REST]]
// CHECK: %[[B0:.*]] = arith.truncf
// CHECK: %[[B1:.*]] = arith.truncf
// CHECK: %[[S:.*]] = tile.mma %[[A1]], %[[B0]], %{{.*}} {instruction = array<i64: 32, 16>}
// CHECK: %[[T:.*]] = tile.mma %[[A0]], %[[B1]], %[[S]]
// CHECK: tile.mma %[[A0]], %[[B0]], %[[T]]
// CHECK-NOT: arith.truncf %[[A]] :
// CHECK: tile.return
// FORCED-LABEL: @split
// FORCED-COUNT-2: tile.mma {{.*}} tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
// FORCED-NOT: tile.mma
tile.kernel @split(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %i = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%i, %i] : !tile.view<2 x f32> -> tensor<64x64xf32>
  %b = tile.load %v[%i, %i] : !tile.view<2 x f32> -> tensor<64x64xf32>
  %b2 = tile.load %v[%i, %i] : !tile.view<2 x f32> -> tensor<64x64xf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.mma %a, %b, %c {accuracy = 1.0e-4 : f64} : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  %s = tile.mma %a, %b2, %c {accuracy = 1.0e-4 : f64} : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// A product that names its instruction takes the form that has it.
// CHECK-LABEL: @named
// CHECK-COUNT-3: tile.mma {{.*}} {instruction = array<i64: 16, 32>} : tensor<64x64xbf16>
// CHECK-NOT: tile.mma
// FORCED-LABEL: @named
tile.kernel @named(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %i = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%i, %i] : !tile.view<2 x f32> -> tensor<64x64xf32>
  %b = tile.load %v[%i, %i] : !tile.view<2 x f32> -> tensor<64x64xf32>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = tile.mma %a, %b, %c {instruction = array<i64: 16, 32>, accuracy = 1.0e-4 : f64} : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
  tile.return
}
}
