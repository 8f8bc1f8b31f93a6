// Weights of which 16 bytes along k of 16 rows follow each other, read and written through
// blocked views: at rows and columns that are no multiples of a block, with limits, and
// with zeros beyond the bound.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py blocked %t 128 96
// RUN: tenon compile %s -o %t.co

// From row 21 and column 16 on, rows up to 75 and columns up to 64; the narrow read begins
// at column 13. The store puts 40 rows and 24 columns at row 37 and column 8.
// RUN: tenon sim %t.co --block 256 --arg npy:%t.packed.npy --arg buf:8192:out=%t.wide.npy \
// RUN:   --arg buf:8192:out=%t.narrow.npy --arg npy:%t.packed.npy --arg buf:24576:fill=zero:out=%t.stored.npy \
// RUN:   --arg i32:21 --arg i32:2 --arg i32:13 --arg i32:75 --arg i32:64 --arg i32:37 --arg i32:24576 | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/arrays.py window %t %t.wide.npy 21 16 75 64 64 64
// RUN: %{python} %S/Inputs/arrays.py window %t %t.narrow.npy 21 13 75 64 64 64
// RUN: %{python} %S/Inputs/arrays.py placed %t %t.stored.npy 37 8 40 24

// The bound alone cuts off the rows from 64 on.
// RUN: tenon sim %t.co --block 256 --arg npy:%t.packed.npy --arg buf:8192:out=%t.wide.npy \
// RUN:   --arg buf:8192:out=%t.narrow.npy --arg npy:%t.packed.npy --arg buf:24576:fill=zero:out=%t.stored.npy \
// RUN:   --arg i32:48 --arg i32:0 --arg i32:0 --arg i32:2147483647 --arg i32:96 --arg i32:0 --arg i32:12288 | FileCheck %s
// RUN: %{python} %S/Inputs/arrays.py window %t %t.wide.npy 48 0 64 96 64 64
// RUN: %{python} %S/Inputs/arrays.py window %t %t.narrow.npy 48 0 64 96 64 64
// RUN: %{python} %S/Inputs/arrays.py placed %t %t.stored.npy 0 8 40 24

#operand = #tile.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 32]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[16, 0], [32, 0]]>
// Rows permuted as for wide stores of a product.
#permuted = #tile.layout<[64, 64], register = [[0, 1], [0, 2], [0, 4], [0, 32], [4, 0]],
  lane = [[1, 0], [2, 0], [8, 0], [16, 0], [0, 8], [0, 16]], wave = [[32, 0], [0, 0]]>

tile.kernel @k(%in: !tile.ptr<bf16>, %wide: !tile.ptr<bf16>, %narrow: !tile.ptr<bf16>,
    %first: !tile.ptr<bf16>, %stored: !tile.ptr<bf16>, %row: i32, %eights: i32, %column: i32,
    %rows: i32, %columns: i32, %to: i32, %bytes: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c24 = arith.constant 24 : i32
  %c40 = arith.constant 40 : i32
  %out_bytes = arith.constant 8192 : i32
  %all = arith.constant 24576 : i32
  %tile = arith.constant 1536 : i32
  %v = tile.view %in strides [16 of 8 then %tile, 8 of 1 then 128] bytes %bytes
      : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %wide strides [64, 1] bytes %out_bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %n = tile.view %narrow strides [64, 1] bytes %out_bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>

  %from = arith.muli %eights, %c8 : i32
  %a = tile.load %v[%row, %from] within [%rows, %columns] {limit_divisors = array<i64: 1, 8>}
      : !tile.view<2 x bf16> -> tensor<64x64xbf16, #operand>
  tile.store %a, %w[%c0, %c0] : tensor<64x64xbf16, #operand>, !tile.view<2 x bf16>
  %b = tile.load %v[%row, %column] within [%rows, %columns]
      : !tile.view<2 x bf16> -> tensor<64x64xbf16, #permuted>
  tile.store %b, %n[%c0, %c0] : tensor<64x64xbf16, #permuted>, !tile.view<2 x bf16>

  %f = tile.view %first strides [16 of 8 then 1536, 8 of 1 then 128] bytes %all
      : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %s = tile.view %stored strides [16 of 8 then 1536, 8 of 1 then 128] bytes %all
      : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %c = tile.load %f[%c0, %c0] : !tile.view<2 x bf16> -> tensor<64x64xbf16, #permuted>
  %end = arith.addi %to, %c40 : i32
  %c32 = arith.addi %c24, %c8 : i32
  tile.store %c, %s[%to, %c8] within [%end, %c32] {limit_divisors = array<i64: 1, 8>}
      : tensor<64x64xbf16, #permuted>, !tile.view<2 x bf16>
  tile.return
}
