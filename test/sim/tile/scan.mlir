// Sums of 3000 integers up to each, by chunks of 1024 in a loop that carries the sum of
// those before, exclusive and inclusive, in four waves; and of 64 in one wave.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/scan.py make %t.in.npy %t.before.npy %t.upto.npy %t.few.npy
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --kernel many --block 256 --arg npy:%t.in.npy --arg i32:3000 --arg buf:12000:out=%t.1.npy --arg buf:12000:out=%t.2.npy | FileCheck %s
// RUN: tenon sim %t.co --kernel few --block 64 --arg npy:%t.in.npy --arg buf:256:out=%t.3.npy | FileCheck %s
// CHECK: 0 findings
// RUN: %{python} %S/Inputs/arrays.py same %t.before.npy %t.1.npy
// RUN: %{python} %S/Inputs/arrays.py same %t.upto.npy %t.2.npy
// RUN: %{python} %S/Inputs/arrays.py same %t.few.npy %t.3.npy

tile.kernel @many(%in: !tile.ptr<i32>, %count: i32, %before: !tile.ptr<i32>, %upto: !tile.ptr<i32>)
    attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c4 = arith.constant 4 : i32
  %c1024 = arith.constant 1024 : i32
  %bytes = arith.muli %count, %c4 : i32
  %v = tile.view %in strides [1] bytes %bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %b = tile.view %before strides [1] bytes %bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %u = tile.view %upto strides [1] bytes %bytes : !tile.ptr<i32> -> !tile.view<1 x i32>
  %sum = scf.for %i = %c0 to %count step %c1024 iter_args(%base = %c0) -> (i32) : i32 {
    %x = tile.load %v[%i] : !tile.view<1 x i32> -> tensor<1024xi32>
    %s, %t = tile.scan %x exclusive : tensor<1024xi32>
    %t0 = tile.splat %base : i32 -> tensor<1024xi32>
    %r = arith.addi %s, %t0 : tensor<1024xi32>
    tile.store %r, %b[%i] : tensor<1024xi32>, !tile.view<1 x i32>
    %s2, %t2 = tile.scan %x : tensor<1024xi32>
    %r2 = arith.addi %s2, %t0 : tensor<1024xi32>
    tile.store %r2, %u[%i] : tensor<1024xi32>, !tile.view<1 x i32>
    %next = arith.addi %base, %t : i32
    scf.yield %next : i32
  }
  tile.return
}

tile.kernel @few(%in: !tile.ptr<i32>, %upto: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  %v = tile.view %in strides [1] bytes %c256 : !tile.ptr<i32> -> !tile.view<1 x i32>
  %u = tile.view %upto strides [1] bytes %c256 : !tile.ptr<i32> -> !tile.view<1 x i32>
  %x = tile.load %v[%c0] : !tile.view<1 x i32> -> tensor<64xi32>
  %s, %t = tile.scan %x : tensor<64xi32>
  tile.store %s, %u[%c0] : tensor<64xi32>, !tile.view<1 x i32>
  tile.return
}
