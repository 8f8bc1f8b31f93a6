// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-pipeline))' --split-input-file --verify-diagnostics

tile.kernel @stages(%n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{'tile.stages' must be 1 to 16, found 17 : i64}}
  scf.for %i = %c0 to %n step %n : i32 {
  } {tile.stages = 17 : i64}
  tile.return
}

// -----

tile.kernel @nothing(%n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  // expected-error @+1 {{has stages, but fetches nothing}}
  scf.for %i = %c0 to %n step %n : i32 {
  } {tile.stages = 2 : i64}
  tile.return
}

// -----

// A chain of loads cannot run ahead.
tile.kernel @chased(%p: !tile.ptr<i32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<i32> -> !tile.view<1 x i32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-note @+1 {{on this}}
    %at = tile.load_scalar %p : !tile.ptr<i32> -> i32
    // expected-error @+1 {{cannot be fetched ahead of its iteration: where it reads depends on more than the loop's counter}}
    %a = tile.load %v[%at] : !tile.view<1 x i32> -> tensor<64xi32>
  } {tile.stages = 2 : i64}
  tile.return
}

// -----

// Zeros beyond the end would change a running product.
tile.kernel @product(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1.0> : tensor<64xf32>
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // expected-error @+1 {{what it carries must be sums of products of tiles that it fetches}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%c = %one) -> (tensor<64xf32>) : i32 {
    %a = tile.load %v[%i] : !tile.view<1 x f32> -> tensor<64xf32>
    %m = arith.mulf %a, %c : tensor<64xf32>
    scf.yield %m : tensor<64xf32>
  } {tile.stages = 2 : i64}
  tile.store %r, %v[%c0] : tensor<64xf32>, !tile.view<1 x f32>
  tile.return
}

// -----

// Registers have the stages of the loop.
tile.kernel @own_stages(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{has stages of its own, in a loop that fetches into registers too}}
    %a = tile.load %v[%i] {tile.stages = 3 : i64} : !tile.view<1 x f32> -> tensor<64xf32>
  } {tile.stages = 2 : i64}
  tile.return
}

// -----

tile.kernel @few_stages(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %b = tile.alloc_lds : !tile.lds<64xf32>
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  scf.for %i = %c0 to %n step %c1 : i32 {
    // expected-error @+1 {{'tile.stages' must be 2 to 16, found 1 : i64}}
    %t = tile.copy_to_lds %v[%i], %b {tile.stages = 1 : i64} : !tile.view<1 x f32>, !tile.lds<64xf32> -> !tile.token
    tile.wait_copies %t : !tile.token
  } {tile.stages = 2 : i64}
  tile.return
}
