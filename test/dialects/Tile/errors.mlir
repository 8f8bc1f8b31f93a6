// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// Nobody receives what a kernel would return.
// expected-error @+1 {{returns nothing, but its type has results}}
tile.kernel @k() -> i32 attributes {waves = 1 : i32} {
  tile.return
}

// -----

// Arguments are what a kernarg segment holds; the message counts them.
// expected-error @+1 {{argument #1 must be a !tile.ptr, i32, i64 or f32, found 'index'}}
tile.kernel @k(%p: !tile.ptr<f32>, %i: index) attributes {waves = 1 : i32} {
  tile.return
}

// -----

// Tiles are made in a kernel, not passed to it.
// expected-error @+1 {{argument #0 must be a !tile.ptr, i32, i64 or f32, found 'tensor<4xf32>'}}
tile.kernel @k(%t: tensor<4xf32>) attributes {waves = 1 : i32} {
  tile.return
}

// -----

// A workgroup has waves.
// expected-error @+1 {{attribute 'waves' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
tile.kernel @k() attributes {waves = 0 : i32} {
  tile.return
}

// -----

// A workgroup has at most 1024 threads.
// expected-error @+1 {{attribute 'waves' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive whose maximum value is 16}}
tile.kernel @k() attributes {waves = 17 : i32} {
  tile.return
}

// -----

// The number of waves shapes every layout.
// expected-error @+1 {{requires attribute 'waves'}}
tile.kernel @k() {
  tile.return
}

// -----

// There is no negative amount of LDS.
// expected-error @+1 {{attribute 'lds_bytes' failed to satisfy constraint}}
tile.kernel @k() attributes {waves = 1 : i32, lds_bytes = -16 : i64} {
  tile.return
}

// -----

// The back end ignores a strategy that it does not know, so the verifier does not.
// expected-error @+1 {{scheduler must be one of coexec, iterative-ilp, iterative-maxocc, iterative-minreg, max-ilp, max-memory-clause; found 'fast'}}
tile.kernel @k() attributes {waves = 1 : i32, scheduler = "fast"} {
  tile.return
}

// -----

// expected-error @+1 {{preloads 2 arguments, but takes 1}}
tile.kernel @preloads(%n: i32) attributes {waves = 1 : i32, preload = 2 : i32} {
  tile.return
}

// -----

// A kernel has a body.
// expected-error @+1 {{failed to verify constraint: region with at least 1 blocks}}
tile.kernel @k() attributes {waves = 1 : i32}

// -----

// A kernel ends with its own terminator.
func.func @f() {
  // expected-error @+1 {{expects parent op 'tile.kernel'}}
  tile.return
}

// -----

// A grid has three dimensions.
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{attribute 'dim' failed to satisfy constraint}}
  %0 = tile.workgroup_id 3
  tile.return
}

// -----

// One stride per dimension.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{has 1 strides, the view has rank 2}}
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  tile.return
}

// -----

// A view does not reinterpret memory.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{views elements of 'i32' through a pointer to 'f32'}}
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x i32>
  tile.return
}

// -----

// Blocks do not make dimensions.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{has 1 strides, the view has rank 2}}
  %v = tile.view %p strides [16 of 4 then 64] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  tile.return
}

// -----

// Indices are taken apart by shifts.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{the extent of a block must be a power of two of at least 2, found 12}}
  %v = tile.view %p strides [12 of 4 then 64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  tile.return
}

// -----

// The generic form must end each dimension.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{needs an extent of a block for each of 2 strides, and 0 for the last one of a dimension}}
  %v = "tile.view"(%p, %n) <{static_strides = array<i64: 1, 64>, blocks = array<i64: 0, 16>}> : (!tile.ptr<f32>, i32) -> !tile.view<1 x f32>
  tile.return
}

// -----

// A lane copies runs; every second element of a block is none.
tile.kernel @k(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%n, 8 of 2 then 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<16x64xbf16>
  // expected-error @+1 {{copies runs of elements, but no stride of the view is 1}}
  %t = tile.copy_to_lds %v[%c0, %c0], %b : !tile.view<2 x bf16>, !tile.lds<16x64xbf16> -> !tile.token
  tile.return
}

// -----

// The generic form must name a value for each stride that varies.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{has 1 strides that vary, but 0 values for them}}
  %v = "tile.view"(%p, %n) <{static_strides = array<i64: -9223372036854775808>}> : (!tile.ptr<f32>, i32) -> !tile.view<1 x f32>
  tile.return
}

// -----

// A negative stride would leave the view on its lower side, where nothing checks.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{a stride must be in [0, 2^31) bytes, found -1 elements of 'f32'}}
  %v = tile.view %p strides [-1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  tile.return
}

