// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-schedule))' | FileCheck %s

// Between two barriers, a step along k has its share of the copies, the reads of the step
// after it and its products. The token of the last share stands for all.

#sums = #tile.layout<[64, 64], register = [[0, 1], [0, 2], [0, 8], [0, 16]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], wave = [[32, 0], [0, 32]]>
#lhs = #tile.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [0, 16]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], wave = [[32, 0], [0, 0]]>
#rhs = #tile.layout<[32, 64], register = [[1, 0], [2, 0], [4, 0], [16, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [8, 0]], wave = [[0, 0], [0, 32]]>
#wide_sums = #tile.layout<[256, 128], register = [[0, 1], [0, 2], [0, 8], [0, 16], [64, 0], [128, 0], [0, 64]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], wave = [[32, 0], [0, 32]]>
#wide_rhs = #tile.layout<[32, 128], register = [[1, 0], [2, 0], [4, 0], [16, 0], [0, 64]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [8, 0]], wave = [[0, 0], [0, 32]]>
#wide_lhs = #tile.layout<[256, 32], register = [[0, 1], [0, 2], [0, 4], [0, 16], [64, 0], [128, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], wave = [[32, 0], [0, 0]]>
#eight_sums = #tile.layout<[256, 256], register = [[0, 1], [0, 2], [0, 8], [0, 16], [64, 0], [128, 0], [0, 64]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], wave = [[32, 0], [0, 32], [0, 128]]>
#eight_lhs = #tile.layout<[256, 32], register = [[0, 1], [0, 2], [0, 4], [0, 16], [64, 0], [128, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], wave = [[32, 0], [0, 0], [0, 0]]>
#eight_rhs = #tile.layout<[32, 256], register = [[1, 0], [2, 0], [4, 0], [16, 0], [0, 64]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [8, 0]], wave = [[0, 0], [0, 32], [0, 128]]>
#fp4_sums = #tile.layout<[128, 128], register = [[0, 1], [0, 2], [0, 16], [16, 0], [32, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 4], [0, 8]], wave = [[0, 32], [0, 64], [64, 0]]>
#fp4_lhs = #tile.layout<[128, 64], register = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16], [0, 32]], wave = [[0, 0], [0, 0], [64, 0]]>
#fp4_rhs = #tile.layout<[64, 128], register = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], wave = [[0, 32], [0, 64], [0, 0]]>
#lhs_scales = #tile.layout<[128, 4], register = [[16, 0], [32, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], wave = [[0, 0], [0, 0], [64, 0]]>
#rhs_scales = #tile.layout<[4, 128], register = [[0, 16]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], wave = [[0, 32], [0, 64], [0, 0]]>
!fp4_a = !tile.lds<128x64xi8>
!fp4_b = !tile.lds<64x128xi8, #tile.lds_layout<[64, 128] of 8 bits, strides = [1, 64]>>
!eight = !tile.lds<32x256xbf16, #tile.lds_layout<[32, 256] of 16 bits, strides = [1, 32]>>
!a = !tile.lds<64x32xbf16>
!wide = !tile.lds<32x128xbf16, #tile.lds_layout<[32, 128] of 16 bits, strides = [1, 32]>>
!b = !tile.lds<32x64xbf16, #tile.lds_layout<[32, 64] of 16 bits, strides = [1, 32]>>

