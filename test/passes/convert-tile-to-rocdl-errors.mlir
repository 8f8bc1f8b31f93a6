// RUN: tenon-opt %s -split-input-file -verify-diagnostics --convert-tile-to-rocdl

// What a chip can do decides how code is written for it.
// expected-error @+1 {{the module names no chip}}
module {
  tile.kernel @k() attributes {waves = 1 : i32} {
    tile.return
  }
}

// -----

// Tiles without a layout have no registers.
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{has a tile without a layout: run tile-assign-layouts first}}
  %a = tile.splat %f : f32 -> tensor<64xf32>
  tile.return
}
}

// -----

// A layout over other waves than the kernel's.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 2 : i32} {
  // expected-error @+1 {{has a tile laid out over 1 waves, the kernel has 2}}
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// Elements without arithmetic.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<64xf8E4M3FN, #lanes>
  // expected-error @+1 {{has a tile of 'f8E4M3FN', which is not lowered yet}}
  %b = arith.addf %a, %a : tensor<64xf8E4M3FN, #lanes>
  tile.return
}
}

// -----

// Elements that no register holds.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{has a tile of 'index', which is not lowered yet}}
  %a = arith.constant dense<1> : tensor<64xindex, #lanes>
  tile.return
}
}

// -----

// Several blocks.
module attributes {tile.target = #tile.target<"gfx950">} {
// expected-error @+1 {{has several blocks; a kernel is one block}}
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  llvm.br ^next
  ^next:
  tile.return
}
}

// -----

// Control flow.
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{control flow in a kernel is scf.for and scf.if alone}}
  builtin.module {
  }
  tile.return
}
}

// -----

// Operations of other levels.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{cannot be lowered to per-lane code}}
  %a = builtin.unrealized_conversion_cast %f : f32 to tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// Vectors are no uniform scalars, but arithmetic on scalars is that of LLVM. What LLVM lacks is refused.
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{failed to legalize operation 'arith.ceildivsi'}}
  %a = arith.ceildivsi %n, %n : i32
  tile.return
}
}

// -----

// Two results.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %n : i32 -> tensor<64xi32, #lanes>
  // expected-error @+1 {{cannot be lowered: expected uniform scalars}}
  %lo, %hi = arith.mulsi_extended %a, %a : tensor<64xi32, #lanes>
  tile.return
}
}

// -----

// A constant with a value for each element.
#two = #tile.layout<[2], register = [], lane = [[1], [0], [0], [0], [0], [0]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{a constant tile must have one value everywhere}}
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32, #two>
  tile.return
}
}

// -----

// The chip's instruction is approximate, so exact functions are not silently replaced by it.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  // expected-error @+1 {{only the FP32 form with the afn flag is lowered}}
  %b = math.exp2 %a : tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// Of division there is the reciprocal.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  // expected-error @+1 {{only 1/x with the arcp flag is lowered}}
  %b = arith.divf %a, %a fastmath<arcp> : tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// The reciprocal is approximate, too.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  %one = arith.constant dense<1.0> : tensor<64xf32, #lanes>
  // expected-error @+1 {{only 1/x with the arcp flag is lowered}}
  %b = arith.divf %one, %a : tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// Functions that the chip does not have.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  // expected-error @+1 {{has no lowering to per-lane code}}
  %b = math.sin %a : tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// Elements that no access is as wide as.
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<i4>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{views elements of 'i4'; only 8, 16, 32 and 64 bits are lowered}}
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<i4> -> !tile.view<1 x i4>
  tile.return
}
}

// -----

// Offsets have 32 bits; what lies further would be found at the start of the view.
#column = #tile.layout<[64, 64], register = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [16777216, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{reaches 2^31 bytes or more behind the start of the view: advance the pointer instead}}
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<64x64xf32, #column>
  tile.return
}
}

// -----

// A register whose place depends on the lane by xor has no constant offset.
#swizzled = #tile.layout<[4, 64], register = [[1, 1], [2, 2]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{accesses memory through a swizzled register layout, which is not lowered yet}}
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<4x64xf32, #swizzled>
  tile.return
}
}

// -----

// In LDS, where a row is no power of two: neither sum nor xor.
#swizzled = #tile.layout<[4, 48], register = [[1, 1], [2, 2]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 0], [0, 0]], wave = [], outer = [register 3 * 16 along 1]>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32, lds_bytes = 768 : i64} {
  %b = tile.alloc_lds at 0 : !tile.lds<4x48xf32>
  // expected-error @+1 {{accesses LDS through layouts that are not lowered yet}}
  %a = tile.lds_load %b : !tile.lds<4x48xf32> -> tensor<4x48xf32, #swizzled>
  tile.return
}
}

