// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' | FileCheck %s

// Buffers that copies fill get the LDS layout that their readers want without bank
// conflicts. Three row bits of rows of 128 bytes choose among eight places of 16 bytes,
// those in which the 16 lanes of an operand column differ.

#a = #tile.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[32, 0], [0, 0]]>
#b = #tile.layout<[64, 64], register = [[1, 0], [2, 0], [4, 0], [32, 0], [0, 16]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [8, 0], [16, 0]], wave = [[0, 32], [0, 0]]>
#sums = #tile.layout<[16, 64], register = [[0, 1], [0, 2], [0, 16], [0, 32]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 4], [0, 8]], wave = []>
#spread = #tile.layout<[16, 64], register = [[0, 1], [0, 2], [0, 4], [8, 0]],
  lane = [[0, 8], [0, 16], [0, 32], [1, 0], [2, 0], [4, 0]], wave = []>

module attributes {tile.target = #tile.target<"gfx950">} {

// A tile [M, K] whose rows are contiguous in memory, and the stages of the buffer.
// CHECK-LABEL: tile.kernel @rows(
tile.kernel @rows(%p: !tile.ptr<bf16>, %s: i32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%s, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.alloc_lds : <64x64xbf16, #tile.lds_layout<[64, 64] of 16 bits, strides = [64, 1], swizzle = [bit 0 of 0 flips 16, bit 1 of 0 flips 32, bit 2 of 0 flips 64]>, stages = 2>
  %buffers = tile.alloc_lds : !tile.lds<64x64xbf16, stages = 2>
  // CHECK: tile.lds_stage {{.*}} -> <64x64xbf16, #tile.lds_layout<{{.*}}flips 64]>>
  %buffer = tile.lds_stage %buffers[%n] : !tile.lds<64x64xbf16, stages = 2> -> !tile.lds<64x64xbf16>
  %t = tile.copy_to_lds %v[%c0, %c0], %buffer : !tile.view<2 x bf16>, !tile.lds<64x64xbf16> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %buffer : !tile.lds<64x64xbf16> -> tensor<64x64xbf16, #a>
  tile.return
}

// Two tiles of a buffer that one copy fills: each is read as the whole one would be.
// CHECK-LABEL: tile.kernel @parts(
tile.kernel @parts(%p: !tile.ptr<bf16>, %s: i32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%s, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.alloc_lds : <128x64xbf16, #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1], swizzle = [bit 0 of 0 flips 16, bit 1 of 0 flips 32, bit 2 of 0 flips 64]>>
  %buffer = tile.alloc_lds : !tile.lds<128x64xbf16>
  %t = tile.copy_to_lds %v[%c0, %c0], %buffer : !tile.view<2 x bf16>, !tile.lds<128x64xbf16> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %buffer at [0, 0] : !tile.lds<128x64xbf16> -> tensor<64x64xbf16, #a>
  %y = tile.lds_load %buffer at [64, 0] : !tile.lds<128x64xbf16> -> tensor<64x64xbf16, #a>
  tile.return
}

// A tile that goes from lanes along its rows to lanes along its columns: row-major, lanes of
// 16 rows would write to the same banks.
// CHECK-LABEL: tile.kernel @exchange(
tile.kernel @exchange(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // CHECK: tile.alloc_lds : <16x64xf32, #tile.lds_layout<[16, 64] of 32 bits, strides = [64, 1], swizzle = [bit 0 of 0 flips 16, bit 1 of 0 flips 32, bit 2 of 0 flips 64{{.*}}]>>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<16x64xf32, #sums>
  %b = tile.convert_layout %a : tensor<16x64xf32, #sums> -> tensor<16x64xf32, #spread>
  tile.store %b, %v[%c0, %c0] : tensor<16x64xf32, #spread>, !tile.view<2 x f32>
  tile.return
}

// Rows that a copy gathers: the numbers come to the threads that copy them.
// CHECK-LABEL: tile.kernel @gathered(
tile.kernel @gathered(%p: !tile.ptr<bf16>, %q: !tile.ptr<i32>, %s: i32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%s, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %q strides [1] bytes %n : !tile.ptr<i32> -> !tile.view<1 x i32>
  %r = tile.load %w[%c0] : !tile.view<1 x i32> -> tensor<64xi32>
  // CHECK: tile.copy_to_lds {{.*}} rows %{{.*}} : tensor<64xi32, [[ROWS:#.*]]>, %{{.*}} : <2 x bf16>
  // CHECK: tile.wait_copies
  // CHECK: tile.lds_load
  %x = tile.load %v[%c0, %c0] rows %r : tensor<64xi32> {staged} : !tile.view<2 x bf16> -> tensor<64x64xbf16, #a>
  tile.store %x, %v[%c0, %c0] : tensor<64x64xbf16, #a>, !tile.view<2 x bf16>
  tile.return
}

// Weights [N, K] read as an operand [K, N]: runs along the first dimension.
// CHECK-LABEL: tile.kernel @transposed(
tile.kernel @transposed(%p: !tile.ptr<bf16>, %s: i32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1, %s] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.alloc_lds : <64x64xbf16, #tile.lds_layout<[64, 64] of 16 bits, strides = [1, 64], swizzle = [bit 0 of 1 flips 16, bit 1 of 1 flips 32, bit 2 of 1 flips 64]>>
  %buffer = tile.alloc_lds : !tile.lds<64x64xbf16>
  %t = tile.copy_to_lds %v[%c0, %c0], %buffer : !tile.view<2 x bf16>, !tile.lds<64x64xbf16> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %buffer : !tile.lds<64x64xbf16> -> tensor<64x64xbf16, #b>
  tile.return
}