module attributes {tile.target = #tile.target<"gfx950">} {

// CHECK-LABEL: tile.kernel @interleave(
tile.kernel @interleave(%p: !tile.ptr<bf16>, %n: i32, %sum: f32)
    attributes {waves = 4 : i32, tile.schedule = "interleave"} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 32] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %a = tile.alloc_lds at 0 : !a
  %b = tile.alloc_lds at 4096 : !b
  %a2 = tile.alloc_lds at 8192 : !tile.lds<128x32xbf16>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK-NEXT: tile.lds_load %{{.*}} at [0, 0] : <64x32xbf16> -> tensor<64x16xbf16,
  // CHECK-NEXT: tile.lds_load %{{.*}} at [0, 0] : <32x64xbf16, {{.*}}> -> tensor<16x64xbf16,
  // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 0, 2>}
  // CHECK-NEXT: tile.lds_load %{{.*}} at [0, 16]
  // CHECK-NEXT: tile.lds_load %{{.*}} at [16, 0]
  // CHECK-NEXT: %[[SUM:.*]] = tile.mma {{.*}} tensor<64x16xbf16, {{.*}} tensor<16x64xbf16,
  // CHECK-NEXT: %[[TOKEN:.*]] = tile.copy_to_lds {{.*}} {part = array<i64: 1, 2>}
  // CHECK-NEXT: tile.mma %{{.*}}, %{{.*}}, %[[SUM]]
  // CHECK-NEXT: tile.wait_copies %[[TOKEN]]
  %t = tile.copy_to_lds %v[%c0, %c0], %a2 : !tile.view<2 x bf16>, !tile.lds<128x32xbf16> -> !tile.token
  %x = tile.lds_load %a : !a -> tensor<64x32xbf16, #lhs>
  %y = tile.lds_load %b : !b -> tensor<32x64xbf16, #rhs>
  %z = tile.mma %x, %y, %zero {instruction = array<i64: 32, 16>}
      : tensor<64x32xbf16, #lhs>, tensor<32x64xbf16, #rhs>, tensor<64x64xf32, #sums>
  tile.wait_copies %t : !tile.token
  tile.return
}

// The weights of this product are in registers: all it reads of LDS comes first. Of its
// two slots the first has the copies, the second the load for the next step.
// CHECK-LABEL: tile.kernel @registers(
tile.kernel @registers(%p: !tile.ptr<bf16>, %n: i32, %sum: f32)
    attributes {waves = 4 : i32, tile.schedule = "interleave"} {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 32] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %zero = arith.constant dense<0.0> : tensor<256x128xf32, #wide_sums>
  %a = tile.alloc_lds at 0 : !tile.lds<256x32xbf16>
  %a2 = tile.alloc_lds at 16384 : !tile.lds<256x32xbf16>
  %w0 = tile.load %w[%c0, %c0] : !tile.view<2 x bf16> -> tensor<32x128xbf16, #wide_rhs>
  // CHECK: scf.for
  %out:2 = scf.for %k = %c0 to %c64 step %c8
      iter_args(%sums = %zero, %weights = %w0)
      -> (tensor<256x128xf32, #wide_sums>, tensor<32x128xbf16, #wide_rhs>) : i32 {
    // CHECK: tile.barrier
    // CHECK-NEXT: tile.lds_load
    // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 0, 4>}
    // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 1, 4>}
    // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 2, 4>}
    // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 3, 4>}
    // CHECK-NEXT: %[[HALF:.*]] = tile.mma {{.*}} part = array<i64: 0, 2>
    // CHECK-NEXT: %[[NEXT:.*]] = tile.load
    // CHECK-NEXT: %[[ALL:.*]] = tile.mma %{{.*}}, %{{.*}}, %[[HALF]] {{.*}} part = array<i64: 1, 2>
    // CHECK-NEXT: tile.order_fence
    // CHECK-NEXT: scf.yield %[[ALL]], %[[NEXT]]
    tile.barrier
    %t = tile.copy_to_lds %v[%c0, %c0], %a2 : !tile.view<2 x bf16>, !tile.lds<256x32xbf16> -> !tile.token
    %next = tile.load %w[%k, %c0] : !tile.view<2 x bf16> -> tensor<32x128xbf16, #wide_rhs>
    %x = tile.lds_load %a : !tile.lds<256x32xbf16> -> tensor<256x32xbf16, #wide_lhs>
    %d = tile.mma %x, %weights, %sums
        {instruction = array<i64: 32, 16>, waves = array<i64: 2, 2>}
        : tensor<256x32xbf16, #wide_lhs>, tensor<32x128xbf16, #wide_rhs>, tensor<256x128xf32, #wide_sums>
    scf.yield %d, %next : tensor<256x128xf32, #wide_sums>, tensor<32x128xbf16, #wide_rhs>
  }
  tile.return
}