// -----

// Offsets have 32 bits: larger steps are for tile.advance.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{a stride must be in [0, 2^31) bytes, found 536870912 elements of 'f32'}}
  %v = tile.view %p strides [536870912] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  tile.return
}

// -----

// A scalar load does not reinterpret memory.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{reads 'i32' through a pointer to 'f32'}}
  %s = tile.load_scalar %p : !tile.ptr<f32> -> i32
  tile.return
}

// -----

// Scalar loads are of 32 bits.
tile.kernel @k(%p: !tile.ptr<bf16>) attributes {waves = 1 : i32} {
  // expected-error @+1 {{result #0 must be 32-bit signless integer or 32-bit float}}
  %s = tile.load_scalar %p : !tile.ptr<bf16> -> bf16
  tile.return
}

// -----

// A tile has the rank of the view that it is read from.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{accesses a tile of rank 1 through a view of rank 2}}
  %t = tile.load %v[%n, %n] : !tile.view<2 x f32> -> tensor<4xf32>
  tile.return
}

// -----

// One offset per dimension.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{has 1 offsets, the view has rank 2}}
  %t = tile.load %v[%n] : !tile.view<2 x f32> -> tensor<4x64xf32>
  tile.return
}

// -----

// A load does not convert.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{accesses a tile of 'bf16' through a view of 'f32'}}
  %t = tile.load %v[%n, %n] : !tile.view<2 x f32> -> tensor<4x64xbf16>
  tile.return
}

// -----

// A tile's extents shape the code: none varies.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{must be statically shaped tensor}}
  %t = tile.load %v[%n, %n] : !tile.view<2 x f32> -> tensor<?x64xf32>
  tile.return
}

// -----

// A store is checked as a load is.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %t = tile.splat %n : i32 -> tensor<64xi32>
  // expected-error @+1 {{accesses a tile of rank 1 through a view of rank 2}}
  tile.store %t, %v[%n, %n] : tensor<64xi32>, !tile.view<2 x f32>
  tile.return
}

// -----

// A store does not convert.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %t = tile.splat %n : i32 -> tensor<64xi32>
  // expected-error @+1 {{accesses a tile of 'i32' through a view of 'f32'}}
  tile.store %t, %v[%n] : tensor<64xi32>, !tile.view<1 x f32>
  tile.return
}

// -----

// A splat does not convert.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  // expected-error @+1 {{makes a tile of 'bf16' from a scalar of type 'f32'}}
  %t = tile.splat %f : f32 -> tensor<64xbf16>
  tile.return
}

// -----

// A dimension that does not exist has no source.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @+1 {{dims must be increasing and below 2, found [2]}}
  %b = tile.broadcast %a dims [2] : tensor<64xf32> -> tensor<4x64xf32>
  tile.return
}

// -----

// A broadcast does not transpose.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{dims must be increasing and below 3, found [1, 0]}}
  %b = tile.broadcast %a dims [1, 0] : tensor<4x64xf32> -> tensor<64x4x2xf32>
  tile.return
}

// -----

// Each dimension of the source goes somewhere.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{expected a tile of rank 1, found 'tensor<4x64xf32>'}}
  %b = tile.broadcast %a dims [1] : tensor<4x64xf32> -> tensor<4x64xf32>
  tile.return
}

// -----

// A broadcast repeats along new dimensions only.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @+1 {{dimension 0 must have the extent of dimension 0 (4), found 64}}
  %b = tile.broadcast %a dims [0] : tensor<64xf32> -> tensor<4x64xf32>
  tile.return
}

// -----

// A broadcast does not convert.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @+1 {{expected elements of 'bf16', found 'f32'}}
  %b = tile.broadcast %a dims [1] : tensor<64xf32> -> tensor<4x64xbf16>
  tile.return
}

// -----

// A broadcast moves no data: its source lies as its result does, without the new dimensions.
#rev = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
#l = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #rev>
  // expected-error @+1 {{expected the layout #tile.layout<[64], register = [], lane = [[1], [2]}}
  %b = tile.broadcast %a dims [1] : tensor<64xf32, #rev> -> tensor<4x64xf32, #l>
  tile.return
}

// -----

// Where a bit moves both dimensions at once, no layout remains for the source.
#mixed = #tile.layout<[2, 2], register = [[1, 1]],
  lane = [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], wave = []>
#r = #tile.layout<[2], register = [[1]], lane = [[0], [0], [0], [0], [0], [0]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<2xf32, #r>
  // expected-error @+1 {{does not separate the dropped dimensions}}
  %b = tile.broadcast %a dims [0] : tensor<2xf32, #r> -> tensor<2x2xf32, #mixed>
  tile.return
}

