// RUN: tenon-opt %s -split-input-file --tile-assign-layouts | FileCheck %s --check-prefix=PLACED
// RUN: tenon-opt %s -split-input-file --tile-assign-layouts --tile-plan-lds --tile-insert-barriers --convert-tile-to-rocdl | FileCheck %s

// Results lie one to a lane, in every wave alike. The buffer has room for all values with
// their ids, the results, the waves' maxima and the number of what is compared.
// PLACED: %[[B:.*]] = tile.alloc_lds : <2085xi32>
// PLACED: tile.top_k %{{.*}}, %{{.*}} through %[[B]] : !tile.lds<2085xi32> : tensor<1024xf32, {{.*}}>, tensor<1024xi32, {{.*}}> -> tensor<16xf32, #tile.layout<[16], register = [], lane = {{\[\[}}1], [2], [4], [8], [0], [0]], wave = {{\[\[}}0], [0]]>>, tensor<16xi32

module attributes {tile.target = #tile.target<"gfx950">} {
// Of four waves, four groups each: maxima of 16 lanes, then the smallest of these.
// CHECK-LABEL: llvm.func @k(
// CHECK-COUNT-3: llvm.intr.umax
// CHECK: rocdl.update.dpp {{.*}} with 177
// CHECK: llvm.intr.umax
// CHECK: rocdl.update.dpp {{.*}} with 78
// CHECK: llvm.intr.umax
// CHECK: rocdl.update.dpp {{.*}} with 321
// CHECK: llvm.intr.umax
// CHECK: rocdl.update.dpp {{.*}} with 296
// CHECK: llvm.intr.umax
// CHECK: rocdl.permlane16.swap
// CHECK: llvm.intr.umin
// CHECK: rocdl.permlane32.swap
// CHECK: llvm.intr.umin
// CHECK: rocdl.s.barrier
// CHECK: llvm.atomicrmw add
// CHECK: rocdl.s.barrier
// CHECK: rocdl.readlane
// CHECK: rocdl.s.barrier
tile.kernel @k(%in: !tile.ptr<f32>, %out: !tile.ptr<i32>) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %bytes = arith.constant 4096 : i32
  %v = tile.view %in strides [1] bytes %bytes : !tile.ptr<f32> -> !tile.view<1 x f32>
  %o = tile.view %out strides [1] bytes %bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %x = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<1024xf32>
  %i = tile.iota dim 0 : tensor<1024xi32>
  %b, %w = tile.top_k %x, %i : tensor<1024xf32>, tensor<1024xi32> -> tensor<16xf32>, tensor<16xi32>
  tile.store %w, %o[%c0] : tensor<16xi32>, !tile.view<1 x i32>
  tile.return
}
}
