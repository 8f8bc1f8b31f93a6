// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))' | FileCheck %s

// A read waits for the writes of the other waves; one barrier serves both
// buffers that were written before it.
// CHECK-LABEL: tile.kernel @read_after_write(
tile.kernel @read_after_write(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  %b = tile.alloc_lds at 512 : !tile.lds<128xf32>
  // CHECK: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %t, %b : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_load
  %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.lds_load
  %v = tile.lds_load %b : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.return
  tile.return
}

// A write waits for the reads of the other waves.
// CHECK-LABEL: tile.kernel @write_after_read(
tile.kernel @write_after_read(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  // CHECK: tile.lds_load
  %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.return
  tile.return
}

// The second of two writes is the one that stays.
// CHECK-LABEL: tile.kernel @write_after_write(
tile.kernel @write_after_write(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  // CHECK: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.return
  tile.return
}

// Reads do not disturb each other, and accesses of different places neither.
// CHECK-LABEL: tile.kernel @none(
tile.kernel @none(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  %b = tile.alloc_lds at 512 : !tile.lds<128xf32>
  // CHECK-NOT: tile.barrier
  %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  %v = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  tile.lds_store %t, %b : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK: tile.return
  tile.return
}

// Buffers that share storage depend on each other, down to the last byte.
// CHECK-LABEL: tile.kernel @shared_storage(
tile.kernel @shared_storage(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %s = tile.splat %f : f32 -> tensor<5xf32>
  // Bytes 0 to 19, and 16 to 527.
  %a = tile.alloc_lds at 0 : !tile.lds<5xf32>
  %b = tile.alloc_lds at 16 : !tile.lds<128xf32>
  // CHECK: tile.lds_load
  %u = tile.lds_load %a : !tile.lds<5xf32> -> tensor<5xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %t, %b : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.return
  tile.return
}

// A barrier that is there already counts, wherever it stands between the two.
// CHECK-LABEL: tile.kernel @existing(
tile.kernel @existing(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  // CHECK: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.barrier
  tile.barrier
  // CHECK-NEXT: tile.order_fence
  tile.order_fence
  // CHECK-NEXT: tile.lds_load
  %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.return
  tile.return
}

// A barrier ends what was open before it: what comes after starts anew, so the
// second write needs one of its own.
// CHECK-LABEL: tile.kernel @again(
tile.kernel @again(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  // CHECK: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_load
  %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %u, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_load
  %v = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.return
  tile.return
}

// A copy writes until the wait; other waves may read behind a barrier after it.
// CHECK-LABEL: tile.kernel @copy_then_read(
tile.kernel @copy_then_read(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.alloc_lds at 0 : !tile.lds<256xf32>
  // CHECK: tile.copy_to_lds
  %t = tile.copy_to_lds %v[%c0], %a : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  // CHECK-NEXT: tile.wait_copies
  tile.wait_copies %t : !tile.token
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_load
  %x = tile.lds_load %a : !tile.lds<256xf32> -> tensor<256xf32>
  // A copy may overwrite what was read only behind a barrier.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.copy_to_lds
  %u = tile.copy_to_lds %v[%c0], %a : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  tile.wait_copies %u : !tile.token
  // CHECK: tile.return
  tile.return
}

// A copy of rows that lie anywhere reads where they begin as it starts, from what all
// waves have written; they may be overwritten behind a barrier.
// CHECK-LABEL: tile.kernel @copy_rows(
tile.kernel @copy_rows(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %r = arith.constant dense<0> : tensor<32xi64>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.alloc_lds at 0 : !tile.lds<32x8xf32>
  %b = tile.alloc_lds at 1024 : !tile.lds<32xi64>
  // CHECK: tile.lds_store
  tile.lds_store %r, %b : tensor<32xi64>, !tile.lds<32xi64>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.copy_to_lds
  %t = tile.copy_to_lds %v[%c0, %c0] rows %b : !tile.lds<32xi64>, %a
      : !tile.view<2 x f32>, !tile.lds<32x8xf32> -> !tile.token
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %r, %b : tensor<32xi64>, !tile.lds<32xi64>
  // CHECK-NEXT: tile.wait_copies
  tile.wait_copies %t : !tile.token
  tile.return
}

