// Rows of 8 written to where a tile of indices says; a negative index and one beyond the
// bound are not written. The greatest index and the sum of all reach scalar registers.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/scatter.py make %t.in.npy %t.rows.npy
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 128 --arg npy:%t.in.npy --arg npy:%t.rows.npy \
// RUN:   --arg buf:3200:fill=zero:out=%t.out.npy --arg buf:8:out=%t.found.npy | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/scatter.py check %t.in.npy %t.rows.npy %t.out.npy %t.found.npy

#spread = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [[0]]>

tile.kernel @k(%in: !tile.ptr<f32>, %rows: !tile.ptr<i32>, %out: !tile.ptr<f32>,
               %found: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %bytes = arith.constant 2048 : i32
  %index_bytes = arith.constant 256 : i32
  %out_bytes = arith.constant 3200 : i32
  %found_bytes = arith.constant 8 : i32
  %v = tile.view %in strides [8, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %r = tile.view %rows strides [1] bytes %index_bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %o = tile.view %out strides [8, 1] bytes %out_bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %f = tile.view %found strides [1] bytes %found_bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %i = tile.load %r[%c0] : !tile.view<1 x i32> -> tensor<64xi32>
  %x = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<64x8xf32>
  tile.store %x, %o[%c0, %c0] rows %i : tensor<64xi32> : tensor<64x8xf32>, !tile.view<2 x f32>
  %j = tile.load %r[%c0] : !tile.view<1 x i32> -> tensor<64xi32, #spread>
  %max = tile.reduce max %j dims [0] : tensor<64xi32, #spread> -> tensor<i32>
  %sum = tile.reduce add %j dims [0] : tensor<64xi32, #spread> -> tensor<i32>
  %most = tile.uniform %max : tensor<i32>
  %all = tile.uniform %sum : tensor<i32>
  %c1 = arith.constant 1 : i32
  %a = tile.splat %most : i32 -> tensor<1xi32>
  %b = tile.splat %all : i32 -> tensor<1xi32>
  tile.store %a, %f[%c0] : tensor<1xi32>, !tile.view<1 x i32>
  tile.store %b, %f[%c1] : tensor<1xi32>, !tile.view<1 x i32>
  tile.return
}
