// Rows of 8 that a tile of indices names, in its order; a negative index and one beyond the
// bound read as zeros. Into registers, and into LDS by direct copies.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/gather.py make %t.in.npy %t.rows.npy %t.want.npy
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 128 --arg npy:%t.in.npy --arg npy:%t.rows.npy --arg buf:2048:out=%t.out.npy | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/arrays.py same %t.want.npy %t.out.npy
// RUN: sed 's/rows %i : tensor<64xi32>/& {staged}/' %s > %t.staged.mlir
// RUN: tenon compile %t.staged.mlir -o %t.staged.co
// RUN: tenon sim %t.staged.co --block 128 --arg npy:%t.in.npy --arg npy:%t.rows.npy --arg buf:2048:out=%t.staged.npy | FileCheck %s
// RUN: %{python} %S/Inputs/arrays.py same %t.want.npy %t.staged.npy

tile.kernel @k(%in: !tile.ptr<f32>, %rows: !tile.ptr<i32>, %out: !tile.ptr<f32>)
    attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %bytes = arith.constant 3200 : i32
  %index_bytes = arith.constant 256 : i32
  %out_bytes = arith.constant 2048 : i32
  %v = tile.view %in strides [8, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %r = tile.view %rows strides [1] bytes %index_bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %o = tile.view %out strides [8, 1] bytes %out_bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %i = tile.load %r[%c0] : !tile.view<1 x i32> -> tensor<64xi32>
  %g = tile.load %v[%c0, %c0] rows %i : tensor<64xi32> : !tile.view<2 x f32> -> tensor<64x8xf32>
  tile.store %g, %o[%c0, %c0] : tensor<64x8xf32>, !tile.view<2 x f32>
  tile.return
}
