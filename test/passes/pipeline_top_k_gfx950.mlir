// RUN: tenon-opt %s -split-input-file --tile-assign-layouts | FileCheck %s --check-prefix=PLACED
// RUN: tenon-opt %s -split-input-file --tile-assign-layouts --tile-plan-lds --tile-insert-barriers --convert-tile-to-rocdl | FileCheck %s

// Results lie one to a lane, in every wave alike. The buffer has room for all values with
// their ids, the results with a place for what is none, the waves' bounds and the number of
// what is compared.
// PLACED: %[[B:.*]] = tile.alloc_lds : <2096xi32>
// PLACED: tile.top_k %{{.*}}, %{{.*}} through %[[B]] : !tile.lds<2096xi32> : tensor<1024xf32, {{.*}}>, tensor<1024xi32, {{.*}}> -> tensor<16xf32, #tile.layout<[16], register = [], lane = {{\[\[}}1], [2], [4], [8], [0], [0]], wave = {{\[\[}}0], [0]]>>, tensor<16xi32

module attributes {tile.target = #tile.target<"gfx950">} {
// Of 16 lanes the two greatest are known, first of each lane, then of rows of 16; then the
// fourth of four rows, of which each of four waves has one.
// CHECK-LABEL: llvm.func @k(
// CHECK-COUNT-3: llvm.intr.umin
// CHECK: rocdl.update.dpp {{.*}} with 177
// CHECK: rocdl.update.dpp {{.*}} with 177
// CHECK: rocdl.update.dpp {{.*}} with 78
// CHECK: rocdl.update.dpp {{.*}} with 78
// CHECK: rocdl.update.dpp {{.*}} with 321
// CHECK: rocdl.update.dpp {{.*}} with 321
// CHECK: rocdl.update.dpp {{.*}} with 296
// CHECK: rocdl.update.dpp {{.*}} with 296
// CHECK-COUNT-2: rocdl.permlane16.swap
// CHECK-COUNT-4: rocdl.permlane32.swap
// CHECK: rocdl.s.barrier
// The least of the waves' bounds.
// CHECK: rocdl.update.dpp {{.*}} with 177
// CHECK: llvm.intr.umin
// CHECK: rocdl.update.dpp {{.*}} with 78
// CHECK: %[[LEAST:.*]] = llvm.intr.umin
// Each of four values of a lane takes its place among what reaches it.
// CHECK-COUNT-4: rocdl.ballot
// CHECK: llvm.atomicrmw add
// CHECK-COUNT-4: rocdl.mbcnt.hi
// CHECK: rocdl.s.barrier
// A wave takes 16 elements and counts, of all others in its lanes, what is greater.
// CHECK-COUNT-16: rocdl.ballot
// CHECK-NOT: rocdl.ballot
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
