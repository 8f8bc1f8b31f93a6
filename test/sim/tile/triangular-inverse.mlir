// The inverse of I + L, L strictly lower triangular of 64x64, in FP32 by blocks: those of
// 16x16 on the diagonal as (I + N)(I + N^2)(I + N^4)(I + N^8) with N = -L, one per wave,
// then what lies below them, blocks of 16 and of 32. What stands on and above the diagonal
// of the input is NaN. Powers are kept besides their transposes, so that a result is an
// operand of the next product where it lies. Powers reach thousands where the
// inverse does not, so the largest error is that many roundings of FP32.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/triangular.py make %t
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.l.npy \
// RUN:   --arg buf:16384:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: %{python} %S/Inputs/triangular.py check %t 1e-9 1e-3

// The same with products of BF16 parts. Six products hold, three lose two digits, and one
// loses everything, as powers of 8 bits do.
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision{form=bf16x6}))' -o %t.x6.mlir
// RUN: tenon compile %t.x6.mlir -o %t.x6.co
// RUN: tenon sim %t.x6.co --block 256 --arg npy:%t.l.npy \
// RUN:   --arg buf:16384:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// RUN: %{python} %S/Inputs/triangular.py check %t 1e-9 2e-3
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision{form=bf16x3}))' -o %t.x3.mlir
// RUN: tenon compile %t.x3.mlir -o %t.x3.co
// RUN: tenon sim %t.x3.co --block 256 --arg npy:%t.l.npy \
// RUN:   --arg buf:16384:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// RUN: %{python} %S/Inputs/triangular.py check %t 1e-3 2e-2
// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-select-precision{form=bf16x1}))' -o %t.x1.mlir
// RUN: tenon compile %t.x1.mlir -o %t.x1.co
// RUN: tenon sim %t.x1.co --block 256 --arg npy:%t.l.npy \
// RUN:   --arg buf:16384:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// RUN: %{python} %S/Inputs/triangular.py check %t 1e-1 1e9

#rows = #tile.lds_layout<[64, 64] of 32 bits, strides = [68, 1]>
!whole = !tile.lds<64x64xf32, #rows>
!blocks = !tile.lds<4x16x16xf32, #tile.lds_layout<[4, 16, 16] of 32 bits, strides = [1104, 68, 1]>>
!pairs = !tile.lds<2x16x16xf32, #tile.lds_layout<[2, 16, 16] of 32 bits, strides = [2208, 68, 1]>>
!quarter = !tile.lds<32x32xf32, #tile.lds_layout<[32, 32] of 32 bits, strides = [68, 1]>>
!b = tensor<4x16x16xf32>
!p = tensor<2x16x16xf32>
!q = tensor<32x32xf32>

