// RUN: tenon-opt %s --convert-tile-to-rocdl | FileCheck %s

#l = #tile.layout<[128], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [[64]]>
#one = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>

module attributes {tile.target = #tile.target<"gfx950">} {

// Coherent accesses have sc1 (policy 16). All waves wait for their stores (112: for
// everything but exports) and meet; one thread counts and passes on what it found.
// CHECK-LABEL: llvm.func @waves(
tile.kernel @waves(%p: !tile.ptr<f32>, %c: !tile.ptr<i32>, %n: i32)
    attributes {waves = 2 : i32, lds_bytes = 16 : i64} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[COHERENT:.*]] = llvm.mlir.constant(16 : i32) : i32
  // CHECK: rocdl.raw.ptr.buffer.load {{.*}}, %[[COHERENT]]
  %t = tile.load %v[%c0] {coherent} : !tile.view<1 x f32> -> tensor<128xf32, #l>
  // CHECK: %[[BOTH:.*]] = llvm.mlir.constant(18 : i32) : i32
  // CHECK: rocdl.raw.ptr.buffer.store {{.*}}, %[[BOTH]]
  tile.store %t, %v[%c0] {coherent, nontemporal} : tensor<128xf32, #l>, !tile.view<1 x f32>
  %w = tile.alloc_lds at 0 : !tile.lds<1xi32>
  %count_before = arith.constant 3 : i32
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-NEXT: rocdl.sched.barrier 0
  // CHECK-NEXT: rocdl.s.waitcnt 112
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK: llvm.cond_br %{{.*}}, ^[[COUNT:.*]], ^[[AFTER:.*]](
  // CHECK: ^[[COUNT]]:
  // CHECK: %[[OLD:.*]] = llvm.atomicrmw uinc_wrap %{{.*}}, %{{.*}} syncscope("agent") monotonic
  // CHECK-NEXT: llvm.store %[[OLD]]
  // CHECK-NEXT: llvm.br ^[[AFTER]](
  // CHECK: rocdl.s.barrier
  // CHECK: %[[READ:.*]] = llvm.load
  // CHECK-NEXT: rocdl.readfirstlane %[[READ]]
  // CHECK: rocdl.sched.barrier 0
  %before = tile.arrive %c of %count_before through %w : !tile.lds<1xi32> : !tile.ptr<i32>
  tile.return
}

// A wave alone needs neither LDS nor barriers.
// CHECK-LABEL: llvm.func @wave(
tile.kernel @wave(%c: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %count_before = arith.constant 3 : i32
  // CHECK-NOT: barrier{{$}}
  // CHECK: llvm.atomicrmw uinc_wrap
  // CHECK: ^{{.*}}(%[[OLD:.*]]: i32):
  // CHECK-NEXT: rocdl.readfirstlane %[[OLD]]
  %before = tile.arrive %c of %count_before : !tile.ptr<i32>
  tile.return
}

}