// Nothing without the attribute.
// CHECK-LABEL: tile.kernel @none(
tile.kernel @none(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %a = tile.alloc_lds at 0 : !a
  %b = tile.alloc_lds at 4096 : !b
  %a2 = tile.alloc_lds at 8192 : !tile.lds<128x32xbf16>
  // CHECK-NOT: part
  %t = tile.copy_to_lds %v[%c0, %c0], %a2 : !tile.view<2 x bf16>, !tile.lds<128x32xbf16> -> !tile.token
  %x = tile.lds_load %a : !a -> tensor<64x32xbf16, #lhs>
  %y = tile.lds_load %b : !b -> tensor<32x64xbf16, #rhs>
  // CHECK: tile.mma
  %z = tile.mma %x, %y, %zero {instruction = array<i64: 32, 16>}
      : tensor<64x32xbf16, #lhs>, tensor<32x64xbf16, #rhs>, tensor<64x64xf32, #sums>
  // CHECK-NOT: tile.mma
  tile.wait_copies %t : !tile.token
  tile.return
}

// In a loop the products of the last step go behind the next barrier, beside the reads of
// its first step; a step of eight instructions has two slots. The priority falls.
// CHECK-LABEL: tile.kernel @balanced(
tile.kernel @balanced(%p: !tile.ptr<bf16>, %n: i32)
    attributes {waves = 4 : i32, tile.schedule = "balanced"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %zero = arith.constant dense<0.0> : tensor<256x128xf32, #wide_sums>
  %a = tile.alloc_lds at 0 : !tile.lds<256x32xbf16>
  %b = tile.alloc_lds at 16384 : !wide
  %a2 = tile.alloc_lds at 24576 : !tile.lds<128x32xbf16>
  // CHECK-DAG: %[[A:.*]] = tile.alloc_lds at 0
  // CHECK-DAG: %[[B:.*]] = tile.alloc_lds at 16384
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<{{.*}}> : tensor<256x128xf32
  // CHECK-DAG: %[[LHS:.*]] = arith.constant dense<{{.*}}> : tensor<256x16xbf16
  // CHECK-DAG: %[[RHS:.*]] = arith.constant dense<{{.*}}> : tensor<16x128xbf16
  // CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[ZERO]], %[[L1:.*]] = %[[LHS]], %[[R1:.*]] = %[[RHS]])
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.wave_priority 3
  // CHECK-NEXT: %[[T:.*]] = tile.copy_to_lds {{.*}} {part = array<i64: 0, 2>}
  // CHECK-NEXT: %[[L0:.*]] = tile.lds_load %[[A]] at [0, 0]
  // CHECK-NEXT: %[[R0:.*]] = tile.lds_load %[[B]] at [0, 0]
  // CHECK-NEXT: %[[S1:.*]] = tile.mma %[[L1]], %[[R1]], %[[SUM]] {{{.*}}part = array<i64: 0, 2>}
  // CHECK-NEXT: tile.wave_priority 2
  // CHECK-NEXT: %[[S2:.*]] = tile.mma %[[L1]], %[[R1]], %[[S1]] {{{.*}}part = array<i64: 1, 2>}
  // CHECK-NEXT: tile.wave_priority 1
  // CHECK-NEXT: %[[T:.*]] = tile.copy_to_lds {{.*}} {part = array<i64: 1, 2>}
  // CHECK-NEXT: %[[L2:.*]] = tile.lds_load %[[A]] at [0, 16]
  // CHECK-NEXT: %[[R2:.*]] = tile.lds_load %[[B]] at [16, 0]
  // CHECK-NEXT: %[[S3:.*]] = tile.mma %[[L0]], %[[R0]], %[[S2]] {{{.*}}part = array<i64: 0, 2>}
  // CHECK-NEXT: tile.wave_priority 0
  // CHECK-NEXT: %[[S4:.*]] = tile.mma %[[L0]], %[[R0]], %[[S3]] {{{.*}}part = array<i64: 1, 2>}
  // CHECK-NEXT: tile.wait_copies %[[T]]
  // CHECK-NEXT: scf.yield %[[S4]], %[[L2]], %[[R2]]
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<256x128xf32, #wide_sums>) : i32 {
    tile.barrier
    %t = tile.copy_to_lds %v[%c0, %c0], %a2 : !tile.view<2 x bf16>, !tile.lds<128x32xbf16> -> !tile.token
    %x = tile.lds_load %a : !tile.lds<256x32xbf16> -> tensor<256x32xbf16, #wide_lhs>
    %y = tile.lds_load %b : !wide -> tensor<32x128xbf16, #wide_rhs>
    %z = tile.mma %x, %y, %c {instruction = array<i64: 32, 16>}
        : tensor<256x32xbf16, #wide_lhs>, tensor<32x128xbf16, #wide_rhs>, tensor<256x128xf32, #wide_sums>
    tile.wait_copies %t : !tile.token
    scf.yield %z : tensor<256x128xf32, #wide_sums>
  }
  // CHECK: tile.mma %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#0 {instruction = array<i64: 32, 16>}
  tile.return
}