// -----

// A slice is one of the dimensions that exist.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{dim must be below the rank 2, found 2}}
  %b = tile.extract %a dim 2 at 0 : tensor<4x64xf32> -> tensor<4x64xf32>
  tile.return
}

// -----

// A slice is one of those that exist.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{index must be below the extent 4, found 4}}
  %b = tile.extract %a dim 0 at 4 : tensor<4x64xf32> -> tensor<64xf32>
  tile.return
}

// -----

// Slices are counted from 0.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{index must be below the extent 4, found -1}}
  %b = tile.extract %a dim 0 at -1 : tensor<4x64xf32> -> tensor<64xf32>
  tile.return
}

// -----

// A slice has the other dimensions.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{dimension 0 must have the extent of dimension 1 (64), found 4}}
  %b = tile.extract %a dim 0 at 0 : tensor<4x64xf32> -> tensor<4xf32>
  tile.return
}

// -----

// An element that another lane holds is not extracted without a move.
#l = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32, #l>
  // expected-error @+1 {{dimension 1 must lie in registers, found the layout #tile.layout<[4, 64]}}
  %b = tile.extract %a dim 1 at 0 : tensor<4x64xf32, #l> -> tensor<4xf32>
  tile.return
}

// -----

// The slice lies where the whole does.
#rev = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
#l = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32, #l>
  // expected-error @+1 {{expected the layout #tile.layout<[64], register = [], lane = [[1], [2]}}
  %b = tile.extract %a dim 0 at 0 : tensor<4x64xf32, #l> -> tensor<64xf32, #rev>
  tile.return
}

// -----

// The new dimension counts its operands.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @+1 {{has 2 operands, the extent of dimension 0 is 3}}
  %b = tile.stack %a, %a dim 0 : tensor<64xf32>, tensor<64xf32> -> tensor<3x64xf32>
  tile.return
}

// -----

// The new dimension is one of the result.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @+1 {{dim must be below the rank 2, found 2}}
  %b = tile.stack %a, %a dim 2 : tensor<64xf32>, tensor<64xf32> -> tensor<2x64xf32>
  tile.return
}

// -----

// Every operand is a slice of the result, the last one too.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  %c = tile.splat %f : f32 -> tensor<32xf32>
  // expected-error @+1 {{dimension 0 must have the extent of dimension 1 (64), found 32}}
  %b = tile.stack %a, %c dim 0 : tensor<64xf32>, tensor<32xf32> -> tensor<2x64xf32>
  tile.return
}

// -----

// Stacking moves nothing between lanes.
#l = #tile.layout<[2, 32], register = [],
  lane = [[1, 0], [0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<32xf32>
  // expected-error @+1 {{dimension 0 must lie in registers}}
  %b = tile.stack %a, %a dim 0 : tensor<32xf32>, tensor<32xf32> -> tensor<2x32xf32, #l>
  tile.return
}

// -----

// Stacked tiles share one layout.
#rev = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
#l = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #rev>
  // expected-error @+1 {{expected the layout #tile.layout<[64], register = [], lane = [[1], [2]}}
  %b = tile.stack %a, %a, %a, %a dim 0 : tensor<64xf32, #rev>, tensor<64xf32, #rev>, tensor<64xf32, #rev>, tensor<64xf32, #rev> -> tensor<4x64xf32, #l>
  tile.return
}

// -----

// A reduction names dimensions that exist.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{dims must be increasing and below 2, found [2]}}
  %b = tile.reduce add %a dims [2] : tensor<4x64xf32> -> tensor<4xf32>
  tile.return
}

// -----

// A dimension is reduced once.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{dims must be increasing and below 2, found [0, 0]}}
  %b = tile.reduce add %a dims [0, 0] : tensor<4x64xf32> -> tensor<f32>
  tile.return
}

// -----

// The result has the dimensions that are left.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{dimension 0 must have the extent of dimension 0 (4), found 64}}
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32> -> tensor<64xf32>
  tile.return
}

// -----

// A reduction does not convert.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{expected elements of 'f32', found 'bf16'}}
  %b = tile.reduce max %a dims [1] : tensor<4x64xf32> -> tensor<4xbf16>
  tile.return
}

// -----

// A scattered result keeps each element: a register bit is moved, not dropped.
#l = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
#r = #tile.layout<[4], register = [[2], [1]], lane = [[0], [0], [0], [0], [0], [0]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32, #l>
  // expected-error @+1 {{or that with register bits moved to free lane bits, found}}
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32, #l> -> tensor<4xf32, #r>
  tile.return
}

// -----

