// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline))' | FileCheck %s

// Two stages: one fetch ahead of the loop, two in the unrolled body, each through a view
// that is empty beyond the last iteration, and the tiles in flight are carried.
// CHECK-LABEL: @two_stages
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %c0_i32, %[[N:.*]] : i32
// CHECK: arith.select %[[FIRST]]
// CHECK: %[[A0:.*]] = tile.load
// CHECK: %[[B0:.*]] = tile.load
// CHECK: tile.order_fence
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %[[N]] step %{{.*}} iter_args(%[[C:.*]] = %{{.*}}, %[[A:.*]] = %[[A0]], %[[B:.*]] = %[[B0]])
// CHECK: %[[A1:.*]] = tile.load
// CHECK: %[[B1:.*]] = tile.load
// CHECK: tile.order_fence
// CHECK: %[[C1:.*]] = tile.mma %[[A]], %[[B]], %[[C]]
// CHECK: %[[A2:.*]] = tile.load
// CHECK: %[[B2:.*]] = tile.load
// CHECK: tile.order_fence
// CHECK: %[[C2:.*]] = tile.mma %[[A1]], %[[B1]], %[[C1]]
// CHECK: scf.yield %[[C2]], %[[A2]], %[[B2]]
tile.kernel @two_stages(%p: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %bytes = arith.constant 65536 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %v = tile.view %p strides [1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%c = %zero) -> (tensor<16x16xf32>) : i32 {
    %a = tile.load %v[%c0, %i] : !tile.view<2 x bf16> -> tensor<16x32xbf16>
    %b = tile.load %w[%i, %c0] : !tile.view<2 x bf16> -> tensor<32x16xbf16>
    %r = tile.mma %a, %b, %c : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    scf.yield %r : tensor<16x16xf32>
  } {tile.stages = 2 : i64}
  %ov = tile.view %o strides [16, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  tile.store %s, %ov[%c0, %c0] : tensor<16x16xf32>, !tile.view<2 x f32>
  tile.return
}

// One stage is no pipeline.
// CHECK-LABEL: @one_stage
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK-NOT: tile.stages
tile.kernel @one_stage(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = tile.load %v[%i] : !tile.view<1 x f32> -> tensor<64xf32>
    tile.store %a, %v[%i] : tensor<64xf32>, !tile.view<1 x f32>
  } {tile.stages = 1 : i64}
  tile.return
}
