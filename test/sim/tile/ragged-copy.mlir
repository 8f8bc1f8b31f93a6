// Rows and columns beyond a limit, and what lies beyond the bound of the view, arrive in
// LDS as zeros: 100 rows of 40 columns out of rows of 72, with NaN everywhere else and
// in the LDS buffer before.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py ragged %t.in.npy %t.want.npy 100 40 72 128 64
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg buf:16384:out=%t.out.npy \
// RUN:   --arg i32:100 --arg i32:40 --arg i32:72 --arg i32:20000 | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/arrays.py same %t.want.npy %t.out.npy

// The same with the rows cut by the bound of the view alone: (100 - 1) * 144 + 80 bytes.
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg buf:16384:out=%t.bound.npy \
// RUN:   --arg i32:2147483647 --arg i32:40 --arg i32:72 --arg i32:14336 | FileCheck %s
// RUN: %{python} %S/Inputs/arrays.py same %t.want.npy %t.bound.npy

#read = #tile.layout<[128, 64],
  register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0], [32, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[64, 0], [0, 0]]>
#swizzled = #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
  swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32, bit 3 of 0 flips 64]>

tile.kernel @k(%in: !tile.ptr<bf16>, %out: !tile.ptr<bf16>, %rows: i32, %columns: i32,
    %stride: i32, %bytes: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %out_bytes = arith.constant 16384 : i32
  %nan = arith.constant dense<0x7FC0> : tensor<128x64xbf16, #read>
  %v = tile.view %in strides [%stride, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %out strides [64, 1] bytes %out_bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<128x64xbf16, #swizzled>
  tile.lds_store %nan, %b : tensor<128x64xbf16, #read>, !tile.lds<128x64xbf16, #swizzled>
  %t = tile.copy_to_lds %v[%c0, %c0] within [%rows, %columns], %b {limit_divisors = array<i64: 1, 8>}
      : !tile.view<2 x bf16>, !tile.lds<128x64xbf16, #swizzled> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %b : !tile.lds<128x64xbf16, #swizzled> -> tensor<128x64xbf16, #read>
  tile.store %x, %o[%c0, %c0] : tensor<128x64xbf16, #read>, !tile.view<2 x bf16>
  tile.return
}