// The waves 4 to 7 are one barrier behind the others in the loop. Products and reads are
// phases of their own; the operands of the last step are multiplied in the next iteration.
// CHECK-LABEL: tile.kernel @ping_pong(
tile.kernel @ping_pong(%p: !tile.ptr<bf16>, %n: i32)
    attributes {waves = 8 : i32, tile.schedule = "ping-pong"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %zero = arith.constant dense<0.0> : tensor<256x256xf32, #eight_sums>
  %a = tile.alloc_lds at 0 : !tile.lds<256x32xbf16>
  %b = tile.alloc_lds at 16384 : !eight
  %a2 = tile.alloc_lds at 32768 : !tile.lds<256x32xbf16>
  // CHECK: tile.barrier waves [4, 8]
  // CHECK-NEXT: %[[LOOP:.*]]:3 = scf.for
  // CHECK-SAME: iter_args(%[[SUM:.*]] = %{{.*}}, %[[L1:.*]] = %{{.*}}, %[[R1:.*]] = %{{.*}})
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.wave_priority 1
  // CHECK-NEXT: %[[S1:.*]] = tile.mma %[[L1]], %[[R1]], %[[SUM]] {
  // CHECK-NEXT: tile.wave_priority 0
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: %[[L0:.*]] = tile.lds_load %{{.*}} at [0, 0]
  // CHECK-NEXT: %[[R0:.*]] = tile.lds_load %{{.*}} at [0, 0]
  // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 0, 2>}
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: tile.wave_priority 1
  // CHECK-NEXT: %[[S2:.*]] = tile.mma %[[L0]], %[[R0]], %[[S1]] {
  // CHECK-NEXT: tile.wave_priority 0
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: %[[L2:.*]] = tile.lds_load %{{.*}} at [0, 16]
  // CHECK-NEXT: %[[R2:.*]] = tile.lds_load %{{.*}} at [16, 0]
  // CHECK-NEXT: %[[T:.*]] = tile.copy_to_lds {{.*}} {part = array<i64: 1, 2>}
  // CHECK-NEXT: tile.wait_copies %[[T]]
  // CHECK-NEXT: scf.yield %[[S2]], %[[L2]], %[[R2]]
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero) -> (tensor<256x256xf32, #eight_sums>) : i32 {
    tile.barrier
    %t = tile.copy_to_lds %v[%c0, %c0], %a2 : !tile.view<2 x bf16>, !tile.lds<256x32xbf16> -> !tile.token
    %x = tile.lds_load %a : !tile.lds<256x32xbf16> -> tensor<256x32xbf16, #eight_lhs>
    %y = tile.lds_load %b : !eight -> tensor<32x256xbf16, #eight_rhs>
    %z = tile.mma %x, %y, %c {instruction = array<i64: 32, 16>}
        : tensor<256x32xbf16, #eight_lhs>, tensor<32x256xbf16, #eight_rhs>, tensor<256x256xf32, #eight_sums>
    tile.wait_copies %t : !tile.token
    scf.yield %z : tensor<256x256xf32, #eight_sums>
  }
  // CHECK: tile.barrier waves [0, 4]
  // CHECK-NEXT: tile.mma %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#0 {instruction = array<i64: 32, 16>}
  tile.return
}

