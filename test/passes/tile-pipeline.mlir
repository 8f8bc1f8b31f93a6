// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline))' | FileCheck %s

// Two stages: one fetch ahead of the loop, two in the unrolled body, each through a view
// that is empty beyond the last iteration, and the tiles in flight are carried.
// CHECK-LABEL: @two_stages
// CHECK: %[[FIRST:.*]] = arith.cmpi slt, %c0_i32, %[[N:.*]] : i32
// CHECK: arith.select %[[FIRST]]
// CHECK: %[[A0:.*]] = tile.load
// CHECK: %[[B0:.*]] = tile.load
// CHECK: tile.order_fence
// CHECK: scf.for %[[I:.*]] = %c0_i32 to %[[N]] step %{{.*}} iter_args(%[[C:.*]] = %{{.*}}, %[[A:.*]] = %[[A0]], %[[B:.*]] = %[[B0]])
// CHECK: %[[A1:.*]] = tile.load
// CHECK: %[[B1:.*]] = tile.load
// CHECK: tile.order_fence
// CHECK: %[[C1:.*]] = tile.mma %[[A]], %[[B]], %[[C]]
// CHECK: %[[A2:.*]] = tile.load
// CHECK: %[[B2:.*]] = tile.load
// CHECK: tile.order_fence
// CHECK: %[[C2:.*]] = tile.mma %[[A1]], %[[B1]], %[[C1]]
// CHECK: scf.yield %[[C2]], %[[A2]], %[[B2]]
tile.kernel @two_stages(%p: !tile.ptr<bf16>, %o: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %bytes = arith.constant 65536 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %v = tile.view %p strides [1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%c = %zero) -> (tensor<16x16xf32>) : i32 {
    %a = tile.load %v[%c0, %i] : !tile.view<2 x bf16> -> tensor<16x32xbf16>
    %b = tile.load %w[%i, %c0] : !tile.view<2 x bf16> -> tensor<32x16xbf16>
    %r = tile.mma %a, %b, %c : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    scf.yield %r : tensor<16x16xf32>
  } {tile.stages = 2 : i64}
  %ov = tile.view %o strides [16, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  tile.store %s, %ov[%c0, %c0] : tensor<16x16xf32>, !tile.view<2 x f32>
  tile.return
}

// Seven iterations of three stages: two times three in the loop, and the last one behind it,
// of what the loop has fetched.
// CHECK-LABEL: @known
// CHECK: %[[LOOP:.*]]:5 = scf.for %{{.*}} = %c0_i32 to %c192_i32{{.*}} step %c96_i32
// CHECK-COUNT-3: tile.mma
// CHECK-NOT: tile.mma
// CHECK: scf.yield
// CHECK-NOT: tile.load
// CHECK: tile.mma %[[LOOP]]#1, %[[LOOP]]#2, %[[LOOP]]#0
// CHECK-NOT: tile.mma
// CHECK: tile.return
tile.kernel @known(%p: !tile.ptr<bf16>, %o: !tile.ptr<f32>) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %n = arith.constant 224 : i32
  %bytes = arith.constant 65536 : i32
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %v = tile.view %p strides [1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%c = %zero) -> (tensor<16x16xf32>) : i32 {
    %a = tile.load %v[%c0, %i] : !tile.view<2 x bf16> -> tensor<16x32xbf16>
    %b = tile.load %w[%i, %c0] : !tile.view<2 x bf16> -> tensor<32x16xbf16>
    %r = tile.mma %a, %b, %c : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
    scf.yield %r : tensor<16x16xf32>
  } {tile.stages = 3 : i64}
  %ov = tile.view %o strides [16, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  tile.store %s, %ov[%c0, %c0] : tensor<16x16xf32>, !tile.view<2 x f32>
  tile.return
}

// One stage is no pipeline.
// CHECK-LABEL: @one_stage
// CHECK-COUNT-1: tile.load
// CHECK-NOT: tile.load
// CHECK-NOT: tile.stages
tile.kernel @one_stage(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %a = tile.load %v[%i] : !tile.view<1 x f32> -> tensor<64xf32>
    tile.store %a, %v[%i] : tensor<64xf32>, !tile.view<1 x f32>
  } {tile.stages = 1 : i64}
  tile.return
}

