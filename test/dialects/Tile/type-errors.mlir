// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// Memory holds numbers.
// expected-error @+1 {{expected elements that are integers or floats, found 'index'}}
func.func private @f(!tile.ptr<index>)

// -----

// A view has a rank.
// expected-error @+1 {{expected a rank of 0 or more, found -1}}
func.func private @f(!tile.view<-1 x f32>)

// -----

// A view shows numbers.
// expected-error @+1 {{expected elements that are integers or floats, found 'vector<4xf32>'}}
func.func private @f(!tile.view<1 x vector<4xf32>>)

// -----

// LDS is addressed by bytes.
// expected-error @+1 {{an LDS buffer holds integers or floats of whole bytes, found 'i1'}}
func.func private @f(!tile.lds<64xi1>)

// -----

// LDS holds numbers.
// expected-error @+1 {{an LDS buffer holds integers or floats of whole bytes, found 'index'}}
func.func private @f(!tile.lds<64xindex>)

// -----

// A buffer without elements has no place.
// expected-error @+1 {{expected positive extents of an LDS buffer, found 0}}
func.func private @f(!tile.lds<64x0xf32>)

// -----

// The size of a buffer fits its type, so that no sum of sizes wraps.
// expected-error @+1 {{an LDS buffer has at most 1073741824 bytes}}
func.func private @f(!tile.lds<4294967296x4294967296xf32>)

// -----

// A wave has 64 lanes.
// expected-error @+1 {{expected 6 lane bases (a wave has 64 lanes), found 5}}
#l = #tile.layout<[32], register = [], lane = [[1], [2], [4], [8], [16]], wave = []>

// -----

// A basis has a coordinate per dimension.
// expected-error @+1 {{lane basis 0 has 1 coordinates, expected 2}}
#l = #tile.layout<[2, 64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>

// -----

// A basis stays within the tile.
// expected-error @+1 {{register basis 0 moves dim 0 by 64, expected a value in [0, 64)}}
#l = #tile.layout<[64], register = [[64]], lane = [[1], [2], [4], [8], [16], [32]], wave = []>

// -----

// No element is held twice but through a zero basis, which says so.
// expected-error @+1 {{is a sum of the bases before it}}
#l = #tile.layout<[64], register = [[3]], lane = [[1], [2], [4], [8], [16], [32]], wave = []>

// -----

// The bases reach no element that they do not cover.
// expected-error @+1 {{the bases reach block [128] but cover only 64 of its 128 elements}}
#l = #tile.layout<[128], register = [[64]], lane = [[1], [2], [4], [8], [16], [0]], wave = []>

// -----

// Every element is held.
// expected-error @+1 {{the layout covers 64 of the 128 elements of dim 0}}
#l = #tile.layout<[128], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>

// -----

// Outer digits continue where the bits end.
// expected-error @+1 {{expected stride 64 (what lies below it), found 32}}
#l = #tile.layout<[192], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [], outer = [register 3 * 32 along 0]>

// -----

// Outer digits stay within the tile.
// expected-error @+1 {{leaves dim 0 of extent 128}}
#l = #tile.layout<[128], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [], outer = [register 3 * 64 along 0]>

// -----

// A digit has values.
// expected-error @+1 {{expected a positive extent of a register mode, found 0}}
#l = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [], outer = [register 0 * 64 along 0]>

// -----

// A digit moves a dimension that exists.
// expected-error @+1 {{register mode along dim 1 of a tile of rank 1}}
#l = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [], outer = [register 2 * 64 along 1]>

// -----

// Lanes are 64, so they have no outer digits.
// expected-error @+1 {{expected 'register' or 'wave', found 'lane'}}
#l = #tile.layout<[192], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [], outer = [lane 3 * 64 along 0]>

// -----

// A tile has elements.
// expected-error @+1 {{expected a positive extent of dim 0, found 0}}
#l = #tile.layout<[0], register = [], lane = [[0], [0], [0], [0], [0], [0]], wave = []>

// -----

// A layout is of one shape.
#l = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
// expected-error @+1 {{the layout is of a tile [64], the tensor is [32, 2]}}
func.func private @f(tensor<32x2xf32, #l>)

// -----

// A lane has 512 registers of 4 bytes; code for more would never end.
#l = #tile.layout<[524288], register = [[64], [128], [256], [512], [1024], [2048], [4096], [8192],
  [16384], [32768], [65536], [131072], [262144]],
  lane = [[1], [2], [4], [8], [16], [32]], wave = []>
// expected-error @+1 {{the layout puts more than 4096 elements in one lane}}
func.func private @f(tensor<524288xf32, #l>)

// -----

// Digits that only replicate count as well.
#l = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [],
  outer = [register 4097 * 0 along 0]>
// expected-error @+1 {{the layout puts more than 4096 elements in one lane}}
func.func private @f(tensor<64xf32, #l>)

// -----

// No product of extents wraps around.
// expected-error @+1 {{a register mode of extent 3298534883329 makes more than 2^40 registers, lanes and waves together}}
#l = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [], outer = [register 3298534883329 * 0 along 0]>

// -----

// The message for a chip that is not known lists those that are.
// expected-error @+1 {{unknown target 'gfx90a'; known targets: gfx942, gfx950}}
module attributes {tile.target = #tile.target<"gfx90a">} {}

// -----

// The layout is one of the buffer's tile.
// expected-error @+1 {{the LDS layout is of [32] elements of 32 bits, the buffer of [64] x 'f32'}}
func.func private @f(!tile.lds<64xf32, #tile.lds_layout<[32] of 32 bits, strides = [1]>>)

// -----

// Elements have addresses of their own.
// expected-error @+1 {{expected a stride of at least 64 elements}}
func.func private @f(!tile.lds<8x64xf32, #tile.lds_layout<[8, 64] of 32 bits, strides = [32, 1]>>)

// -----

// expected-error @+1 {{expected 1 stage of an LDS buffer or more, found 0}}
func.func private @f(!tile.lds<64xf32, stages = 0>)

// -----

// expected-error @+1 {{an LDS buffer has at most 1073741824 bytes}}
func.func private @f(!tile.lds<4096xf32, stages = 1000000>)

// -----

// expected-error @+1 {{expected 'swizzle' or 'padding', each once, found 'offset'}}
func.func private @f(!tile.lds<64xf32, #tile.lds_layout<[64] of 32 bits, strides = [1], offset = 3>>)
