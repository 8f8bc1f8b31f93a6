// 8-bit floats are moved as bytes: through LDS in the order of 16x16x128 operands, whose
// lanes hold two runs of 16, with the swizzle that tile-assign-layouts finds.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py make %t.in.npy 16384 uint8
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg buf:16384:out=%t.out.npy \
// RUN:   --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.out.npy

#read = #tile.layout<[64, 256],
  register = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 64], [0, 128]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 16], [0, 32]], wave = [[16, 0], [32, 0]]>

tile.kernel @k(%in: !tile.ptr<f8E4M3FN>, %out: !tile.ptr<f8E4M3FN>) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %bytes = arith.constant 16384 : i32
  %v = tile.view %in strides [256, 1] bytes %bytes : !tile.ptr<f8E4M3FN> -> !tile.view<2 x f8E4M3FN>
  %o = tile.view %out strides [256, 1] bytes %bytes : !tile.ptr<f8E4M3FN> -> !tile.view<2 x f8E4M3FN>
  %b = tile.alloc_lds : !tile.lds<64x256xf8E4M3FN>
  %t = tile.copy_to_lds %v[%c0, %c0], %b : !tile.view<2 x f8E4M3FN>, !tile.lds<64x256xf8E4M3FN> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %b : !tile.lds<64x256xf8E4M3FN> -> tensor<64x256xf8E4M3FN, #read>
  tile.store %x, %o[%c0, %c0] : tensor<64x256xf8E4M3FN, #read>, !tile.view<2 x f8E4M3FN>
  tile.return
}
