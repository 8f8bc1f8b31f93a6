// Eight workgroups leave a row each and the last to arrive adds them up, whatever the
// order in which they run. It finds what all have written, and leaves its counter at zero.
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --grid 8 --block 128 --arg f32:1.5 --arg buf:4096 \
// RUN:   --arg buf:4:fill=zero:out=%t.count --arg buf:512:out=%t.sum --perturb 1 --wg-order 1 | FileCheck %s
// RUN: od -An -v -j128 -tf4 -w4 %t.sum | sort -u | FileCheck %s --check-prefix=SUM
// RUN: od -An -j128 -td4 %t.count | FileCheck %s --check-prefix=COUNT
// RUN: tenon sim %t.co --grid 8 --block 128 --arg f32:1.5 --arg buf:4096 \
// RUN:   --arg buf:4:fill=zero:out=%t.count --arg buf:512:out=%t.sum --perturb 2 --wg-order 2 | FileCheck %s
// RUN: od -An -v -j128 -tf4 -w4 %t.sum | sort -u | FileCheck %s --check-prefix=SUM
// RUN: od -An -j128 -td4 %t.count | FileCheck %s --check-prefix=COUNT
// RUN: tenon sim %t.co --grid 8 --block 128 --arg f32:1.5 --arg buf:4096 \
// RUN:   --arg buf:4:fill=zero:out=%t.count --arg buf:512:out=%t.sum --perturb 3 --wg-order 3 | FileCheck %s
// RUN: od -An -v -j128 -tf4 -w4 %t.sum | sort -u | FileCheck %s --check-prefix=SUM
// RUN: od -An -j128 -td4 %t.count | FileCheck %s --check-prefix=COUNT
// CHECK: 0 findings
// SUM: 54
// SUM-NOT: {{.}}
// COUNT: {{^ *0$}}

// Rows that stay in the caches of a die, and rows that are read from there.
// RUN: sed '/tile.store %row/s/{coherent}//' %s > %t.store.mlir
// RUN: tenon compile %t.store.mlir -o %t.store.co
// RUN: expect-exit 1 tenon sim %t.store.co --grid 8 --block 128 --arg f32:1.5 --arg buf:4096 \
// RUN:   --arg buf:4:fill=zero --arg buf:512 2>&1 | FileCheck %s --check-prefix=STORE
// STORE: no buffer_wbl2 sc1 writes them back
// RUN: sed '/tile.load/s/{coherent}//' %s > %t.load.mlir
// RUN: tenon compile %t.load.mlir -o %t.load.co
// RUN: expect-exit 1 tenon sim %t.load.co --grid 8 --block 128 --arg f32:1.5 --arg buf:4096 \
// RUN:   --arg buf:4:fill=zero --arg buf:512 2>&1 | FileCheck %s --check-prefix=LOAD
// LOAD: no buffer_inv sc1 comes behind the acquire

module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%f: f32, %rows: !tile.ptr<f32>, %counter: !tile.ptr<i32>, %out: !tile.ptr<f32>)
    attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c7 = arith.constant 7 : i32
  %c8 = arith.constant 8 : i32
  %bytes = arith.constant 4096 : i32
  %id = tile.workgroup_id 0
  %all = tile.view %rows strides [128, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %number = arith.addi %id, %c1 : i32
  %n = arith.uitofp %number : i32 to f32
  %v = arith.mulf %n, %f : f32
  %row = tile.splat %v : f32 -> tensor<1x128xf32>
  tile.store %row, %all[%id, %c0] {coherent} : tensor<1x128xf32>, !tile.view<2 x f32>
  %count_before = arith.constant 8 : i32
  %before = tile.arrive %counter of %count_before : !tile.ptr<i32>
  %last = arith.cmpi eq, %before, %c7 : i32
  scf.if %last {
    %zero = arith.constant dense<0.0> : tensor<1x128xf32>
    %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (tensor<1x128xf32>) : i32 {
      %t = tile.load %all[%i, %c0] {coherent} : !tile.view<2 x f32> -> tensor<1x128xf32>
      %more = arith.addf %s, %t : tensor<1x128xf32>
      scf.yield %more : tensor<1x128xf32>
    }
    %end = arith.constant 512 : i32
    %to = tile.view %out strides [128, 1] bytes %end : !tile.ptr<f32> -> !tile.view<2 x f32>
    tile.store %sum, %to[%c0, %c0] : tensor<1x128xf32>, !tile.view<2 x f32>
  }
  tile.return
}
}
