// RUN: tenon-opt %s --convert-tile-to-rocdl | FileCheck %s

// Copies into LDS and the waits that cover them. The low four bits of s.waitcnt are the
// vector-memory instructions that may be in flight, the others wait for nothing:
// 3952 = 0xF70 is none, 3953 one, and so on.

#fours = #tile.layout<[256], register = [[1], [2]], lane = [[4], [8], [16], [32], [64], [128]],
  wave = []>
!lds = !tile.lds<256xf32>

module attributes {tile.target = #tile.target<"gfx950">} {

// A wait lets through what was issued after the copy: copies, loads and stores of all
// threads. LDS accesses and copies are in scopes that do not alias, barriers carry no
// fence.
// CHECK-LABEL: llvm.func @straight(
tile.kernel @straight(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32, lds_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.alloc_lds at 0 : !lds
  %b = tile.alloc_lds at 1024 : !lds
  // CHECK: rocdl.raw.ptr.buffer.load.lds {{.*}}alias_scopes = [#[[COPIES:.*]]], noalias_scopes = [#[[ACCESSES:.*]]]
  // CHECK-NEXT: llvm.inline_asm has_side_effects {{.*}}""
  // CHECK-NEXT: rocdl.sched.barrier 1935
  %s = tile.copy_to_lds %v[%c0], %a : !tile.view<1 x f32>, !lds -> !tile.token
  // CHECK: rocdl.raw.ptr.buffer.load.lds
  %t = tile.copy_to_lds %v[%c0], %b : !tile.view<1 x f32>, !lds -> !tile.token
  // CHECK: rocdl.raw.ptr.buffer.load %
  %x = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #fours>
  // CHECK: rocdl.raw.ptr.buffer.store %
  tile.store %x, %v[%c0] : tensor<256xf32, #fours>, !tile.view<1 x f32>
  // CHECK: rocdl.s.waitcnt 3955
  tile.wait_copies %s : !tile.token
  // CHECK-NEXT: llvm.inline_asm has_side_effects
  // CHECK-NEXT: rocdl.sched.barrier 1039
  // CHECK: rocdl.sched.barrier 1039
  // CHECK-NEXT: rocdl.s.waitcnt 49279
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.inline_asm has_side_effects
  // CHECK-NEXT: rocdl.sched.barrier 1039
  tile.barrier
  // CHECK: llvm.load {{.*}} {alias_scopes = [#[[ACCESSES]]], alignment = 16 : i64, noalias_scopes = [#[[COPIES]]]} : {{.*}} -> vector<4xf32>
  %y = tile.lds_load %a : !lds -> tensor<256xf32, #fours>
  // CHECK: llvm.store {{.*}} {alias_scopes = [#[[ACCESSES]]]
  tile.lds_store %y, %a : tensor<256xf32, #fours>, !lds
  // CHECK: rocdl.s.waitcnt 3954
  tile.wait_copies %t : !tile.token
  // CHECK-NOT: fence
  // CHECK: llvm.return
  tile.return
}

// A load that nothing uses is none: LLVM drops it.
// CHECK-LABEL: llvm.func @dropped(
tile.kernel @dropped(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32, lds_bytes = 1024 : i64} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.alloc_lds at 0 : !lds
  %s = tile.copy_to_lds %v[%c0], %a : !tile.view<1 x f32>, !lds -> !tile.token
  %x = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #fours>
  // CHECK: rocdl.s.waitcnt 3952
  tile.wait_copies %s : !tile.token
  tile.return
}

// In a loop the count is the least over all ways to the wait: the first iteration
// arrives with two copies behind the first token, later ones with three.
// CHECK-LABEL: llvm.func @loop(
tile.kernel @loop(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32, lds_bytes = 4096 : i64} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.alloc_lds at 0 : !tile.lds<256xf32, stages = 4>
  %a0 = tile.lds_stage %a[%c0] : !tile.lds<256xf32, stages = 4> -> !lds
  %s = tile.copy_to_lds %v[%c0], %a0 : !tile.view<1 x f32>, !lds -> !tile.token
  %t = tile.copy_to_lds %v[%c0], %a0 : !tile.view<1 x f32>, !lds -> !tile.token
  %u = tile.copy_to_lds %v[%c0], %a0 : !tile.view<1 x f32>, !lds -> !tile.token
  // CHECK: llvm.cond_br
  %r:3 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %s, %y = %t, %z = %u)
      -> (!tile.token, !tile.token, !tile.token) : i32 {
    // CHECK: rocdl.s.waitcnt 3954
    tile.wait_copies %x : !tile.token
    %ai = tile.lds_stage %a[%i] : !tile.lds<256xf32, stages = 4> -> !lds
    %w = tile.copy_to_lds %v[%i], %ai : !tile.view<1 x f32>, !lds -> !tile.token
    %l = tile.load %v[%i] : !tile.view<1 x f32> -> tensor<256xf32, #fours>
    tile.store %l, %v[%i] : tensor<256xf32, #fours>, !tile.view<1 x f32>
    // With the copy, a load and a store in between.
    // CHECK: rocdl.s.waitcnt 3956
    tile.wait_copies %y : !tile.token
    scf.yield %y, %z, %w : !tile.token, !tile.token, !tile.token
  }
  // Without an iteration nothing is behind the last copy.
  // CHECK: rocdl.s.waitcnt 3952
  tile.wait_copies %r#2 : !tile.token
  tile.return
}

}
