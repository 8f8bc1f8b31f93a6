// RUN: tenon-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))'

// A slice along rows and one along columns of the same tile cannot be added in
// place, wherever the tile lies.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{no layout fits this tile and those tied to it}}
  %a = tile.splat %f : f32 -> tensor<64x64xf32>
  %b = tile.reduce add %a dims [0] : tensor<64x64xf32> -> tensor<64xf32>
  %c = tile.reduce add %a dims [1] : tensor<64x64xf32> -> tensor<64xf32>
  %d = arith.addf %b, %c : tensor<64xf32>
  tile.return
}

// -----

// Placed neighbours that contradict each other.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#reverse = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  %b = tile.splat %f : f32 -> tensor<64xf32, #reverse>
  // expected-error @+1 {{no layout fits this tile and those tied to it}}
  %c = tile.stack %a, %b dim 0 : tensor<64xf32, #lanes>, tensor<64xf32, #reverse> -> tensor<2x64xf32>
  tile.return
}

// -----

// A tile that the registers of the workgroup cannot hold.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // expected-error @+1 {{no layout fits this tile and those tied to it}}
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<1048576xf32>
  tile.return
}

// -----

// A tile without elements.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{no layout fits this tile and those tied to it}}
  %a = tile.splat %f : f32 -> tensor<4x0xf32>
  tile.return
}

// -----

// Layouts are of the kernel's number of waves: a tile laid out over one wave
// says nothing about the others.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 4 : i32} {
  // expected-error @+1 {{has a tile laid out over 1 waves, the kernel has 4}}
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  tile.return
}

// -----

// LDS is addressed by bytes, so a tile of bits does not go through it.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#reverse = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  %b = arith.cmpf oeq, %a, %a : tensor<64xf32, #lanes>
  // expected-error @+1 {{moves a tile of 'i1' through LDS, which takes only whole bytes}}
  %c = tile.convert_layout %b : tensor<64xi1, #lanes> -> tensor<64xi1, #reverse>
  %d = arith.andi %c, %c : tensor<64xi1, #reverse>
  tile.return
}

// -----

// A broadcast has no source layout where a bit moves both dimensions at once.
#mixed = #tile.layout<[2, 2], register = [[1, 1]],
  lane = [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<2xf32>
  // expected-error @+1 {{does not separate the repeated dimensions}}
  %b = tile.broadcast %a dims [0] : tensor<2xf32> -> tensor<2x2xf32, #mixed>
  tile.return
}

// -----

// A constant whose elements are not at hand cannot be given a layout.
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{a constant tile must be dense}}
  %a = arith.constant sparse<[[0]], [1.0]> : tensor<64xf32>
  tile.return
}

// -----

// The passes follow values through one block.
// expected-error @+1 {{has several blocks; a kernel is one block}}
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  llvm.br ^next(%f : f32)
^next(%g: f32):
  %a = tile.splat %g : f32 -> tensor<64xf32>
  tile.return
}

// -----

// Regions would hide tiles and buffers from the passes.
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{control flow in a kernel is scf.for and scf.if alone}}
  builtin.module {
  }
  tile.return
}
