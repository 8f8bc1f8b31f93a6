// RUN: tenon-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: tile.kernel @k
tile.kernel @k(%out: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %i = tile.iota dim 0 : tensor<256xi32>
  // CHECK: %{{.*}}, %{{.*}} = tile.scan %{{.*}} exclusive : tensor<256xi32>
  %s, %t = tile.scan %i exclusive : tensor<256xi32>
  // CHECK: %[[B:.*]] = tile.alloc_lds : <2xi32>
  %b = tile.alloc_lds : !tile.lds<2xi32>
  // CHECK: tile.scan %{{.*}} through %[[B]] : !tile.lds<2xi32> : tensor<256xi32>
  %u, %v = tile.scan %i through %b : !tile.lds<2xi32> : tensor<256xi32>
  tile.return
}

// -----

tile.kernel @k(%out: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %i = tile.iota dim 0 : tensor<64x4xi32>
  // expected-error @+1 {{takes an i32 tile of one dimension, found 'tensor<64x4xi32>'}}
  %s, %t = tile.scan %i : tensor<64x4xi32>
  tile.return
}

// -----

tile.kernel @k(%out: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %i = tile.iota dim 0 : tensor<192xi32>
  // expected-error @+1 {{takes a multiple of the 128 threads of the kernel, found 192 elements}}
  %s, %t = tile.scan %i : tensor<192xi32>
  tile.return
}

// -----

tile.kernel @k(%out: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %i = tile.iota dim 0 : tensor<128xi32, #tile.layout<[128], register = [[64]], lane = [[1], [2], [4], [8], [16], [32]], wave = []>>
  // expected-error @+1 {{takes elements side by side in a thread, #tile.layout<[128], register = }}
  %s, %t = tile.scan %i : tensor<128xi32, #tile.layout<[128], register = [[64]], lane = [[1], [2], [4], [8], [16], [32]], wave = []>>
  tile.return
}

// -----

tile.kernel @k(%out: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %b = tile.alloc_lds : !tile.lds<4xi32>
  %i = tile.iota dim 0 : tensor<128xi32>
  // expected-error @+1 {{needs a buffer of type '!tile.lds<2xi32>', found '!tile.lds<4xi32>'}}
  %s, %t = tile.scan %i through %b : !tile.lds<4xi32> : tensor<128xi32>
  tile.return
}
