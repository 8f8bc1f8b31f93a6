// Rows that lie anywhere are copied into LDS: where each begins is read from LDS. The
// order of 64 rows is turned around. They are more than 2^32 bytes behind the pointer that
// the kernel makes, which a bound and 32-bit offsets could not reach.
// REQUIRES: numpy
// RUN: tenon compile %s -o %t.co
// RUN: %{python} %S/Inputs/arrays.py turned %t.in.npy %t.want.npy
// RUN: tenon sim %t.co --block 128 --arg npy:%t.in.npy --arg buf:8192:out=%t.out.npy | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/arrays.py same %t.want.npy %t.out.npy

#one = #tile.layout<[128], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [[64]]>

tile.kernel @k(%in: !tile.ptr<f32>, %out: !tile.ptr<f32>) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %none = arith.constant 0 : i32
  %bytes = arith.constant 8192 : i32
  %far = arith.constant 8589934592 : i64
  %back = arith.constant -8589934592 : i64
  %base = tile.advance %in by %back : !tile.ptr<f32>
  %v = tile.view %base strides [32, 1] bytes %none : !tile.ptr<f32> -> !tile.view<2 x f32>
  %o = tile.view %out strides [32, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  // Row i begins 128 * (63 - i) bytes behind the first one.
  %i = tile.iota dim 0 : tensor<128xi32, #one>
  %last = arith.constant dense<63> : tensor<128xi32, #one>
  %r = arith.andi %i, %last : tensor<128xi32, #one>
  %n = arith.subi %last, %r : tensor<128xi32, #one>
  %w = arith.extui %n : tensor<128xi32, #one> to tensor<128xi64, #one>
  %row = arith.constant dense<128> : tensor<128xi64, #one>
  %w128 = arith.muli %w, %row : tensor<128xi64, #one>
  %first = tile.splat %far : i64 -> tensor<128xi64, #one>
  %begin = arith.addi %w128, %first : tensor<128xi64, #one>
  %places = tile.alloc_lds : !tile.lds<128xi64>
  tile.lds_store %begin, %places : tensor<128xi64, #one>, !tile.lds<128xi64>
  %rows = tile.lds_part %places at 0 : !tile.lds<128xi64> -> !tile.lds<64xi64>
  %b = tile.alloc_lds : !tile.lds<64x32xf32>
  %t = tile.copy_to_lds %v[%c0, %c0] rows %rows : !tile.lds<64xi64>, %b
      : !tile.view<2 x f32>, !tile.lds<64x32xf32> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %b : !tile.lds<64x32xf32> -> tensor<64x32xf32>
  tile.store %x, %o[%c0, %c0] : tensor<64x32xf32>, !tile.view<2 x f32>
  tile.return
}