// A scatter does not take a lane bit that holds other elements.
#l = #tile.layout<[4, 32], register = [[1, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [2, 0]], wave = []>
#r = #tile.layout<[4], register = [[2]], lane = [[0], [0], [0], [0], [0], [1]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x32xf32, #l>
  // expected-error @+1 {{or that with register bits moved to free lane bits, found}}
  %b = tile.reduce add %a dims [1] : tensor<4x32xf32, #l> -> tensor<4xf32, #r>
  tile.return
}

// -----

// Where a bit moves both dimensions at once, a reduction has no result in place.
#mixed = #tile.layout<[2, 2], register = [[1, 1]],
  lane = [[1, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0]], wave = []>
#r = #tile.layout<[2], register = [[1]], lane = [[0], [0], [0], [0], [0], [0]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<2x2xf32, #mixed>
  // expected-error @+1 {{does not separate the dropped dimensions}}
  %b = tile.reduce add %a dims [1] : tensor<2x2xf32, #mixed> -> tensor<2xf32, #r>
  tile.return
}

// -----

// The factors of a dot are of one type.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  %c = tile.splat %f : f32 -> tensor<32xf32>
  // expected-error @+1 {{requires all operands to have the same type}}
  %b = "tile.dot"(%a, %c) <{dims = array<i64: 0>}> : (tensor<64xf32>, tensor<32xf32>) -> tensor<f32>
  tile.return
}

// -----

// A dot is checked as a reduction is.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32>
  // expected-error @+1 {{dimension 0 must have the extent of dimension 0 (4), found 64}}
  %b = tile.dot %a, %a dims [1] : tensor<4x64xf32> -> tensor<64xf32>
  tile.return
}

// -----

// A change of layout keeps the shape.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @+1 {{changes only the layout, found 'tensor<64xf32>' to 'tensor<8x8xf32>'}}
  %b = tile.convert_layout %a : tensor<64xf32> -> tensor<8x8xf32>
  tile.return
}

// -----

// A change of layout keeps the elements.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // expected-error @+1 {{changes only the layout, found 'tensor<64xf32>' to 'tensor<64xi32>'}}
  %b = tile.convert_layout %a : tensor<64xf32> -> tensor<64xi32>
  tile.return
}

// -----

// Element-wise ops do not mix layouts: somebody has to say where the exchange is.
#l = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#rev = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #l>
  %b = tile.splat %f : f32 -> tensor<64xf32, #rev>
  // expected-error @+1 {{requires the same}}
  %c = "arith.addf"(%a, %b) : (tensor<64xf32, #l>, tensor<64xf32, #rev>) -> tensor<64xf32, #l>
  tile.return
}

// -----

// A cast stays in place as well.
#l = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#rev = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32, #l>
  // expected-error @+1 {{are cast incompatible}}
  %b = arith.truncf %a : tensor<64xf32, #l> to tensor<64xbf16, #rev>
  tile.return
}

// -----

// A buffer holds one tile.
tile.kernel @k(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<64xf32>
  %b = tile.alloc_lds : !tile.lds<32xf32>
  // expected-error @+1 {{expected a tile of the buffer's shape and type '!tile.lds<32xf32>', found 'tensor<64xf32>'}}
  tile.lds_store %a, %b : tensor<64xf32>, !tile.lds<32xf32>
  tile.return
}

// -----

// What comes out of a buffer is what went in.
tile.kernel @k() attributes {waves = 1 : i32} {
  %b = tile.alloc_lds : !tile.lds<32xf32>
  // expected-error @+1 {{expected a tile of the buffer's shape and type '!tile.lds<32xf32>', found 'tensor<32xi32>'}}
  %a = tile.lds_load %b : !tile.lds<32xf32> -> tensor<32xi32>
  tile.return
}

// -----

// LDS begins at 0.
tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{attribute 'offset' failed to satisfy constraint}}
  %b = tile.alloc_lds at -16 : !tile.lds<32xf32>
  tile.return
}

// -----

// Accesses go to one stage.
tile.kernel @k() attributes {waves = 1 : i32} {
  %b = tile.alloc_lds : !tile.lds<64xf32, stages = 2>
  // expected-error @+1 {{accesses a buffer of 2 stages: pick one with tile.lds_stage}}
  %a = tile.lds_load %b : !tile.lds<64xf32, stages = 2> -> tensor<64xf32>
  tile.return
}

// -----

// A stage has the type of its buffer.
tile.kernel @k(%i: i32) attributes {waves = 1 : i32} {
  %b = tile.alloc_lds : !tile.lds<64xf32, stages = 2>
  // expected-error @+1 {{expected one stage of '!tile.lds<64xf32, stages = 2>', '!tile.lds<64xf32>', found '!tile.lds<32xf32>'}}
  %s = tile.lds_stage %b[%i] : !tile.lds<64xf32, stages = 2> -> !tile.lds<32xf32>
  tile.return
}

