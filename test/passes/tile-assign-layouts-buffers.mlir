// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' | FileCheck %s

// Buffers that copies fill get the LDS layout that their readers want without bank
// conflicts. Three row bits of rows of 128 bytes choose among eight places of 16 bytes,
// those in which the 16 lanes of an operand column differ.

#a = #tile.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[32, 0], [0, 0]]>
#b = #tile.layout<[64, 64], register = [[1, 0], [2, 0], [4, 0], [32, 0], [0, 16]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [8, 0], [16, 0]], wave = [[0, 32], [0, 0]]>

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