// A barrier before the wait does not count: the other waves' shares are in
// flight across it.
// CHECK-LABEL: tile.kernel @barrier_before_wait(
tile.kernel @barrier_before_wait(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.alloc_lds at 0 : !tile.lds<256xf32>
  // CHECK: tile.copy_to_lds
  %t = tile.copy_to_lds %v[%c0], %a : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  tile.barrier
  // CHECK: tile.wait_copies
  tile.wait_copies %t : !tile.token
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_load
  %x = tile.lds_load %a : !tile.lds<256xf32> -> tensor<256xf32>
  tile.return
}

// Stages that differ for sure do not depend on each other; an index that is
// known at run time only may be any.
// CHECK-LABEL: tile.kernel @stages(
tile.kernel @stages(%f: f32, %i: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32, stages = 2>
  %s0 = tile.lds_stage %a[%c0] : !tile.lds<128xf32, stages = 2> -> !tile.lds<128xf32>
  %s1 = tile.lds_stage %a[%c1] : !tile.lds<128xf32, stages = 2> -> !tile.lds<128xf32>
  %si = tile.lds_stage %a[%i] : !tile.lds<128xf32, stages = 2> -> !tile.lds<128xf32>
  // CHECK: tile.lds_store
  tile.lds_store %t, %s0 : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.lds_load
  %x = tile.lds_load %s1 : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_load
  %y = tile.lds_load %si : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.return
  tile.return
}

// Parts depend on each other where their bytes meet.
// CHECK-LABEL: tile.kernel @parts(
tile.kernel @parts(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<384xf32>
  %front = tile.lds_part %a at 0 : !tile.lds<384xf32> -> !tile.lds<128xf32>
  %middle = tile.lds_part %a at 64 : !tile.lds<384xf32> -> !tile.lds<128xf32>
  %back = tile.lds_part %a at 128 : !tile.lds<384xf32> -> !tile.lds<128xf32>
  // CHECK: tile.lds_store
  // CHECK-NOT: tile.barrier
  // CHECK: tile.lds_load
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_load
  tile.lds_store %t, %front : tensor<128xf32>, !tile.lds<128xf32>
  %x = tile.lds_load %back : !tile.lds<128xf32> -> tensor<128xf32>
  %y = tile.lds_load %middle : !tile.lds<128xf32> -> tensor<128xf32>
  tile.return
}

// Two stages, one copy ahead. The wait makes one barrier necessary before the read; the
// read is what the next iteration's copy must not overtake.
// CHECK-LABEL: tile.kernel @double_buffered(
tile.kernel @double_buffered(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c256 = arith.constant 256 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %b = tile.alloc_lds at 0 : !tile.lds<256xf32, stages = 2>
  %s0 = tile.lds_stage %b[%c0] : !tile.lds<256xf32, stages = 2> -> !tile.lds<256xf32>
  // CHECK: tile.copy_to_lds
  // CHECK-NOT: tile.barrier
  %t0 = tile.copy_to_lds %v[%c0], %s0 : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  // CHECK: scf.for
  %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0, %now = %c0) -> (!tile.token, i32) : i32 {
    %free = arith.subi %c1, %now : i32
    // CHECK: tile.lds_stage
    %sf = tile.lds_stage %b[%free] : !tile.lds<256xf32, stages = 2> -> !tile.lds<256xf32>
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.copy_to_lds
    %u = tile.copy_to_lds %v[%i], %sf : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
    // CHECK-NEXT: tile.wait_copies
    tile.wait_copies %t : !tile.token
    // CHECK-NEXT: tile.lds_stage
    %sn = tile.lds_stage %b[%now] : !tile.lds<256xf32, stages = 2> -> !tile.lds<256xf32>
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.lds_load
    %x = tile.lds_load %sn : !tile.lds<256xf32> -> tensor<256xf32>
    // CHECK-NEXT: scf.yield
    scf.yield %u, %free : !tile.token, i32
  }
  // CHECK: tile.wait_copies
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  tile.wait_copies %last#0 : !tile.token
  tile.return
}