// -----

// There is no such stage.
tile.kernel @k() attributes {waves = 1 : i32} {
  %c2 = arith.constant 2 : i32
  %b = tile.alloc_lds : !tile.lds<64xf32, stages = 2>
  // expected-error @+1 {{picks stage 2 of a buffer of 2}}
  %s = tile.lds_stage %b[%c2] : !tile.lds<64xf32, stages = 2> -> !tile.lds<64xf32>
  tile.return
}

// -----

// The waves copy whole instructions.
tile.kernel @k(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<4x64xbf16>
  // expected-error @+1 {{cannot fill '!tile.lds<4x64xbf16>': 512 bytes, no multiple of 1024: 256 bytes per instruction of each of 4 waves}}
  %t = tile.copy_to_lds %v[%c0, %c0], %b : !tile.view<2 x bf16>, !tile.lds<4x64xbf16> -> !tile.token
  tile.return
}

// -----

// Lanes copy runs of elements.
tile.kernel @k(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1, 64] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<16x64xbf16, #tile.lds_layout<[16, 64] of 16 bits, strides = [64, 1]>>
  // expected-error @+1 {{copies runs of elements along dimension 1, where the stride of the view must be 1}}
  %t = tile.copy_to_lds %v[%c0, %c0], %b : !tile.view<2 x bf16>, !tile.lds<16x64xbf16, #tile.lds_layout<[16, 64] of 16 bits, strides = [64, 1]>> -> !tile.token
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%n, 2] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<16x64xbf16>
  // expected-error @+1 {{copies runs of elements, but no stride of the view is 1}}
  %t = tile.copy_to_lds %v[%c0, %c0], %b : !tile.view<2 x bf16>, !tile.lds<16x64xbf16> -> !tile.token
  tile.return
}

// -----

// A part of a buffer begins where it only changes constants.
tile.kernel @k() attributes {waves = 1 : i32} {
  %b = tile.alloc_lds : !tile.lds<16x64xf32>
  // expected-error @+1 {{dimension 1: expected an offset that is a multiple of 32 and keeps the tile within the buffer, found 16}}
  %a = tile.lds_load %b at [0, 16] : !tile.lds<16x64xf32> -> tensor<16x32xf32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %b = tile.alloc_lds : !tile.lds<16x64xf32>
  // expected-error @+1 {{dimension 1: expected an offset that is a multiple of 32 and keeps the tile within the buffer, found 64}}
  %a = tile.lds_load %b at [0, 64] : !tile.lds<16x64xf32> -> tensor<16x32xf32>
  tile.return
}

// -----

// Shifts wrap around once.
tile.kernel @k(%i: i32) attributes {waves = 1 : i32} {
  %b = tile.alloc_lds : !tile.lds<64xf32, stages = 2>
  // expected-error @+1 {{picks stage 2 of a buffer of 2}}
  %s = tile.lds_stage %b[%i + 2] : !tile.lds<64xf32, stages = 2> -> !tile.lds<64xf32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %b = tile.alloc_lds : !tile.lds<256xf32>
  // expected-error @+1 {{part must be [i, n] with 0 <= i < n}}
  %t = tile.copy_to_lds %v[%c0], %b {part = array<i64: 2, 2>} : !tile.view<1 x f32>, !tile.lds<256xf32> -> !tile.token
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %a = arith.constant dense<1> : tensor<16x32xi8>
  %b = arith.constant dense<1.0> : tensor<32x16xbf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{with two values per i8, found 'tensor<16x32xi8>' by 'tensor<32x16xbf16>'}}
  %r = tile.mma %a, %b, %c : tensor<16x32xi8>, tensor<32x16xbf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @k(%v: !tile.ptr<f8E8M0FNU>, %n: i32) attributes {waves = 1 : i32} {
  %i = arith.constant 0 : i32
  %w = tile.view %v strides [4, 1] bytes %n : !tile.ptr<f8E8M0FNU> -> !tile.view<2 x f8E8M0FNU>
  %s = tile.load %w[%i, %i] : !tile.view<2 x f8E8M0FNU> -> tensor<16x4xf8E8M0FNU>
  %a = arith.constant dense<1> : tensor<16x64xi8>
  %b = arith.constant dense<1> : tensor<64x16xi8>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{needs a scale of lhs for each of its rows or columns and for 5 blocks of 32 values, found 'tensor<16x4xf8E8M0FNU>'}}
  %r = tile.mma %a, %b, %c lhs_scale %s {scale_begin = 1 : i64} : tensor<16x64xi8>, tensor<64x16xi8>, tensor<16x16xf32> lhs_scale tensor<16x4xf8E8M0FNU>
  tile.return
}

