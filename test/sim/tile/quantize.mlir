// Values divided by the scale of their block: FP8 and FP4 codes, and an exponent found by a
// reduction in the lanes that share a block.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/quantize.py make %t.in.npy
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 128 --arg npy:%t.in.npy --arg buf:4096:out=%t.fp8.npy \
// RUN:   --arg buf:2048:out=%t.fp4.npy --arg buf:512:out=%t.scales.npy | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/quantize.py check %t.in.npy %t.fp8.npy %t.fp4.npy %t.scales.npy

tile.kernel @k(%in: !tile.ptr<f32>, %fp8: !tile.ptr<f8E4M3FN>, %fp4: !tile.ptr<i8>,
               %scales: !tile.ptr<f32>) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %in_bytes = arith.constant 16384 : i32
  %fp8_bytes = arith.constant 4096 : i32
  %fp4_bytes = arith.constant 2048 : i32
  %scale_bytes = arith.constant 512 : i32
  %v = tile.view %in strides [128, 1] bytes %in_bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %o8 = tile.view %fp8 strides [128, 1] bytes %fp8_bytes : !tile.ptr<f8E4M3FN> -> !tile.view<2 x f8E4M3FN>
  %o4 = tile.view %fp4 strides [64, 1] bytes %fp4_bytes : !tile.ptr<i8> -> !tile.view<2 x i8>
  %os = tile.view %scales strides [4, 1] bytes %scale_bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %x = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<32x128xf32>
  %zero = arith.constant dense<0.0> : tensor<32x128xf32>
  %negative = arith.subf %zero, %x : tensor<32x128xf32>
  %magnitude = arith.maxnumf %x, %negative : tensor<32x128xf32>
  %blocks = tile.split %magnitude dim 1 block 32 : tensor<32x128xf32> -> tensor<32x32x4xf32>
  %max = tile.reduce max %blocks dims [1] : tensor<32x32x4xf32> -> tensor<32x4xf32>
  %c8 = tile.quantize %x, %max dim 1 {saturate} : tensor<32x128xf32>, tensor<32x4xf32> -> tensor<32x128xf8E4M3FN>
  %c4 = tile.quantize %x, %max dim 1 : tensor<32x128xf32>, tensor<32x4xf32> -> tensor<32x64xi8>
  tile.store %c8, %o8[%c0, %c0] : tensor<32x128xf8E4M3FN>, !tile.view<2 x f8E4M3FN>
  tile.store %c4, %o4[%c0, %c0] : tensor<32x64xi8>, !tile.view<2 x i8>
  tile.store %max, %os[%c0, %c0] : tensor<32x4xf32>, !tile.view<2 x f32>
  tile.return
}
