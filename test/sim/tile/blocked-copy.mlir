// Packed weights are copied into LDS by whole chunks of 16 bytes: from a row that is no
// multiple of a block, with limits, and with zeros beyond the bound.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py blocked %t 256 96
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.packed.npy --arg buf:16384:out=%t.out.npy \
// RUN:   --arg i32:21 --arg i32:2 --arg i32:75 --arg i32:64 --arg i32:49152 | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/arrays.py window %t %t.out.npy 21 16 75 64 128 64
// RUN: tenon sim %t.co --block 256 --arg npy:%t.packed.npy --arg buf:16384:out=%t.out.npy \
// RUN:   --arg i32:48 --arg i32:1 --arg i32:2147483647 --arg i32:96 --arg i32:18432 | FileCheck %s
// RUN: %{python} %S/Inputs/arrays.py window %t %t.out.npy 48 8 96 96 128 64

#read = #tile.layout<[128, 64],
  register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0], [32, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[64, 0], [0, 0]]>
#swizzled = #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
  swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32, bit 3 of 0 flips 64]>

tile.kernel @k(%in: !tile.ptr<bf16>, %out: !tile.ptr<bf16>, %row: i32, %eights: i32,
    %rows: i32, %columns: i32, %bytes: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %out_bytes = arith.constant 16384 : i32
  %v = tile.view %in strides [16 of 8 then 1536, 8 of 1 then 128] bytes %bytes
      : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %out strides [64, 1] bytes %out_bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<128x64xbf16, #swizzled>
  %from = arith.muli %eights, %c8 : i32
  %t = tile.copy_to_lds %v[%row, %from] within [%rows, %columns], %b {limit_divisors = array<i64: 1, 8>}
      : !tile.view<2 x bf16>, !tile.lds<128x64xbf16, #swizzled> -> !tile.token
  tile.wait_copies %t : !tile.token
  tile.barrier
  %x = tile.lds_load %b : !tile.lds<128x64xbf16, #swizzled> -> tensor<128x64xbf16, #read>
  tile.store %x, %o[%c0, %c0] : tensor<128x64xbf16, #read>, !tile.view<2 x bf16>
  tile.return
}
