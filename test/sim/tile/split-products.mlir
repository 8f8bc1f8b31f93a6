// Products of FP32 by each form of tile-select-precision, on operands of full mantissas
// whose exponents differ by 40: the greatest error, as a fraction of the sum of the terms'
// magnitudes, lies within the documented bound and the rounding of FP32 sums, and not far
// below it. The loop's last iteration reads beyond the end, where the parts of zeros are
// zeros.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/product.py fp32 %t 128 128 192
// RUN: tenon compile %s -o %t.co --remarks 2>&1 | FileCheck %s --check-prefix=NATIVE
// NATIVE: multiplies FP32 as native
// RUN: tenon sim %t.co --block 256 --arg npy:%t.x.npy --arg npy:%t.w.npy \
// RUN:   --arg buf:65536:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: %{python} %S/Inputs/product.py error %t 1e-8 1e-6

// RUN: sed 's/%c {}/%c {accuracy = 1.2e-07 : f64}/' %s > %t.x6.mlir
// RUN: tenon compile %t.x6.mlir -o %t.x6.co --remarks 2>&1 | FileCheck %s --check-prefix=X6
// X6: multiplies FP32 as bf16x6
// RUN: tenon sim %t.x6.co --block 256 --arg npy:%t.x.npy --arg npy:%t.w.npy \
// RUN:   --arg buf:65536:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// RUN: %{python} %S/Inputs/product.py error %t 1e-8 1e-6

// RUN: sed 's/%c {}/%c {accuracy = 5.0e-05 : f64}/' %s > %t.x3.mlir
// RUN: tenon compile %t.x3.mlir -o %t.x3.co --remarks 2>&1 | FileCheck %s --check-prefix=X3
// X3: multiplies FP32 as bf16x3
// RUN: tenon sim %t.x3.co --block 256 --arg npy:%t.x.npy --arg npy:%t.w.npy \
// RUN:   --arg buf:65536:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// RUN: %{python} %S/Inputs/product.py error %t 1e-5 4.7e-5

// RUN: sed 's/%c {}/%c {accuracy = 8.0e-03 : f64}/' %s > %t.x1.mlir
// RUN: tenon compile %t.x1.mlir -o %t.x1.co --remarks 2>&1 | FileCheck %s --check-prefix=X1
// X1: multiplies FP32 as bf16x1
// RUN: tenon sim %t.x1.co --block 256 --arg npy:%t.x.npy --arg npy:%t.w.npy \
// RUN:   --arg buf:65536:fill=nan:out=%t.out.npy | FileCheck %s --check-prefix=CLEAN
// RUN: %{python} %S/Inputs/product.py error %t 3e-3 7.84e-3
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @product(%x: !tile.ptr<f32>, %w: !tile.ptr<f32>, %out: !tile.ptr<f32>) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %depth = arith.constant 192 : i32
  %bytes = arith.constant 98304 : i32
  %outBytes = arith.constant 65536 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %xv = tile.view %x strides [192, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %wv = tile.view %w strides [1, 192] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %ov = tile.view %out strides [128, 1] bytes %outBytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %r = scf.for %i = %c0 to %depth step %step iter_args(%c = %zero) -> (tensor<128x128xf32>) : i32 {
    %a = tile.load %xv[%c0, %i] : !tile.view<2 x f32> -> tensor<128x64xf32>
    %b = tile.load %wv[%i, %c0] : !tile.view<2 x f32> -> tensor<64x128xf32>
    %d = tile.mma %a, %b, %c {} : tensor<128x64xf32>, tensor<64x128xf32>, tensor<128x128xf32>
    scf.yield %d : tensor<128x128xf32>
  } {tile.stages = 2 : i64}
  tile.store %r, %ov[%c0, %c0] : tensor<128x128xf32>, !tile.view<2 x f32>
  tile.return
}
}