// -----

tile.kernel @k(%v: !tile.ptr<f8E8M0FNU>, %n: i32) attributes {waves = 1 : i32} {
  %i = arith.constant 0 : i32
  %w = tile.view %v strides [4, 1] bytes %n : !tile.ptr<f8E8M0FNU> -> !tile.view<2 x f8E8M0FNU>
  %s = tile.load %w[%i, %i] : !tile.view<2 x f8E8M0FNU> -> tensor<16x1xf8E8M0FNU>
  %a = arith.constant dense<1.0> : tensor<16x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x16xbf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{scales operands of fp8 or fp4 (i8) by tiles of f8E8M0FNU, found lhs 'tensor<16x32xbf16>'}}
  %r = tile.mma %a, %b, %c lhs_scale %s : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32> lhs_scale tensor<16x1xf8E8M0FNU>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x16xbf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{a contraction is [run, steps], two positive numbers; found [8, 0]}}
  %r = tile.mma %a, %b, %c {contraction = array<i64: 8, 0>} : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @k(%v: !tile.ptr<f8E8M0FNU>, %n: i32) attributes {waves = 1 : i32} {
  %i = arith.constant 0 : i32
  %w = tile.view %v strides [4, 1] bytes %n : !tile.ptr<f8E8M0FNU> -> !tile.view<2 x f8E8M0FNU>
  %s = tile.load %w[%i, %i] : !tile.view<2 x f8E8M0FNU> -> tensor<4x16xf8E8M0FNU>
  %a = arith.constant dense<1> : tensor<64x16xi8>
  // expected-error @+1 {{has half as many codes and 1/32 as many scales as results along dimension 0}}
  %r = tile.dequantize %a, %s dim 0 : tensor<64x16xi8>, tensor<4x16xf8E8M0FNU> -> tensor<64x16xbf16>
  tile.return
}

// -----

tile.kernel @lds_load_into() attributes {waves = 1 : i32} {
  %b = tile.alloc_lds : !tile.lds<16x64xf32>
  %a = arith.constant dense<0.0> : tensor<16x64xf32>
  // expected-error @+1 {{reads a part into a tile of its own type 'tensor<16x64xf32>', found no part, and a tile of 'tensor<16x64xf32>'}}
  %c = tile.lds_load %b into %a : tensor<16x64xf32> : !tile.lds<16x64xf32> -> tensor<16x64xf32>
  tile.return
}

// -----

tile.kernel @mma_part(%p: !tile.ptr<bf16>) attributes {waves = 1 : i32} {
  %a = arith.constant dense<0.0> : tensor<16x32xbf16>
  %b = arith.constant dense<0.0> : tensor<32x16xbf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{part must be [i, n] with 0 <= i < n}}
  %r = tile.mma %a, %b, %c {part = array<i64: 2, 2>} : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @priority() attributes {waves = 1 : i32} {
  // expected-error @+1 {{attribute 'level' failed to satisfy constraint}}
  tile.wave_priority 4
  tile.return
}

// -----

// Counters are words.
tile.kernel @k(%p: !tile.ptr<f32>) attributes {waves = 1 : i32} {
  %count_before = arith.constant 3 : i32
  // expected-error @+1 {{counts in i32, found a pointer to 'f32'}}
  %before = tile.arrive %p of %count_before : !tile.ptr<f32>
  tile.return
}

// -----

// What was counted reaches the waves through one word.
tile.kernel @k(%p: !tile.ptr<i32>) attributes {waves = 2 : i32} {
  %b = tile.alloc_lds : !tile.lds<2xi32>
  %count_before = arith.constant 3 : i32
  // expected-error @+1 {{needs a buffer of type '!tile.lds<1xi32>', found '!tile.lds<2xi32>'}}
  %before = tile.arrive %p of %count_before through %b : !tile.lds<2xi32> : !tile.ptr<i32>
  tile.return
}

// -----

