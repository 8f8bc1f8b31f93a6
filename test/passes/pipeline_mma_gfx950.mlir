// A product by hand, from the tile program to machine code.
// RUN: tenon-opt %s --tile-compile | FileCheck %s
// RUN: tenon compile %s -o %t.co --report | FileCheck %s --check-prefix=REPORT
// RUN: tenon sim %t.co --grid 1,1,1 --block 256,1,1 --arg buf:65536:fill=zero --arg buf:65536:fill=zero --arg buf:16384 --arg i32:18 --stats-json %t.json | FileCheck %s --check-prefix=SIM

// Carried accumulators are vectors of a whole instruction; operands are read 16 bytes at
// a time although the row stride is known only as a multiple of 8, and the ragged
// end of the contraction is kept out by an offset beyond the view.
// CHECK: llvm.func @gemm
// Offsets that accesses add constants to stay in one register from iteration to iteration.
// CHECK: ^bb1(%{{.*}}: i32, %[[ACC:.*]]: vector<16xf32>, %[[LEFT:.*]]: i32, %[[RIGHT:.*]]: i32)
// CHECK: ^bb2:
// CHECK-NEXT: %[[RIGHT_HERE:.*]] = llvm.inline_asm "", "=v,0" %[[RIGHT]]
// CHECK-NEXT: %[[LEFT_HERE:.*]] = llvm.inline_asm "", "=v,0" %[[LEFT]]
// CHECK-COUNT-8: rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK-COUNT-4: llvm.amdgcn.mfma.f32.32x32x16.bf16
// CHECK: llvm.br ^bb1({{.*}}, %[[LEFT_HERE]], %[[RIGHT_HERE]] :
// REPORT: 0 AGPRs
// REPORT: scratch         0 bytes
// SIM: 0 findings
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @gemm(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %out: !tile.ptr<f32>, %k8: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %k = arith.muli %k8, %c8 : i32
  %bytes = arith.constant 65536 : i32
  %none = arith.constant 2147483647 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %xv = tile.view %x strides [%k, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %wv = tile.view %w strides [1, %k] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %ov = tile.view %out strides [64, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %acc = scf.for %i = %c0 to %k step %c64 iter_args(%c = %zero) -> tensor<64x64xf32> : i32 {
    %a = tile.load %xv[%c0, %i] within [%none, %k] {limit_divisors = array<i64: 1, 8>} : !tile.view<2 x bf16> -> tensor<64x64xbf16>
    %b = tile.load %wv[%i, %c0] within [%k, %none] {limit_divisors = array<i64: 8, 1>} : !tile.view<2 x bf16> -> tensor<64x64xbf16>
    %n = tile.mma %a, %b, %c : tensor<64x64xbf16>, tensor<64x64xbf16>, tensor<64x64xf32>
    scf.yield %n : tensor<64x64xf32>
  }
  tile.store %acc, %ov[%c0, %c0] : tensor<64x64xf32>, !tile.view<2 x f32>
  tile.return
}
}
