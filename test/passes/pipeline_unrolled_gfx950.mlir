// A loop of no more iterations than stages is written without a loop. All loads stand ahead
// of the first product: LLVM would have them take turns to save registers, and wait for each.
// RUN: tenon compile %s --emit isa -o %t.s
// RUN: grep -E 'buffer_load|v_mfma' %t.s | FileCheck %s
// CHECK-NOT: v_mfma
// CHECK-COUNT-32: buffer_load_dwordx4
// CHECK-NOT: buffer_load
// CHECK-COUNT-16: v_mfma
// CHECK-NOT: buffer_load
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %out: !tile.ptr<f32>) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c64 = arith.constant 64 : i32
  %k = arith.constant 256 : i32
  %bytes = arith.constant 16384 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %xv = tile.view %x strides [256, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %wv = tile.view %w strides [1, 256] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %ov = tile.view %out strides [32, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %acc = scf.for %i = %c0 to %k step %c64 iter_args(%c = %zero) -> tensor<32x32xf32> : i32 {
    %a = tile.load %xv[%c0, %i] : !tile.view<2 x bf16> -> tensor<32x64xbf16>
    %b = tile.load %wv[%i, %c0] : !tile.view<2 x bf16> -> tensor<64x32xbf16>
    %n = tile.mma %a, %b, %c : tensor<32x64xbf16>, tensor<64x32xbf16>, tensor<32x32xf32>
    scf.yield %n : tensor<32x32xf32>
  } {tile.stages = 4 : i64}
  tile.store %acc, %ov[%c0, %c0] : tensor<32x32xf32>, !tile.view<2 x f32>
  tile.return
}
}