module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @inverse(%l: !tile.ptr<f32>, %out: !tile.ptr<f32>) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %bytes = arith.constant 16384 : i32
  %lv = tile.view %l strides [64, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %ov = tile.view %out strides [64, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %given = tile.load %lv[%c0, %c0] : !tile.view<2 x f32> -> tensor<64x64xf32>
  %row = tile.iota dim 0 : tensor<64x64xi32>
  %column = tile.iota dim 1 : tensor<64x64xi32>
  %below = arith.cmpi slt, %column, %row : tensor<64x64xi32>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %lower = arith.select %below, %given, %zero : tensor<64x64xi1>, tensor<64x64xf32>
  %n64 = arith.negf %lower : tensor<64x64xf32>
  %lb = tile.alloc_lds : !whole
  %ib = tile.alloc_lds : !whole
  tile.lds_store %n64, %lb : tensor<64x64xf32>, !whole
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  tile.lds_store %nothing, %ib : tensor<64x64xf32>, !whole

  %diagonal = tile.lds_part %lb at 0 : !whole -> !blocks
  %n = tile.lds_load %diagonal : !blocks -> !b
  %again = tile.lds_load %diagonal : !blocks -> !b
  %nt = tile.transpose %again [0, 2, 1] : !b -> !b
  %z4 = arith.constant dense<0.0> : !b
  %nR = tile.transpose %n [0, 2, 1] : !b -> !b
  %ntR = tile.transpose %nt [0, 2, 1] : !b -> !b
  %n2 = tile.mma %n, %ntR, %z4 : !b, !b, !b
  %nt2 = tile.mma %nt, %nR, %z4 : !b, !b, !b
  %n2R = tile.transpose %n2 [0, 2, 1] : !b -> !b
  %nt2R = tile.transpose %nt2 [0, 2, 1] : !b -> !b
  %n4 = tile.mma %n2, %nt2R, %z4 : !b, !b, !b
  %nt4 = tile.mma %nt2, %n2R, %z4 : !b, !b, !b
  %n4R = tile.transpose %n4 [0, 2, 1] : !b -> !b
  %nt4R = tile.transpose %nt4 [0, 2, 1] : !b -> !b
  %nt8 = tile.mma %nt4, %n4R, %z4 : !b, !b, !b
  %nt8R = tile.transpose %nt8 [0, 2, 1] : !b -> !b
  %i = tile.iota dim 1 : tensor<4x16x16xi32>
  %j = tile.iota dim 2 : tensor<4x16x16xi32>
  %same = arith.cmpi eq, %i, %j : tensor<4x16x16xi32>
  %one = arith.constant dense<1.0> : !b
  %none = arith.constant dense<0.0> : !b
  %unit = arith.select %same, %one, %none : tensor<4x16x16xi1>, !b
  %x1 = arith.addf %unit, %n : !b
  %x2 = tile.mma %x1, %nt2R, %x1 : !b, !b, !b
  %x4 = tile.mma %x2, %nt4R, %x2 : !b, !b, !b
  %x8 = tile.mma %x4, %nt8R, %x4 : !b, !b, !b
  %inverses = tile.lds_part %ib at 0 : !whole -> !blocks
  tile.lds_store %x8, %inverses : !b, !blocks

  %n1b = tile.lds_part %lb at 1088 : !whole -> !pairs
  %evenb = tile.lds_part %ib at 0 : !whole -> !pairs
  %oddb = tile.lds_part %ib at 1104 : !whole -> !pairs
  %n1 = tile.lds_load %n1b : !pairs -> !p
  %even = tile.lds_load %evenb : !pairs -> !p
  %odd = tile.lds_load %oddb : !pairs -> !p
  %n1T = tile.transpose %n1 [0, 2, 1] : !p -> !p
  %evenT = tile.transpose %even [0, 2, 1] : !p -> !p
  %z2 = arith.constant dense<0.0> : !p
  %t1 = tile.mma %evenT, %n1T, %z2 : !p, !p, !p
  %t1T = tile.transpose %t1 [0, 2, 1] : !p -> !p
  %u1 = tile.mma %odd, %t1T, %z2 : !p, !p, !p
  %a1b = tile.lds_part %ib at 1088 : !whole -> !pairs
  tile.lds_store %u1, %a1b : !p, !pairs

  %n2b = tile.lds_part %lb at 2176 : !whole -> !quarter
  %topb = tile.lds_part %ib at 0 : !whole -> !quarter
  %bottomb = tile.lds_part %ib at 2208 : !whole -> !quarter
  %m2 = tile.lds_load %n2b : !quarter -> !q
  %top = tile.lds_load %topb : !quarter -> !q
  %bottom = tile.lds_load %bottomb : !quarter -> !q
  %m2T = tile.transpose %m2 [1, 0] : !q -> !q
  %topT = tile.transpose %top [1, 0] : !q -> !q
  %z1 = arith.constant dense<0.0> : !q
  %t2 = tile.mma %topT, %m2T, %z1 : !q, !q, !q
  %t2T = tile.transpose %t2 [1, 0] : !q -> !q
  %u2 = tile.mma %bottom, %t2T, %z1 : !q, !q, !q
  %a2b = tile.lds_part %ib at 2176 : !whole -> !quarter
  tile.lds_store %u2, %a2b : !q, !quarter

  %result = tile.lds_load %ib : !whole -> tensor<64x64xf32>
  tile.store %result, %ov[%c0, %c0] : tensor<64x64xf32>, !tile.view<2 x f32>
  tile.return
}
}