// A layout that is given stays, and so does a buffer that is stored to.
// CHECK-LABEL: tile.kernel @kept(
tile.kernel @kept(%p: !tile.ptr<bf16>, %s: i32, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xbf16, #a>
  %v = tile.view %p strides [%s, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.alloc_lds : <64x64xbf16, #tile.lds_layout<[64, 64] of 16 bits, strides = [64, 1]>>
  %given = tile.alloc_lds : !tile.lds<64x64xbf16, #tile.lds_layout<[64, 64] of 16 bits, strides = [64, 1]>>
  %t = tile.copy_to_lds %v[%c0, %c0], %given : !tile.view<2 x bf16>, !tile.lds<64x64xbf16, #tile.lds_layout<[64, 64] of 16 bits, strides = [64, 1]>> -> !tile.token
  // CHECK: tile.alloc_lds : <64x64xbf16>
  %stored = tile.alloc_lds : !tile.lds<64x64xbf16>
  tile.lds_store %zero, %stored : tensor<64x64xbf16, #a>, !tile.lds<64x64xbf16>
  %u = tile.copy_to_lds %v[%c0, %c0], %stored : !tile.view<2 x bf16>, !tile.lds<64x64xbf16> -> !tile.token
  tile.wait_copies %t, %u : !tile.token, !tile.token
  %x = tile.lds_load %given : !tile.lds<64x64xbf16, #tile.lds_layout<[64, 64] of 16 bits, strides = [64, 1]>> -> tensor<64x64xbf16, #a>
  %y = tile.lds_load %stored : !tile.lds<64x64xbf16> -> tensor<64x64xbf16, #a>
  tile.return
}

// Several waves learn through LDS what one of them has counted.
// CHECK-LABEL: tile.kernel @arrive(
tile.kernel @arrive(%p: !tile.ptr<i32>) attributes {waves = 4 : i32} {
  %count_n = arith.constant 3 : i32
  // CHECK: %[[WORD:.*]] = tile.alloc_lds : <1xi32>
  // CHECK: tile.arrive %{{.*}} of %{{.*}} through %[[WORD]]
  %n = tile.arrive %p of %count_n : !tile.ptr<i32>
  tile.return
}

// CHECK-LABEL: tile.kernel @arrive_alone(
tile.kernel @arrive_alone(%p: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %count_n = arith.constant 3 : i32
  // CHECK-NOT: tile.alloc_lds
  %n = tile.arrive %p of %count_n : !tile.ptr<i32>
  tile.return
}

}