// -----

// More parts than instructions.
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32, lds_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %b = tile.alloc_lds at 0 : !tile.lds<512xf32>
  // expected-error @+1 {{is one of 4 parts of a copy of 2 instructions}}
  %t = tile.copy_to_lds %v[%c0], %b {part = array<i64: 0, 4>} : !tile.view<1 x f32>, !tile.lds<512xf32> -> !tile.token
  tile.wait_copies %t : !tile.token
  tile.return
}
}

// -----

// Three waves are no bits of the thread index.
#waves3 = #tile.layout<[192], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [],
  outer = [wave 3 * 64 along 0]>
module attributes {tile.target = #tile.target<"gfx950">} {
// expected-error @+1 {{layouts over a number of waves that is not a power of two are not lowered yet}}
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 3 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<192xf32, #waves3>
  tile.return
}
}

// -----

// Who of three copies stores?
#digits = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [],
  outer = [register 3 * 0 along 0]>
module attributes {tile.target = #tile.target<"gfx950">} {
// expected-error @+1 {{stores a tile that a digit of its layout replicates, which is not lowered yet}}
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.splat %f : f32 -> tensor<64xf32, #digits>
  tile.store %a, %v[%c0] : tensor<64xf32, #digits>, !tile.view<1 x f32>
  tile.return
}
}

// -----

// A sum over copies would count them.
#digits = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [],
  outer = [register 3 * 0 along 0]>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #digits>
  // expected-error @+1 {{reduces a tile whose registers hold replicas}}
  %b = tile.reduce add %a dims [0] : tensor<64xf32, #digits> -> tensor<f32, #none>
  tile.return
}
}

// -----

// Bits that replicate count as well.
#twice = #tile.layout<[64], register = [[0]], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #twice>
  // expected-error @+1 {{reduces a tile whose registers hold replicas}}
  %b = tile.reduce add %a dims [0] : tensor<64xf32, #twice> -> tensor<f32, #none>
  tile.return
}
}

// -----

// Sums are of FP32 or i32.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %n : i64 -> tensor<64xi64, #lanes>
  // expected-error @+1 {{reduces only FP32 and i32 tiles, found 'i64'}}
  %b = tile.reduce add %a dims [0] : tensor<64xi64, #lanes> -> tensor<i64, #none>
  tile.return
}
}

// -----

// A sum over waves goes through LDS, which the reduction does not do by itself.
#two_waves = #tile.layout<[128], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [[64]]>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = [[]]>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 2 : i32} {
  %a = tile.splat %f : f32 -> tensor<128xf32, #two_waves>
  // expected-error @+1 {{reduces across waves, which is not lowered yet: place the tile so that a wave holds all of it}}
  %b = tile.reduce add %a dims [0] : tensor<128xf32, #two_waves> -> tensor<f32, #none>
  tile.return
}
}

// -----

// Over three waves neither.
#waves3 = #tile.layout<[192], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [],
  outer = [wave 3 * 64 along 0]>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = [],
  outer = [wave 3 * 0 along 0]>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 3 : i32} {
  %a = tile.splat %f : f32 -> tensor<192xf32, #waves3>
  // expected-error @+1 {{reduces across waves, which is not lowered yet}}
  %b = tile.dot %a, %a dims [0] : tensor<192xf32, #waves3> -> tensor<f32, #none>
  tile.return
}
}

// -----

// A pair of registers that belongs to two sums, or to one, as it happens: six registers of which three make a sum.
#odd = #tile.layout<[3, 2, 64], register = [],
  lane = [[0, 0, 1], [0, 0, 2], [0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 0, 32]], wave = [],
  outer = [register 3 * 1 along 0, register 2 * 1 along 1]>
#slice = #tile.layout<[2, 64], register = [[1, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<3x2x64xf32, #odd>
  // expected-error @+1 {{reduces a layout whose register pairs belong to unrelated results, which is not lowered yet}}
  %b = tile.reduce add %a dims [0] : tensor<3x2x64xf32, #odd> -> tensor<2x64xf32, #slice>
  tile.return
}
}

// -----

