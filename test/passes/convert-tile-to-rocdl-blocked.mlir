// RUN: tenon-opt %s --convert-tile-to-rocdl | FileCheck %s

// Accesses through blocked views.

#operand = #tile.layout<[32, 64], register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = []>
#scales = #tile.layout<[32, 8], register = [[16, 0], [0, 4]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 1], [0, 2]], wave = []>

module attributes {tile.target = #tile.target<"gfx950">} {

// Packed weights: the lane's offset is 16 bytes times its number, and 16 bytes along k are
// one access. Whole blocks of rows and of k are constants and scalars.
// CHECK-LABEL: llvm.func @weights(
tile.kernel @weights(%p: !tile.ptr<bf16>, %k: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %n = arith.constant 65536 : i32
  %v = tile.view %p strides [16 of 8 then 4096, 8 of 1 then 128] bytes %n
      : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %from = arith.muli %k, %c8 : i32
  // CHECK: %[[BLOCK:.*]] = llvm.ashr
  // CHECK: %[[UNIFORM:.*]] = llvm.mul %[[BLOCK]]
  // CHECK-COUNT-4: rocdl.raw.ptr.buffer.load %{{.*}}, %{{.*}}, %[[UNIFORM]], %{{.*}} : vector<4xi32>
  // CHECK-NOT: raw.ptr.buffer.load
  %x = tile.load %v[%c0, %from] : !tile.view<2 x bf16> -> tensor<32x64xbf16, #operand>
  tile.store %x, %v[%c0, %c0] : tensor<32x64xbf16, #operand>, !tile.view<2 x bf16>
  tile.return
}

// Scales in the order of AITER: the four of a lane are one dword.
// CHECK-LABEL: llvm.func @scales(
tile.kernel @scales(%p: !tile.ptr<i8>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [16 of 4 then 2 of 1 then %n, 4 of 64 then 2 of 2 then 256] bytes %n
      : !tile.ptr<i8> -> !tile.view<2 x i8>
  // CHECK: rocdl.raw.ptr.buffer.load %{{.*}} : i32
  // CHECK-NOT: raw.ptr.buffer.load
  %x = tile.load %v[%c0, %c0] : !tile.view<2 x i8> -> tensor<32x8xi8, #scales>
  // From a row on that is no multiple of 32 they are not.
  // CHECK-COUNT-4: rocdl.raw.ptr.buffer.store %{{.*}} : i8
  tile.store %x, %v[%n, %c0] : tensor<32x8xi8, #scales>, !tile.view<2 x i8>
  tile.return
}
}
