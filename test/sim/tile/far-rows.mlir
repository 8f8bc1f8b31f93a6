// Rows that tiles of indices name, each a window of its own: read from one array, of which
// columns from 50 on are beyond the bound, and written to another, there from 60 on. A row
// that is negative is none.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/far_rows.py %t
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg npy:%t.from.npy \
// RUN:   --arg npy:%t.to.npy --arg npy:%t.before.npy:out=%t.out.npy | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/arrays.py same %t.want.npy %t.out.npy

#rows = #tile.layout<[64, 64],
  register = [[1, 0], [2, 0], [4, 0], [8, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = [[16, 0], [32, 0]]>

tile.kernel @k(%in: !tile.ptr<f32>, %from: !tile.ptr<i32>, %to: !tile.ptr<i32>,
               %out: !tile.ptr<f32>) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %index_bytes = arith.constant 256 : i32
  %read_bytes = arith.constant 200 : i32
  %write_bytes = arith.constant 240 : i32
  %fv = tile.view %from strides [1] bytes %index_bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %tv = tile.view %to strides [1] bytes %index_bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %f = tile.load %fv[%c0] : !tile.view<1 x i32> -> tensor<64xi32>
  %t = tile.load %tv[%c0] : !tile.view<1 x i32> -> tensor<64xi32>
  %v = tile.view %in strides [64, 1] bytes %read_bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %o = tile.view %out strides [%c64, 1] bytes %write_bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %g = tile.load %v[%c0, %c0] rows %f : tensor<64xi32> {far} : !tile.view<2 x f32> -> tensor<64x64xf32, #rows>
  tile.store %g, %o[%c0, %c0] rows %t : tensor<64xi32> {far} : tensor<64x64xf32, #rows>, !tile.view<2 x f32>
  tile.return
}