// Copies that differ in their stages: no unrolling, the numbers of the stages go around. x has three stages, so
// two of its copies are in flight ahead of the loop, and in it those of w, which has two,
// are issued first. An iteration waits for what it computes with.
// CHECK-LABEL: @rotating
// CHECK-DAG: %[[X:.*]] = tile.alloc_lds : <64x32xbf16, stages = 3>
// CHECK-DAG: %[[W:.*]] = tile.alloc_lds : <32x64xbf16, stages = 2>
// CHECK-DAG: %[[V:.*]] = tile.view %{{.*}} strides [1024, 1]
// CHECK: %[[W0:.*]] = tile.copy_to_lds {{.*}} <32x64xbf16>
// CHECK: %[[X0:.*]] = tile.copy_to_lds {{.*}} <64x32xbf16>
// CHECK: %[[X1:.*]] = tile.copy_to_lds %{{.*}}[%c0_i32, %c32{{.*}}], {{.*}} <64x32xbf16>
// CHECK: %[[LOOP:.*]]:6 = scf.for %[[I:.*]] = %c0_i32 to %[[N:.*]] step %c32{{.*}} iter_args(%[[C:.*]] = %{{.*}}, %[[AT2:.*]] = %c0{{.*}}, %[[AT3:.*]] = %c0{{.*}}, %[[XA:.*]] = %[[X0]], %[[XB:.*]] = %[[X1]], %[[WA:.*]] = %[[W0]])
// CHECK-NEXT: tile.wait_copies %[[XA]], %[[WA]]
// CHECK-NEXT: tile.barrier
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c32
// CHECK: %[[WSTAGE:.*]] = tile.lds_stage %[[W]][%[[AT2]] + 1]
// CHECK: arith.cmpi slt, %[[NEXT]], %[[N]]
// CHECK: %[[W1:.*]] = tile.copy_to_lds {{.*}}, %[[WSTAGE]]
// CHECK: %[[XSTAGE:.*]] = tile.lds_stage %[[X]][%[[AT3]] + 2]
// CHECK: %[[X2:.*]] = tile.copy_to_lds {{.*}}, %[[XSTAGE]]
// CHECK: tile.lds_stage %[[X]][%[[AT3]]] :
// CHECK: tile.lds_stage %[[W]][%[[AT2]]] :
// CHECK: %[[SUM:.*]] = tile.mma {{.*}}, %[[C]]
// CHECK: %[[ONE:.*]] = arith.addi %[[AT2]], %c1
// CHECK: %[[END:.*]] = arith.cmpi eq, %[[ONE]], %c2
// CHECK: %[[THEN2:.*]] = arith.select %[[END]], %c0{{.*}}, %[[ONE]]
// CHECK: %[[THEN3:.*]] = arith.select
// CHECK: scf.yield %[[SUM]], %[[THEN2]], %[[THEN3]], %[[XB]], %[[X2]], %[[W1]]
// CHECK: tile.wait_copies %[[LOOP]]#3, %[[LOOP]]#4, %[[LOOP]]#5
tile.kernel @rotating(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %bytes = arith.constant 65536 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.alloc_lds : !tile.lds<64x32xbf16>
  %b = tile.alloc_lds : !tile.lds<32x64xbf16>
  %v = tile.view %p strides [1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) : i32 {
    %ta = tile.copy_to_lds %v[%c0, %i], %a {tile.stages = 3 : i64} : !tile.view<2 x bf16>, !tile.lds<64x32xbf16> -> !tile.token
    tile.wait_copies %ta : !tile.token
    %x = tile.lds_load %a : !tile.lds<64x32xbf16> -> tensor<64x32xbf16>
    %tb = tile.copy_to_lds %w[%i, %c0], %b : !tile.view<2 x bf16>, !tile.lds<32x64xbf16> -> !tile.token
    tile.wait_copies %tb : !tile.token
    %y = tile.lds_load %b : !tile.lds<32x64xbf16> -> tensor<32x64xbf16>
    %r = tile.mma %x, %y, %c : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %r : tensor<64x64xf32>
  } {tile.stages = 2 : i64}
  tile.return
}

// Sixteen instructions of a wave in an iteration: the stages go around. Four: unrolled.
// CHECK-LABEL: @many_products
// CHECK: scf.for
// CHECK-COUNT-1: tile.mma
// CHECK-NOT: tile.mma
tile.kernel @many_products(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %bytes = arith.constant 65536 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.alloc_lds : !tile.lds<64x32xbf16>
  %b = tile.alloc_lds : !tile.lds<32x64xbf16>
  %v = tile.view %p strides [1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) : i32 {
    %ta = tile.copy_to_lds %v[%c0, %i], %a : !tile.view<2 x bf16>, !tile.lds<64x32xbf16> -> !tile.token
    tile.wait_copies %ta : !tile.token
    %x = tile.lds_load %a : !tile.lds<64x32xbf16> -> tensor<64x32xbf16>
    %tb = tile.copy_to_lds %w[%i, %c0], %b : !tile.view<2 x bf16>, !tile.lds<32x64xbf16> -> !tile.token
    tile.wait_copies %tb : !tile.token
    %y = tile.lds_load %b : !tile.lds<32x64xbf16> -> tensor<32x64xbf16>
    %r = tile.mma %x, %y, %c {instruction = array<i64: 16, 32>} : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %r : tensor<64x64xf32>
  } {tile.stages = 2 : i64}
  tile.return
}

// CHECK-LABEL: @few_products
// CHECK: scf.for
// CHECK-COUNT-2: tile.mma
// CHECK-NOT: tile.mma
tile.kernel @few_products(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %bytes = arith.constant 65536 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %a = tile.alloc_lds : !tile.lds<64x32xbf16>
  %b = tile.alloc_lds : !tile.lds<32x64xbf16>
  %v = tile.view %p strides [1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %s = scf.for %i = %c0 to %n step %c32 iter_args(%c = %zero) -> (tensor<64x64xf32>) : i32 {
    %ta = tile.copy_to_lds %v[%c0, %i], %a : !tile.view<2 x bf16>, !tile.lds<64x32xbf16> -> !tile.token
    tile.wait_copies %ta : !tile.token
    %x = tile.lds_load %a : !tile.lds<64x32xbf16> -> tensor<64x32xbf16>
    %tb = tile.copy_to_lds %w[%i, %c0], %b : !tile.view<2 x bf16>, !tile.lds<32x64xbf16> -> !tile.token
    tile.wait_copies %tb : !tile.token
    %y = tile.lds_load %b : !tile.lds<32x64xbf16> -> tensor<32x64xbf16>
    %r = tile.mma %x, %y, %c {instruction = array<i64: 16, 32>} : tensor<64x32xbf16>, tensor<32x64xbf16>, tensor<64x64xf32>
    scf.yield %r : tensor<64x64xf32>
  } {tile.stages = 2 : i64}
  tile.return
}