// A scatter over a lane bit that replicates already would leave half of the sums unsummed.
#rows8 = #tile.layout<[4, 8], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], wave = []>
#scattered = #tile.layout<[4], register = [[1]], lane = [[0], [0], [0], [2], [0], [0]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x8xf32, #rows8>
  // expected-error @+1 {{scatters over lane bit 3, which it does not combine}}
  %b = tile.reduce add %a dims [1] : tensor<4x8xf32, #rows8> -> tensor<4xf32, #scattered>
  tile.return
}
}

// -----

// Elements change threads in tile-assign-layouts, through LDS.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#reverse = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #lanes>
  // expected-error @+1 {{moves elements between threads: run tile-assign-layouts first}}
  %b = tile.convert_layout %a : tensor<64xf32, #lanes> -> tensor<64xf32, #reverse>
  tile.return
}
}

// -----

// A buffer without a place.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{has no place in LDS: run tile-plan-lds first}}
  %b = tile.alloc_lds : !tile.lds<64xf32>
  %a = tile.lds_load %b : !tile.lds<64xf32> -> tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// A place without LDS.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{has no place in LDS: run tile-plan-lds first}}
  %b = tile.alloc_lds at 0 : !tile.lds<64xf32>
  %a = tile.lds_load %b : !tile.lds<64xf32> -> tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// A place that ends behind the kernel's LDS.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32, lds_bytes = 256 : i64} {
  // expected-error @+1 {{has a place that is not a multiple of 16 bytes, or not within the kernel's 256 bytes of LDS}}
  %b = tile.alloc_lds at 16 : !tile.lds<64xf32>
  %a = tile.lds_load %b : !tile.lds<64xf32> -> tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// A place at which wide accesses are not aligned.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k() attributes {waves = 1 : i32, lds_bytes = 512 : i64} {
  // expected-error @+1 {{has a place that is not a multiple of 16 bytes}}
  %b = tile.alloc_lds at 4 : !tile.lds<64xf32>
  %a = tile.lds_load %b : !tile.lds<64xf32> -> tensor<64xf32, #lanes>
  tile.return
}
}

// -----

// An error in work that waits for its store is reported once.
#twice = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = [[0]]>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #twice>
  // expected-error @+1 {{has no lowering to per-lane code}}
  %b = math.sin %a : tensor<64xf32, #twice>
  %c = arith.addf %b, %b : tensor<64xf32, #twice>
  tile.store %c, %v[%c0] : tensor<64xf32, #twice>, !tile.view<1 x f32>
  tile.return
}
}

// -----

// 24 rows are one and a half blocks of 16.
#rows = #tile.layout<[24, 8], register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0], [4, 0]],
  wave = [], outer = [register 3 * 8 along 0]>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [16 of 8 then %n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{accesses blocks of its view: dim 0 of 24 elements does not divide into blocks of 16}}
  %x = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<24x8xf32, #rows>
  tile.return
}
}

// -----

// A run of 16 bytes would cross the edges of blocks.
#lds = #tile.lds_layout<[16, 64] of 16 bits, strides = [64, 1]>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32, lds_bytes = 2048 : i64} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [16 of 8 then %n, 8 of 1 then 128] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds at 0 : !tile.lds<16x64xbf16, #lds>
  // expected-error @+1 {{copies runs of 8 elements along dimension 1: the view's blocks of 8 and the offset must be known to be multiples of that}}
  %t = tile.copy_to_lds %v[%c0, %n], %b : !tile.view<2 x bf16>, !tile.lds<16x64xbf16, #lds> -> !tile.token
  tile.return
}
}

// -----

// Waves learn through LDS what one has counted.
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %count_before = arith.constant 3 : i32
  // expected-error @+1 {{has no buffer in a kernel of several waves: run tile-assign-layouts first}}
  %before = tile.arrive %p of %count_before : !tile.ptr<i32>
  tile.return
}
}

// -----

// A far row is one for all lanes of a wave.
#lanes = #tile.layout<[4, 16], register = [], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], wave = []>
#rows = #tile.layout<[4], register = [], lane = [[0], [0], [0], [0], [1], [2]], wave = []>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<4xi32, #rows>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{is far: dimension 0 must lie in registers and waves}}
  %g = tile.load %v[%c0, %c0] rows %i : tensor<4xi32, #rows> {far} : !tile.view<2 x f32> -> tensor<4x16xf32, #lanes>
  tile.store %g, %v[%c0, %c0] : tensor<4x16xf32, #lanes>, !tile.view<2 x f32>
  tile.return
}
}
