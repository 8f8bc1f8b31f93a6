// RUN: tenon-opt %s --convert-tile-to-rocdl | FileCheck %s

// What a kernel says to the register allocator and to the scheduler, and barriers that some
// waves alone come to.

#sums = #tile.layout<[32, 32], register = [[0, 1], [0, 2], [0, 8], [0, 16]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], wave = [[0, 0], [0, 0], [0, 0]]>
#lhs = #tile.layout<[32, 16], register = [[0, 1], [0, 2], [0, 4]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], wave = [[0, 0], [0, 0], [0, 0]]>
#rhs = #tile.layout<[16, 32], register = [[1, 0], [2, 0], [4, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [8, 0]], wave = [[0, 0], [0, 0], [0, 0]]>

module attributes {tile.target = #tile.target<"gfx950">} {

// CHECK-LABEL: llvm.func @given
// CHECK-SAME: ["amdgpu-agpr-alloc", "32"]
// CHECK-SAME: rocdl.waves_per_eu = 2 : i32
tile.kernel @given(%p: !tile.ptr<f32>, %n: i32)
    attributes {waves = 8 : i32, agprs = 32 : i32, pinned, waves_per_simd = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %x = arith.constant dense<1.0> : tensor<32x16xbf16, #lhs>
  %y = arith.constant dense<1.0> : tensor<16x32xbf16, #rhs>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #sums>
  // CHECK: llvm.call_intrinsic "llvm.amdgcn.mfma
  // CHECK-NEXT: rocdl.sched.barrier 0
  %z = tile.mma %x, %y, %zero {instruction = array<i64: 32, 16>}
      : tensor<32x16xbf16, #lhs>, tensor<16x32xbf16, #rhs>, tensor<32x32xf32, #sums>
  // CHECK: %[[PLACE:.*]] = llvm.sub %{{.*}}, %{{.*}} : i32
  // CHECK: %[[WITHIN:.*]] = llvm.icmp "ult" %[[PLACE]],
  // CHECK: llvm.cond_br %[[WITHIN]], ^[[MEET:.*]], ^[[REST:.*]]
  // CHECK: ^[[MEET]]:
  // CHECK: rocdl.s.barrier
  // CHECK: llvm.br ^[[REST]]
  tile.barrier waves [4, 8]
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  tile.store %z, %v[%c0, %c0] : tensor<32x32xf32, #sums>, !tile.view<2 x f32>
  tile.return
}

// CHECK-LABEL: llvm.func @usual
// CHECK-SAME: ["amdgpu-agpr-alloc", "0"]
tile.kernel @usual() attributes {waves = 1 : i32} {
  tile.return
}

// Behind the inner loop of one with tile.recompute the offsets of lanes follow from a copy of
// the lane's number that LLVM cannot look through; elsewhere from the number itself.
// CHECK-LABEL: llvm.func @recompute
// CHECK: %[[THREAD:.*]] = llvm.inline_asm has_side_effects "", "=v,0" %{{.*}} : (i32) -> i32
// CHECK: llvm.{{.*}} %[[THREAD]],
// CHECK: rocdl.raw.ptr.buffer.store
// CHECK-NOT: "=v,0"
tile.kernel @recompute(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 8 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32, #sums>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<32x32xf32, #sums>) : i32 {
      %t = arith.addf %s, %s : tensor<32x32xf32, #sums>
      scf.yield %t : tensor<32x32xf32, #sums>
    }
    %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
    tile.store %sum, %v[%i, %c0] : tensor<32x32xf32, #sums>, !tile.view<2 x f32>
  } {tile.recompute}
  tile.return
}

}