// Copies into LDS have no coherent form.
tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // expected-error @+1 {{is coherent: copies into LDS go through the caches}}
  %t = tile.load %v[%c0] {coherent, staged} : !tile.view<1 x f32> -> tensor<128xf32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<16x32xbf16>
  %b = arith.constant dense<1.0> : tensor<32x16xbf16>
  %c = arith.constant dense<0.0> : tensor<16x16xf32>
  // expected-error @+1 {{accuracy is a fraction in [0, 1), of products of f32, found 1.000000e-03 for 'tensor<16x32xbf16>'}}
  %r = tile.mma %a, %b, %c {accuracy = 1.0e-3 : f64} : tensor<16x32xbf16>, tensor<32x16xbf16>, tensor<16x16xf32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  // expected-error @+1 {{dim must be below the rank 2, found 2}}
  %i = tile.iota dim 2 : tensor<4x64xi32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x64xf32>
  // expected-error @+1 {{expected a permutation of 2 dimensions, found [1, 1]}}
  %b = tile.transpose %a [1, 1] : tensor<4x64xf32> -> tensor<64x64xf32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x64xf32>
  // expected-error @+1 {{expected a result of 'tensor<64x4xf32>', found 'tensor<4x64xf32>'}}
  %b = tile.transpose %a [1, 0] : tensor<4x64xf32> -> tensor<4x64xf32>
  tile.return
}

// -----

// Lanes along the columns stay along what the columns become.
#l = #tile.layout<[4, 64], register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
#r = #tile.layout<[64, 4], register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [32, 0], [0, 1], [0, 2]], wave = []>
tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x64xf32, #l>
  // expected-error @+1 {{the result's layout is not the transposed one}}
  %b = tile.transpose %a [1, 0] : tensor<4x64xf32, #l> -> tensor<64x4xf32, #r>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x64xf32>
  // expected-error @+1 {{dim must be below the rank 2, found 2}}
  %b = tile.split %a dim 2 block 16 : tensor<4x64xf32> -> tensor<4x16x4xf32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x64xf32>
  // expected-error @+1 {{block must be a power of two that divides the extent 64, found 24}}
  %b = tile.split %a dim 1 block 24 : tensor<4x64xf32> -> tensor<4x24x2xf32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x64xf32>
  // expected-error @+1 {{expected a result of 'tensor<4x16x4xf32>', found 'tensor<4x4x16xf32>'}}
  %b = tile.split %a dim 1 block 16 : tensor<4x64xf32> -> tensor<4x4x16xf32>
  tile.return
}

// -----

// The lanes of a block stay lanes of a block.
#l = #tile.layout<[4, 64], register = [[1, 0], [2, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
#r = #tile.layout<[4, 16, 4], register = [[1, 0, 0], [2, 0, 0]], lane = [[0, 0, 1], [0, 0, 2], [0, 1, 0], [0, 2, 0], [0, 4, 0], [0, 8, 0]], wave = []>
tile.kernel @k() attributes {waves = 1 : i32} {
  %a = arith.constant dense<1.0> : tensor<4x64xf32, #l>
  // expected-error @+1 {{the result's layout is not that of the source cut into blocks}}
  %b = tile.split %a dim 1 block 16 : tensor<4x64xf32, #l> -> tensor<4x16x4xf32, #r>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = tile.alloc_lds : !tile.lds<64xf32, stages = 2>
  // expected-error @+1 {{cuts buffers of one stage}}
  %b = tile.lds_part %a at 0 : !tile.lds<64xf32, stages = 2> -> !tile.lds<32xf32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = tile.alloc_lds : !tile.lds<64xf32>
  // expected-error @+1 {{expected elements of 'f32' in whole bytes, found 'bf16'}}
  %b = tile.lds_part %a at 0 : !tile.lds<64xf32> -> !tile.lds<32xbf16>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = tile.alloc_lds : !tile.lds<64xf32, #tile.lds_layout<[64] of 32 bits, strides = [1], padding = 16 after 64>>
  // expected-error @+1 {{cuts layouts without swizzle and padding}}
  %b = tile.lds_part %a at 0 : !tile.lds<64xf32, #tile.lds_layout<[64] of 32 bits, strides = [1], padding = 16 after 64>> -> !tile.lds<32xf32>
  tile.return
}

// -----