// A loop is ordered against its own earlier iterations: the store of the second
// iteration must not overtake the load of the first.
// CHECK-LABEL: tile.kernel @back_edge(
tile.kernel @back_edge(%f: f32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.lds_store
    tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
    // CHECK-NEXT: tile.barrier
    // CHECK-NEXT: tile.lds_load
    %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
    // CHECK-NEXT: }
  }
  // There may have been no iteration, and the last one left a read.
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  tile.return
}

// With three stages one barrier of the program's own is enough, wherever it has the
// reads of the stage that is free behind it: none is added.
// CHECK-LABEL: tile.kernel @triple_buffered(
tile.kernel @triple_buffered(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %b = tile.alloc_lds at 0 : !tile.lds<256xf32, stages = 3>
  %s0 = tile.lds_stage %b[%c0] : !tile.lds<256xf32, stages = 3> -> !tile.lds<256xf32>
  %s1 = tile.lds_stage %b[%c1] : !tile.lds<256xf32, stages = 3> -> !tile.lds<256xf32>
  %t0 = tile.copy_to_lds %v[%c0], %s0 : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  %t1 = tile.copy_to_lds %v[%c0], %s1 : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  // CHECK: scf.for
  // CHECK-COUNT-1: tile.barrier
  // CHECK-NOT: tile.barrier
  // CHECK: tile.return
  %last:4 = scf.for %i = %c0 to %n step %c1
      iter_args(%t = %t0, %u = %t1, %now = %c0, %free = %c2)
      -> (!tile.token, !tile.token, i32, i32) : i32 {
    tile.wait_copies %t : !tile.token
    tile.barrier
    %sf = tile.lds_stage %b[%free] : !tile.lds<256xf32, stages = 3> -> !tile.lds<256xf32>
    %w = tile.copy_to_lds %v[%i], %sf : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
    %sn = tile.lds_stage %b[%now] : !tile.lds<256xf32, stages = 3> -> !tile.lds<256xf32>
    %x = tile.lds_load %sn : !tile.lds<256xf32> -> tensor<256xf32>
    %more = arith.addi %now, %c1 : i32
    %next = arith.remui %more, %c2 : i32
    scf.yield %u, %w, %next, %now : !tile.token, !tile.token, i32, i32
  }
  tile.wait_copies %last#0, %last#1 : !tile.token, !tile.token
  tile.return
}

// Stages at different shifts from one index are different ones, as long as the index has
// one value: in the next iteration it is another.
// CHECK-LABEL: tile.kernel @shifts(
tile.kernel @shifts(%f: f32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32, stages = 2>
  // CHECK: scf.for
  scf.for %i = %c0 to %n step %c1 : i32 {
    %now = arith.andi %i, %c1 : i32
    %s0 = tile.lds_stage %a[%now] : !tile.lds<128xf32, stages = 2> -> !tile.lds<128xf32>
    %s1 = tile.lds_stage %a[%now + 1] : !tile.lds<128xf32, stages = 2> -> !tile.lds<128xf32>
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.lds_load
    %x = tile.lds_load %s0 : !tile.lds<128xf32> -> tensor<128xf32>
    // CHECK-NEXT: tile.lds_store
    tile.lds_store %t, %s1 : tensor<128xf32>, !tile.lds<128xf32>
    // CHECK-NEXT: }
  }
  tile.return
}

// The waves of tile.arrive meet before it and read its word behind a barrier of its own:
// what was written before is seen behind it, and only a write of the word has to wait.
// CHECK-LABEL: tile.kernel @arrive(
tile.kernel @arrive(%f: f32, %p: !tile.ptr<i32>) attributes {waves = 4 : i32} {
  %count_n = arith.constant 3 : i32
  %t = tile.splat %f : f32 -> tensor<128xf32>
  %a = tile.alloc_lds at 0 : !tile.lds<128xf32>
  %w = tile.alloc_lds at 512 : !tile.lds<1xi32>
  %b = tile.alloc_lds at 512 : !tile.lds<128xf32>
  // CHECK: tile.lds_store
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  // CHECK-NEXT: tile.arrive
  %n = tile.arrive %p of %count_n through %w : !tile.lds<1xi32> : !tile.ptr<i32>
  // CHECK-NEXT: tile.lds_load
  %x = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.lds_store
  tile.lds_store %x, %b : tensor<128xf32>, !tile.lds<128xf32>
  tile.return
}