// Steps whose scales come in registers are unrolled. The products of a step are behind the
// barrier of the next, those of the last in the next iteration with their scales; what is
// loaded for later goes behind them.
// CHECK-LABEL: tile.kernel @scales(
tile.kernel @scales(%p: !tile.ptr<i8>, %q: !tile.ptr<f8E8M0FNU>, %n: i32)
    attributes {waves = 8 : i32, tile.schedule = "ping-pong"} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<i8> -> !tile.view<2 x i8>
  %sv = tile.view %q strides [4, 1] bytes %n : !tile.ptr<f8E8M0FNU> -> !tile.view<2 x f8E8M0FNU>
  %zero = arith.constant dense<0.0> : tensor<128x128xf32, #fp4_sums>
  %w = tile.load %sv[%c0, %c0] : !tile.view<2 x f8E8M0FNU> -> tensor<4x128xf8E8M0FNU, #rhs_scales>
  %first = tile.load %sv[%c0, %c0] : !tile.view<2 x f8E8M0FNU> -> tensor<128x4xf8E8M0FNU, #lhs_scales>
  %a = tile.alloc_lds at 0 : !fp4_a
  %b = tile.alloc_lds at 8192 : !fp4_b
  // CHECK: tile.barrier waves [4, 8]
  // CHECK-NEXT: %[[LOOP:.*]]:5 = scf.for
  // CHECK-SAME: iter_args(%[[SUM:.*]] = %{{.*}}, %[[F:.*]] = %{{.*}}, %[[L:.*]] = %{{.*}}, %[[R:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.wave_priority 1
  // CHECK-NEXT: %[[S0:.*]] = tile.mma %[[L]], %[[R]], %[[SUM]] lhs_scale %[[S]] rhs_scale %{{.*}} {
  // CHECK: tile.barrier
  // CHECK: %[[L0:.*]] = tile.lds_load
  // CHECK-NEXT: %[[R0:.*]] = tile.lds_load
  // CHECK-NEXT: tile.copy_to_lds
  // CHECK-NEXT: %[[G:.*]] = tile.load
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: tile.wait_copies
  // CHECK-NEXT: tile.barrier
  // CHECK-NEXT: tile.wave_priority 1
  // CHECK-NEXT: %[[S1:.*]] = tile.mma %[[L0]], %[[R0]], %[[S0]] lhs_scale %[[F]] rhs_scale
  // CHECK: %[[L1:.*]] = tile.lds_load
  // CHECK-NEXT: %[[R1:.*]] = tile.lds_load
  // CHECK-NEXT: tile.copy_to_lds
  // CHECK-NEXT: %[[H:.*]] = tile.load
  // CHECK: scf.yield %[[S1]], %[[H]], %[[L1]], %[[R1]], %[[G]]
  %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %zero, %f = %first)
      -> (tensor<128x128xf32, #fp4_sums>, tensor<128x4xf8E8M0FNU, #lhs_scales>) : i32 {
    tile.barrier
    %t = tile.copy_to_lds %v[%c0, %c0], %a : !tile.view<2 x i8>, !fp4_a -> !tile.token
    %g = tile.load %sv[%c0, %c0] : !tile.view<2 x f8E8M0FNU> -> tensor<128x4xf8E8M0FNU, #lhs_scales>
    %x = tile.lds_load %a : !fp4_a -> tensor<128x64xi8, #fp4_lhs>
    %y = tile.lds_load %b : !fp4_b -> tensor<64x128xi8, #fp4_rhs>
    %z = tile.mma %x, %y, %c lhs_scale %f rhs_scale %w {instruction = array<i64: 16, 128>}
        : tensor<128x64xi8, #fp4_lhs>, tensor<64x128xi8, #fp4_rhs>, tensor<128x128xf32, #fp4_sums>
        lhs_scale tensor<128x4xf8E8M0FNU, #lhs_scales> rhs_scale tensor<4x128xf8E8M0FNU, #rhs_scales>
    tile.wait_copies %t : !tile.token
    tile.barrier
    %t2 = tile.copy_to_lds %v[%c0, %c0], %a : !tile.view<2 x i8>, !fp4_a -> !tile.token
    %h = tile.load %sv[%c0, %c0] : !tile.view<2 x f8E8M0FNU> -> tensor<128x4xf8E8M0FNU, #lhs_scales>
    %x2 = tile.lds_load %a : !fp4_a -> tensor<128x64xi8, #fp4_lhs>
    %y2 = tile.lds_load %b : !fp4_b -> tensor<64x128xi8, #fp4_rhs>
    %z2 = tile.mma %x2, %y2, %z lhs_scale %g rhs_scale %w {instruction = array<i64: 16, 128>}
        : tensor<128x64xi8, #fp4_lhs>, tensor<64x128xi8, #fp4_rhs>, tensor<128x128xf32, #fp4_sums>
        lhs_scale tensor<128x4xf8E8M0FNU, #lhs_scales> rhs_scale tensor<4x128xf8E8M0FNU, #rhs_scales>
    tile.wait_copies %t2 : !tile.token
    scf.yield %z2, %h : tensor<128x128xf32, #fp4_sums>, tensor<128x4xf8E8M0FNU, #lhs_scales>
  }
  // CHECK: tile.barrier waves [0, 4]
  // CHECK-NEXT: tile.mma %[[LOOP]]#2, %[[LOOP]]#3, %[[LOOP]]#0 lhs_scale %[[LOOP]]#4
  tile.return
}

