// FP32 numbers are rounded to E4M3 (to nearest, ties to even), multiplied by the 16x16x32
// instruction, or by half of 16x16x128, and turned back into FP32 and bf16, which is exact.
// REQUIRES: numpy
// RUN: tenon compile %s -o %t.co
// RUN: %{python} %S/Inputs/fp8.py make %t.a.npy %t.b.npy
// RUN: tenon sim %t.co --block 64 --arg npy:%t.a.npy --arg npy:%t.b.npy --arg buf:4096:out=%t.product.npy --arg buf:8192:out=%t.wide.npy --arg buf:4096:out=%t.bf16.npy | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/fp8.py check %t.a.npy %t.b.npy %t.product.npy %t.wide.npy %t.bf16.npy
// RUN: sed 's/64: 16, 32/64: 16, 128/' %s > %t.half.mlir
// RUN: tenon compile %t.half.mlir --emit isa | FileCheck %s --check-prefix=HALF
// HALF-COUNT-4: v_mfma_f32_16x16x128_f8f6f4
// HALF-NOT: v_mfma
// RUN: tenon compile %t.half.mlir -o %t.half.co
// RUN: tenon sim %t.half.co --block 64 --arg npy:%t.a.npy --arg npy:%t.b.npy --arg buf:4096:out=%t.product.npy --arg buf:8192:out=%t.wide.npy --arg buf:4096:out=%t.bf16.npy | FileCheck %s
// RUN: %{python} %S/Inputs/fp8.py check %t.a.npy %t.b.npy %t.product.npy %t.wide.npy %t.bf16.npy

tile.kernel @k(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %product: !tile.ptr<f32>,
               %wide: !tile.ptr<f32>, %bf16: !tile.ptr<bf16>) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 8192 : i32
  %h = arith.constant 4096 : i32
  %va = tile.view %a strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %vb = tile.view %b strides [32, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %vp = tile.view %product strides [32, 1] bytes %h : !tile.ptr<f32> -> !tile.view<2 x f32>
  %vw = tile.view %wide strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %vh = tile.view %bf16 strides [64, 1] bytes %h : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %xa = tile.load %va[%c0, %c0] : !tile.view<2 x f32> -> tensor<32x64xf32>
  %xb = tile.load %vb[%c0, %c0] : !tile.view<2 x f32> -> tensor<64x32xf32>
  %ca = arith.truncf %xa : tensor<32x64xf32> to tensor<32x64xf8E4M3FN>
  %cb = arith.truncf %xb : tensor<64x32xf32> to tensor<64x32xf8E4M3FN>
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %p = tile.mma %ca, %cb, %zero {instruction = array<i64: 16, 32>}
      : tensor<32x64xf8E4M3FN>, tensor<64x32xf8E4M3FN>, tensor<32x32xf32>
  tile.store %p, %vp[%c0, %c0] : tensor<32x32xf32>, !tile.view<2 x f32>
  %w = arith.extf %ca : tensor<32x64xf8E4M3FN> to tensor<32x64xf32>
  tile.store %w, %vw[%c0, %c0] : tensor<32x64xf32>, !tile.view<2 x f32>
  %s = arith.extf %ca : tensor<32x64xf8E4M3FN> to tensor<32x64xbf16>
  tile.store %s, %vh[%c0, %c0] : tensor<32x64xbf16>, !tile.view<2 x bf16>
  tile.return
}
