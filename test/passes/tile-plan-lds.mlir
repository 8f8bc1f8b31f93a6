// RUN: tenon-opt %s -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-plan-lds))' | FileCheck %s

module attributes {tile.target = #tile.target<"gfx950">} {

// Two buffers that never live together, too small to matter: storage of their
// own saves the barrier between the last read of one and the first write of the
// other. Allocation is in steps of 1280 bytes.
// CHECK-LABEL: tile.kernel @apart(
// CHECK-SAME: lds_bytes = 1024 : i64
// expected-remark @+1 {{1024 bytes of LDS, 1280 allocated: 8 workgroups per compute unit as far as LDS and wave slots go}}
tile.kernel @apart(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<128xf32>
  // CHECK: tile.alloc_lds at 0 : <128xf32>
  %a = tile.alloc_lds : !tile.lds<128xf32>
  tile.lds_store %t, %a : tensor<128xf32>, !tile.lds<128xf32>
  %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  // CHECK: tile.alloc_lds at 512 : <128xf32>
  %b = tile.alloc_lds : !tile.lds<128xf32>
  tile.lds_store %u, %b : tensor<128xf32>, !tile.lds<128xf32>
  %v = tile.lds_load %b : !tile.lds<128xf32> -> tensor<128xf32>
  tile.return
}

// Apart, 32 KiB would leave 4 workgroups on a compute unit; shared, 8 fit. That
// is worth a barrier.
// CHECK-LABEL: tile.kernel @shared(
// CHECK-SAME: lds_bytes = 16384 : i64
// expected-remark @+1 {{16384 bytes of LDS, 16640 allocated: 8 workgroups per compute unit}}
tile.kernel @shared(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<4096xf32>
  // CHECK: tile.alloc_lds at 0 : <4096xf32>
  %a = tile.alloc_lds : !tile.lds<4096xf32>
  tile.lds_store %t, %a : tensor<4096xf32>, !tile.lds<4096xf32>
  %u = tile.lds_load %a : !tile.lds<4096xf32> -> tensor<4096xf32>
  // CHECK: tile.alloc_lds at 0 : <4096xf32>
  %b = tile.alloc_lds : !tile.lds<4096xf32>
  tile.lds_store %u, %b : tensor<4096xf32>, !tile.lds<4096xf32>
  %v = tile.lds_load %b : !tile.lds<4096xf32> -> tensor<4096xf32>
  tile.return
}

// With 16 waves only two workgroups have wave slots, and sharing would buy
// nothing: the same buffers stay apart.
// CHECK-LABEL: tile.kernel @apart_by_waves(
// CHECK-SAME: lds_bytes = 32768 : i64
// expected-remark @+1 {{32768 bytes of LDS, 33280 allocated: 2 workgroups per compute unit}}
tile.kernel @apart_by_waves(%f: f32) attributes {waves = 16 : i32} {
  %t = tile.splat %f : f32 -> tensor<4096xf32>
  // CHECK: tile.alloc_lds at 0 : <4096xf32>
  %a = tile.alloc_lds : !tile.lds<4096xf32>
  tile.lds_store %t, %a : tensor<4096xf32>, !tile.lds<4096xf32>
  %u = tile.lds_load %a : !tile.lds<4096xf32> -> tensor<4096xf32>
  // CHECK: tile.alloc_lds at 16384 : <4096xf32>
  %b = tile.alloc_lds : !tile.lds<4096xf32>
  tile.lds_store %u, %b : tensor<4096xf32>, !tile.lds<4096xf32>
  %v = tile.lds_load %b : !tile.lds<4096xf32> -> tensor<4096xf32>
  tile.return
}

// A buffer lives from its first write to its last read: what lives across the
// others shares with none of them. Places are multiples of 16 bytes. A buffer
// that nobody uses gets none.
// CHECK-LABEL: tile.kernel @lifetimes(
// CHECK-SAME: lds_bytes = 16400 : i64
// expected-remark @+1 {{16400 bytes of LDS}}
tile.kernel @lifetimes(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<4096xf32>
  %s = tile.splat %f : f32 -> tensor<3xf32>
  // CHECK: tile.alloc_lds at 16384 : <3xf32>
  %a = tile.alloc_lds : !tile.lds<3xf32>
  // CHECK: tile.alloc_lds at 0 : <4096xf32>
  %b = tile.alloc_lds : !tile.lds<4096xf32>
  // CHECK: tile.alloc_lds at 0 : <4096xf32>
  %c = tile.alloc_lds : !tile.lds<4096xf32>
  // CHECK: tile.alloc_lds : <64xf32>
  %unused = tile.alloc_lds : !tile.lds<64xf32>
  tile.lds_store %s, %a : tensor<3xf32>, !tile.lds<3xf32>
  tile.lds_store %t, %b : tensor<4096xf32>, !tile.lds<4096xf32>
  %u = tile.lds_load %b : !tile.lds<4096xf32> -> tensor<4096xf32>
  tile.lds_store %u, %c : tensor<4096xf32>, !tile.lds<4096xf32>
  %v = tile.lds_load %c : !tile.lds<4096xf32> -> tensor<4096xf32>
  %w = tile.lds_load %a : !tile.lds<3xf32> -> tensor<3xf32>
  tile.return
}

// Buffers that only fit when they share do share, although one workgroup is all
// that a compute unit gets either way.
// CHECK-LABEL: tile.kernel @must_share(
// CHECK-SAME: lds_bytes = 131072 : i64
// expected-remark @+1 {{131072 bytes of LDS, 131840 allocated: 1 workgroups per compute unit}}
tile.kernel @must_share(%f: f32) attributes {waves = 16 : i32} {
  %t = tile.splat %f : f32 -> tensor<32768xf32>
  // CHECK-COUNT-2: tile.alloc_lds at 0 : <32768xf32>
  %a = tile.alloc_lds : !tile.lds<32768xf32>
  tile.lds_store %t, %a : tensor<32768xf32>, !tile.lds<32768xf32>
  %u = tile.lds_load %a : !tile.lds<32768xf32> -> tensor<32768xf32>
  %b = tile.alloc_lds : !tile.lds<32768xf32>
  tile.lds_store %u, %b : tensor<32768xf32>, !tile.lds<32768xf32>
  %v = tile.lds_load %b : !tile.lds<32768xf32> -> tensor<32768xf32>
  tile.return
}

// A kernel without buffers says so: the attribute marks that the pass has run.
// CHECK-LABEL: tile.kernel @none(
// CHECK-SAME: lds_bytes = 0 : i64
// expected-remark @+1 {{0 bytes of LDS, 0 allocated}}
tile.kernel @none() attributes {waves = 4 : i32} {
  tile.return
}

// All stages of a buffer lie one behind the other, at multiples of 16 bytes (5
// elements of 4 bytes take 32). A layout with gaps takes what it spans.
// CHECK-LABEL: tile.kernel @stages(
// CHECK-SAME: lds_bytes = 3872 : i64
// expected-remark @+1 {{3872 bytes of LDS}}
tile.kernel @stages(%f: f32, %i: i32) attributes {waves = 4 : i32} {
  %s = tile.splat %f : f32 -> tensor<5xf32>
  %t = tile.splat %f : f32 -> tensor<8x64xf32>
  // CHECK: tile.alloc_lds at 0 : <5xf32, stages = 50>
  %a = tile.alloc_lds : !tile.lds<5xf32, stages = 50>
  // CHECK: tile.alloc_lds at 1600 : <8x64xf32, #tile.lds_layout<[8, 64] of 32 bits, strides = [72, 1]>>
  %b = tile.alloc_lds : !tile.lds<8x64xf32, #tile.lds_layout<[8, 64] of 32 bits, strides = [72, 1]>>
  %stage = tile.lds_stage %a[%i] : !tile.lds<5xf32, stages = 50> -> !tile.lds<5xf32>
  tile.lds_store %s, %stage : tensor<5xf32>, !tile.lds<5xf32>
  tile.lds_store %t, %b : tensor<8x64xf32>, !tile.lds<8x64xf32, #tile.lds_layout<[8, 64] of 32 bits, strides = [72, 1]>>
  %u = tile.lds_load %b : !tile.lds<8x64xf32, #tile.lds_layout<[8, 64] of 32 bits, strides = [72, 1]>> -> tensor<8x64xf32>
  %v = tile.lds_load %stage : !tile.lds<5xf32> -> tensor<5xf32>
  tile.return
}

// A copy occupies its buffer until the wait, whoever reads it: the second buffer
// cannot have the place of the first.
// CHECK-LABEL: tile.kernel @in_flight(
// CHECK-SAME: lds_bytes = 32768 : i64
// expected-remark @+1 {{32768 bytes of LDS}}
tile.kernel @in_flight(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %w = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %t = tile.splat %f : f32 -> tensor<4096xf32>
  %a = tile.alloc_lds : !tile.lds<4096xf32>
  %b = tile.alloc_lds : !tile.lds<4096xf32>
  %token = tile.copy_to_lds %w[%c0], %a : !tile.view<1 x f32>, !tile.lds<4096xf32> -> !tile.token
  tile.lds_store %t, %b : tensor<4096xf32>, !tile.lds<4096xf32>
  %u = tile.lds_load %b : !tile.lds<4096xf32> -> tensor<4096xf32>
  tile.wait_copies %token : !tile.token
  tile.return
}

// Within a loop too: what an iteration allocates lives within it, and what is allocated
// outside throughout the loop.
// CHECK-LABEL: tile.kernel @in_loop(
// CHECK-SAME: lds_bytes = 131072 : i64
// expected-remark @+1 {{131072 bytes of LDS}}
tile.kernel @in_loop(%f: f32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %t = tile.splat %f : f32 -> tensor<16384xf32>
  // CHECK: tile.alloc_lds at 0 : <16384xf32>
  %c = tile.alloc_lds : !tile.lds<16384xf32>
  tile.lds_store %t, %c : tensor<16384xf32>, !tile.lds<16384xf32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // CHECK: tile.alloc_lds at 65536 : <16384xf32>
    %a = tile.alloc_lds : !tile.lds<16384xf32>
    tile.lds_store %t, %a : tensor<16384xf32>, !tile.lds<16384xf32>
    %u = tile.lds_load %a : !tile.lds<16384xf32> -> tensor<16384xf32>
    // CHECK: tile.alloc_lds at 65536 : <16384xf32>
    %b = tile.alloc_lds : !tile.lds<16384xf32>
    tile.lds_store %u, %b : tensor<16384xf32>, !tile.lds<16384xf32>
    %v = tile.lds_load %b : !tile.lds<16384xf32> -> tensor<16384xf32>
    %w = tile.lds_load %c : !tile.lds<16384xf32> -> tensor<16384xf32>
  }
  tile.return
}

// Two workgroups of 64 granules of 1,280 bytes fill the 160 KiB of a compute unit; one
// granule more, and the second has no room.
// expected-remark @+1 {{81920 bytes of LDS, 81920 allocated: 2 workgroups per compute unit}}
tile.kernel @two_fit(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<20480xf32>
  %a = tile.alloc_lds : !tile.lds<20480xf32>
  tile.lds_store %t, %a : tensor<20480xf32>, !tile.lds<20480xf32>
  tile.return
}

// expected-remark @+1 {{83200 bytes of LDS, 83200 allocated: 1 workgroups per compute unit}}
tile.kernel @one_fits(%f: f32) attributes {waves = 4 : i32} {
  %t = tile.splat %f : f32 -> tensor<20800xf32>
  %a = tile.alloc_lds : !tile.lds<20800xf32>
  tile.lds_store %t, %a : tensor<20800xf32>, !tile.lds<20800xf32>
  tile.return
}

}
