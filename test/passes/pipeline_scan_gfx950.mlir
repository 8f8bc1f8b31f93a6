// RUN: tenon-opt %s --tile-assign-layouts | FileCheck %s --check-prefix=PLACED
// RUN: tenon-opt %s --tile-assign-layouts --tile-plan-lds --tile-insert-barriers --convert-tile-to-rocdl | FileCheck %s

// The layout of a scan reaches the load; the sums of the waves have room in LDS.
// PLACED: tile.load {{.*}} -> tensor<256xi32, #tile.layout<[256], register = {{\[\[}}1]], lane = {{\[\[}}2], [4], [8], [16], [32], [64]], wave = {{\[\[}}128]]>>
// PLACED: %[[B:.*]] = tile.alloc_lds : <2xi32>
// PLACED: tile.scan %{{.*}} through %[[B]]

module attributes {tile.target = #tile.target<"gfx950">} {
// Two elements of a thread, the lanes of a row, rows, halves, then the waves.
// CHECK-LABEL: llvm.func @k(
// CHECK: rocdl.update.dpp {{.*}} with 273
// CHECK: rocdl.update.dpp {{.*}} with 274
// CHECK: rocdl.update.dpp {{.*}} with 276
// CHECK: rocdl.update.dpp {{.*}} with 280
// CHECK: rocdl.update.dpp {{.*}} with 322, 10
// CHECK: rocdl.update.dpp {{.*}} with 323, 12
// CHECK: rocdl.readlane
// CHECK: llvm.store
// CHECK: rocdl.s.barrier
// CHECK-COUNT-2: rocdl.readfirstlane
tile.kernel @k(%in: !tile.ptr<i32>, %out: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %bytes = arith.constant 1024 : i32
  %v = tile.view %in strides [1] bytes %bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %o = tile.view %out strides [1] bytes %bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %x = tile.load %v[%c0] : !tile.view<1 x i32> -> tensor<256xi32>
  %s, %t = tile.scan %x : tensor<256xi32>
  tile.store %s, %o[%c0] : tensor<256xi32>, !tile.view<1 x i32>
  tile.return
}
}