// Two products that share an operand (gate and up) are read for at once, then take turns
// with the copies together.
// CHECK-LABEL: tile.kernel @gated(
tile.kernel @gated(%p: !tile.ptr<bf16>, %n: i32, %sum: f32)
    attributes {waves = 4 : i32, tile.schedule = "interleave"} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %a = tile.alloc_lds at 0 : !a
  %b = tile.alloc_lds at 4096 : !b
  %a2 = tile.alloc_lds at 8192 : !tile.lds<128x32xbf16>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK-NEXT: tile.lds_load {{.*}} at [0, 0] : <64x32xbf16>
  // CHECK-NEXT: tile.lds_load {{.*}} at [0, 0] : <32x64xbf16
  // CHECK-NEXT: tile.lds_load {{.*}} at [0, 0] : <32x64xbf16
  // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 0, 2>}
  // CHECK-NEXT: tile.lds_load {{.*}} at [0, 16]
  // CHECK-NEXT: tile.lds_load {{.*}} at [16, 0]
  // CHECK-NEXT: tile.lds_load {{.*}} at [16, 0]
  // CHECK-NEXT: tile.mma
  // CHECK-NEXT: tile.mma
  // CHECK-NEXT: tile.copy_to_lds {{.*}} {part = array<i64: 1, 2>}
  // CHECK-NEXT: tile.mma
  // CHECK-NEXT: tile.mma
  %t = tile.copy_to_lds %v[%c0, %c0], %a2 : !tile.view<2 x bf16>, !tile.lds<128x32xbf16> -> !tile.token
  %x = tile.lds_load %a : !a -> tensor<64x32xbf16, #lhs>
  %gate = tile.lds_load %b : !b -> tensor<32x64xbf16, #rhs>
  %z = tile.mma %x, %gate, %zero {instruction = array<i64: 32, 16>}
      : tensor<64x32xbf16, #lhs>, tensor<32x64xbf16, #rhs>, tensor<64x64xf32, #sums>
  %up = tile.lds_load %b : !b -> tensor<32x64xbf16, #rhs>
  %y = tile.mma %x, %up, %zero {instruction = array<i64: 32, 16>}
      : tensor<64x32xbf16, #lhs>, tensor<32x64xbf16, #rhs>, tensor<64x64xf32, #sums>
  tile.wait_copies %t : !tile.token
  tile.return
}

}
