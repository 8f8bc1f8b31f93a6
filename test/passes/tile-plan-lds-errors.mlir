// RUN: tenon-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-plan-lds))'

// Over budget: the message names the buffers that are alive where the need is
// greatest, and only those.
module attributes {tile.target = #tile.target<"gfx950">} {
// expected-error @+1 {{needs 196608 bytes of LDS, a workgroup can have 163840}}
tile.kernel @k(%f: f32) attributes {waves = 16 : i32} {
  %t = tile.splat %f : f32 -> tensor<32768xf32>
  %s = tile.splat %f : f32 -> tensor<16384xf32>
  %early = tile.alloc_lds : !tile.lds<16384xf32>
  tile.lds_store %s, %early : tensor<16384xf32>, !tile.lds<16384xf32>
  %r = tile.lds_load %early : !tile.lds<16384xf32> -> tensor<16384xf32>
  // expected-note @+1 {{alive at the peak: '!tile.lds<32768xf32>', 131072 bytes}}
  %a = tile.alloc_lds : !tile.lds<32768xf32>
  // expected-note @+1 {{alive at the peak: '!tile.lds<16384xf32>', 65536 bytes}}
  %b = tile.alloc_lds : !tile.lds<16384xf32>
  tile.lds_store %t, %a : tensor<32768xf32>, !tile.lds<32768xf32>
  tile.lds_store %r, %b : tensor<16384xf32>, !tile.lds<16384xf32>
  %u = tile.lds_load %a : !tile.lds<32768xf32> -> tensor<32768xf32>
  %v = tile.lds_load %b : !tile.lds<16384xf32> -> tensor<16384xf32>
  tile.return
}
}

// -----

// The budget is the chip's: 64 KiB here.
module attributes {tile.target = #tile.target<"gfx942">} {
// expected-error @+1 {{needs 131072 bytes of LDS, a workgroup can have 65536}}
tile.kernel @k(%f: f32) attributes {waves = 16 : i32} {
  %t = tile.splat %f : f32 -> tensor<32768xf32>
  // expected-note @+1 {{alive at the peak}}
  %a = tile.alloc_lds : !tile.lds<32768xf32>
  tile.lds_store %t, %a : tensor<32768xf32>, !tile.lds<32768xf32>
  tile.return
}
}

// -----

// Without a chip there is no budget.
// expected-error @+1 {{the module names no chip}}
tile.kernel @k() attributes {waves = 1 : i32} {
  tile.return
}

// -----

// Lifetimes are positions in one block.
module attributes {tile.target = #tile.target<"gfx950">} {
// expected-error @+1 {{has several blocks; a kernel is one block}}
tile.kernel @k() attributes {waves = 1 : i32} {
  llvm.br ^next
^next:
  tile.return
}
}

// -----

module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{control flow in a kernel is scf.for and scf.if alone}}
  builtin.module {
  }
  tile.return
}
}
