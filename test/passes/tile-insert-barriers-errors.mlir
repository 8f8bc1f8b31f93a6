// RUN: tenon-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-insert-barriers))'

// Which accesses meet is known only when buffers have their places.
tile.kernel @k(%f: f32) attributes {waves = 4 : i32} {
  %a = tile.alloc_lds : !tile.lds<128xf32>
  // expected-error @+1 {{the LDS buffer has no place: run tile-plan-lds first}}
  %u = tile.lds_load %a : !tile.lds<128xf32> -> tensor<128xf32>
  tile.return
}

// -----

// A buffer that comes from elsewhere has none either.
tile.kernel @k(%n: i32) attributes {waves = 4 : i32} {
  %a = builtin.unrealized_conversion_cast %n : i32 to !tile.lds<128xf32>
  %t = tile.splat %n : i32 -> tensor<128xi32>
  %c = arith.sitofp %t : tensor<128xi32> to tensor<128xf32>
  // expected-error @+1 {{the LDS buffer has no place: run tile-plan-lds first}}
  tile.lds_store %c, %a : tensor<128xf32>, !tile.lds<128xf32>
  tile.return
}

// -----

// The order of accesses is that of one block.
// expected-error @+1 {{has several blocks; a kernel is one block}}
tile.kernel @k() attributes {waves = 4 : i32} {
  llvm.br ^next
^next:
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 4 : i32} {
  // expected-error @+1 {{control flow in a kernel is scf.for and scf.if alone}}
  builtin.module {
  }
  tile.return
}

// -----

// A barrier cannot make up for a wait.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.alloc_lds at 0 : !tile.lds<256xf32>
  // expected-note @+1 {{the copy}}
  %t = tile.copy_to_lds %v[%c0], %a : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  tile.barrier
  // expected-error @+1 {{accesses LDS that a copy in flight writes: a tile.wait_copies is missing}}
  %x = tile.lds_load %a : !tile.lds<256xf32> -> tensor<256xf32>
  tile.wait_copies %t : !tile.token
  tile.return
}

// -----

// The LDS of a workgroup that has ended belongs to another.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.alloc_lds at 0 : !tile.lds<256xf32>
  // expected-error @+1 {{the kernel may end while this copy is in flight: a tile.wait_copies on every path is missing}}
  %t = tile.copy_to_lds %v[%c0], %a : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  tile.return
}