tile.kernel @k() attributes {waves = 1 : i32} {
  %a = tile.alloc_lds : !tile.lds<64xf32>
  // expected-error @+1 {{reaches byte 260 of a buffer of 256}}
  %b = tile.lds_part %a at 33 : !tile.lds<64xf32> -> !tile.lds<32xf32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %i = tile.iota dim 0 : tensor<64xi32>
  // expected-error @+1 {{takes f32 values and as many i32 ids of one layout, found 'tensor<64xi32>' and 'tensor<64xi32>'}}
  %b, %w = tile.top_k %i, %i : tensor<64xi32>, tensor<64xi32> -> tensor<16xf32>, tensor<16xi32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = arith.constant dense<0.0> : tensor<64xf32>
  %i = tile.iota dim 0 : tensor<64xi32>
  // expected-error @+1 {{makes f32 values and as many i32 ids, found 'tensor<16xf32>' and 'tensor<8xi32>'}}
  %b, %w = tile.top_k %v, %i : tensor<64xf32>, tensor<64xi32> -> tensor<16xf32>, tensor<8xi32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = arith.constant dense<0.0> : tensor<64xf32>
  %i = tile.iota dim 0 : tensor<64xi32>
  // expected-error @+1 {{makes a power of two of results, up to 64 and up to the number of values, found 6 of 64}}
  %b, %w = tile.top_k %v, %i : tensor<64xf32>, tensor<64xi32> -> tensor<6xf32>, tensor<6xi32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %v = arith.constant dense<0.0> : tensor<64xf32>
  %i = tile.iota dim 0 : tensor<64xi32>
  %l = tile.alloc_lds : !tile.lds<8xi32>
  // expected-error @+1 {{needs a buffer only when its values have a layout}}
  %b, %w = tile.top_k %v, %i through %l : !tile.lds<8xi32> : tensor<64xf32>, tensor<64xi32> -> tensor<16xf32>, tensor<16xi32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<64xi32>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{takes one i32 row for each of dimension 0 of 'tensor<32x8xf32>', found 'tensor<64xi32>'}}
  %g = tile.load %v[%c0, %c0] rows %i : tensor<64xi32> : !tile.view<2 x f32> -> tensor<32x8xf32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<64xi32>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{is staged: copies into LDS gather rows within reach of their view}}
  %g = tile.load %v[%c0, %c0] rows %i : tensor<64xi32> {far, staged} : !tile.view<2 x f32> -> tensor<64x8xf32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<64xi32>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{gathers rows of a plain dimension 0 from offset 0}}
  %g = tile.load %v[%n, %c0] rows %i : tensor<64xi32> : !tile.view<2 x f32> -> tensor<64x8xf32>
  tile.return
}

// -----

// Only of one element all threads can hold the same.
tile.kernel @k() attributes {waves = 1 : i32} {
  %t = arith.constant dense<1.0> : tensor<2xf32>
  // expected-error @+1 {{must be 0D tensor of 32-bit signless integer or 32-bit float values}}
  %f = tile.uniform %t : tensor<2xf32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<64xi32>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %g = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<32x8xf32>
  // expected-error @+1 {{takes one i32 row for each of dimension 0 of 'tensor<32x8xf32>', found 'tensor<64xi32>'}}
  tile.store %g, %v[%c0, %c0] rows %i : tensor<64xi32> : tensor<32x8xf32>, !tile.view<2 x f32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // expected-error @+1 {{is far without rows}}
  %g = tile.load %v[%c0, %c0] {far} : !tile.view<2 x f32> -> tensor<32x8xf32>
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %rows = tile.alloc_lds : !tile.lds<32xi64>
  %l = tile.alloc_lds : !tile.lds<64x8xf32>
  // expected-error @+1 {{takes an i64 of LDS for each of dimension 0 of '!tile.lds<64x8xf32>', found '!tile.lds<32xi64>'}}
  %t = tile.copy_to_lds %v[%c0, %c0] rows %rows : !tile.lds<32xi64>, %l : !tile.view<2 x f32>, !tile.lds<64x8xf32> -> !tile.token
  tile.wait_copies %t : !tile.token
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %rows = tile.alloc_lds : !tile.lds<64xi64>
  %l = tile.alloc_lds : !tile.lds<64x8xf32>
  // expected-error @+1 {{gathers rows: dimension 0 begins at offset 0, and there are no limits}}
  %t = tile.copy_to_lds %v[%n, %c0] rows %rows : !tile.lds<64xi64>, %l : !tile.view<2 x f32>, !tile.lds<64x8xf32> -> !tile.token
  tile.wait_copies %t : !tile.token
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<32xi32>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %l = tile.alloc_lds : !tile.lds<64x8xf32>
  // expected-error @+1 {{takes one i32 row for each of dimension 0 of 'tensor<64x8xf32>', found 'tensor<32xi32>'}}
  %t = tile.copy_to_lds %v[%c0, %c0] rows %i : tensor<32xi32>, %l : !tile.view<2 x f32>, !tile.lds<64x8xf32> -> !tile.token
  tile.wait_copies %t : !tile.token
  tile.return
}

// -----

tile.kernel @k(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<64xi32>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %l = tile.alloc_lds : !tile.lds<64x8xf32>
  // expected-error @+1 {{gathers rows: dimension 0 has no limit}}
  %t = tile.copy_to_lds %v[%c0, %c0] rows %i : tensor<64xi32> within [%n, %n], %l : !tile.view<2 x f32>, !tile.lds<64x8xf32> -> !tile.token
  tile.wait_copies %t : !tile.token
  tile.return
}
