// RUN: tenon-opt %s --pass-pipeline='builtin.module(tile.kernel(tile-assign-layouts))' | FileCheck %s

// 64 elements in lane order, in reverse order, and four to a lane.
#lanes = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#reverse = #tile.layout<[64], register = [], lane = [[32], [16], [8], [4], [2], [1]], wave = []>
#fours = #tile.layout<[64], register = [[1], [2]], lane = [[4], [8], [16], [32], [0], [0]], wave = []>
#fours_swapped = #tile.layout<[64], register = [[2], [1]],
  lane = [[4], [8], [16], [32], [0], [0]], wave = []>
// Rows of 64, four to a lane; their sums on all lanes, and scattered.
#rows = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
#sums = #tile.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0], [0]], wave = []>
#scattered = #tile.layout<[4], register = [[1]], lane = [[0], [0], [0], [2], [0], [0]], wave = []>
// 128 elements over one wave, the same in each of four.
#pairs = #tile.layout<[128], register = [[1]], lane = [[2], [4], [8], [16], [32], [64]],
  wave = [[0], [0]]>
#eights = #tile.layout<[128], register = [[1], [2], [64]], lane = [[4], [8], [16], [32], [0], [0]],
  wave = [[0], [0]]>

// Tiles that nobody places are spread over lanes, then waves, so that elements
// are computed once as far as there are threads for them: for extents below the
// wave, of it, above it, and not a power of two.
// CHECK-LABEL: tile.kernel @spread(
tile.kernel @spread(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %v2 = tile.view %p strides [3, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // CHECK: tile.load {{.*}} -> tensor<3xf32, #tile.layout<[3], register = [], lane = [{{\[}}0], [0], [0], [0], [0], [0]], wave = [{{\[}}0], [0]], outer = [register 3 * 1 along 0]>>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<3xf32>
  tile.store %a, %v[%c0] : tensor<3xf32>, !tile.view<1 x f32>
  // CHECK: tile.load {{.*}} -> tensor<4xf32, #tile.layout<[4], register = [], lane = [{{\[}}1], [2], [0], [0], [0], [0]], wave = [{{\[}}0], [0]]>>
  %b = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<4xf32>
  tile.store %b, %v[%c0] : tensor<4xf32>, !tile.view<1 x f32>
  // CHECK: tile.load {{.*}} -> tensor<128xf32, #tile.layout<[128], register = [], lane = [{{\[}}1], [2], [4], [8], [16], [32]], wave = [{{\[}}64], [0]]>>
  %c = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<128xf32>
  tile.store %c, %v[%c0] : tensor<128xf32>, !tile.view<1 x f32>
  // CHECK: tile.load {{.*}} -> tensor<7168xf32, #tile.layout<[7168], register = [{{\[}}1], [2]], {{.*}} wave = [{{\[}}256], [512]], outer = [register 7 * 1024 along 0]>>
  %d = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<7168xf32>
  tile.store %d, %v[%c0] : tensor<7168xf32>, !tile.view<1 x f32>
  // CHECK: tile.load {{.*}} -> tensor<128x3xf32, #tile.layout<[128, 3], register = [], lane = [{{\[}}1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]], wave = [{{\[}}64, 0], [0, 0]], outer = [register 3 * 1 along 1]>>
  %e = tile.load %v2[%c0, %c0] : !tile.view<2 x f32> -> tensor<128x3xf32>
  tile.store %e, %v2[%c0, %c0] : tensor<128x3xf32>, !tile.view<2 x f32>
  tile.return
}

// A tile of rank 0 is the same on every thread, whatever the number of waves.
// CHECK-LABEL: tile.kernel @scalar(
tile.kernel @scalar(%f: f32) attributes {waves = 3 : i32} {
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<f32, #tile.layout<[], register = [], lane = [{{\[}}], [], [], [], [], []], wave = [], outer = [wave 3 * 0 along 0]>>
  %a = tile.splat %f : f32 -> tensor<f32>
  tile.return
}

// Two additions on each wave cost less than an exchange: the island takes the
// layout that its user wants, and no conversion is left.
// CHECK-LABEL: tile.kernel @adopt(
tile.kernel @adopt(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[A:.*]] = tile.load {{.*}} -> tensor<128xf32, #tile.layout<[128], register = [{{\[}}1]], lane = [{{\[}}2], [4]
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<128xf32>
  // CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %[[A]]
  %b = arith.addf %a, %a : tensor<128xf32>
  %c = tile.convert_layout %b : tensor<128xf32> -> tensor<128xf32, #pairs>
  // CHECK-NEXT: tile.store %[[B]]
  tile.store %c, %v[%c0] : tensor<128xf32, #pairs>, !tile.view<1 x f32>
  tile.return
}

// A longer chain is cheaper spread out, with an exchange: stored right after its
// value, so that the wait is over early, and loaded right before the first use,
// so that no register is held.
// CHECK-LABEL: tile.kernel @exchange(
tile.kernel @exchange(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: tile.load {{.*}} -> tensor<128xf32, #tile.layout<[128], register = [], lane = [{{\[}}1], [2]
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<128xf32>
  // CHECK-NEXT: %[[B:.*]] = math.exp2
  %b = math.exp2 %a fastmath<afn> : tensor<128xf32>
  // CHECK-NEXT: %[[C:.*]] = math.exp2 %[[B]]
  %c = math.exp2 %b fastmath<afn> : tensor<128xf32>
  // CHECK-NEXT: %[[BUFFER:.*]] = tile.alloc_lds : <128xf32>
  // CHECK-NEXT: tile.lds_store %[[C]], %[[BUFFER]]
  // CHECK-NEXT: tile.order_fence
  // CHECK-NEXT: %[[D:.*]] = tile.lds_load %[[BUFFER]] : <128xf32> -> tensor<128xf32, #tile.layout<[128], register = [{{\[}}1], [2], [64]]
  // CHECK-NEXT: tile.store %[[D]]
  %d = tile.convert_layout %c : tensor<128xf32> -> tensor<128xf32, #eights>
  tile.order_fence
  tile.store %d, %v[%c0] : tensor<128xf32, #eights>, !tile.view<1 x f32>
  tile.return
}

// One buffer serves every user of a value, and one load all that want the same
// layout, before the first of them.
// CHECK-LABEL: tile.kernel @share(
tile.kernel @share(%p: !tile.ptr<f32>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[A:.*]] = tile.load
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #lanes>
  // CHECK-NEXT: %[[BUFFER:.*]] = tile.alloc_lds
  // CHECK-NEXT: tile.lds_store %[[A]], %[[BUFFER]]
  %b = tile.convert_layout %a : tensor<64xf32, #lanes> -> tensor<64xf32, #reverse>
  %c = tile.convert_layout %a : tensor<64xf32, #lanes> -> tensor<64xf32, #reverse>
  %d = tile.convert_layout %a : tensor<64xf32, #lanes> -> tensor<64xf32, #fours>
  // CHECK-NEXT: %[[C:.*]] = tile.lds_load %[[BUFFER]]
  // CHECK-NEXT: tile.store %[[C]]
  tile.store %c, %v[%c0] : tensor<64xf32, #reverse>, !tile.view<1 x f32>
  // CHECK-NEXT: tile.store %[[C]]
  tile.store %b, %v[%c0] : tensor<64xf32, #reverse>, !tile.view<1 x f32>
  // CHECK-NEXT: %[[D:.*]] = tile.lds_load %[[BUFFER]] : <64xf32> -> tensor<64xf32, #tile.layout<[64], register = [{{\[}}1], [2]], lane = [{{\[}}4]
  // CHECK-NEXT: tile.store %[[D]]
  tile.store %d, %v[%c0] : tensor<64xf32, #fours>, !tile.view<1 x f32>
  // CHECK-NOT: tile.alloc_lds
  // CHECK: tile.return
  tile.return
}

// Conversions of conversions: each exchange starts from what the one before it
// has loaded. A chain that nobody uses goes away.
// CHECK-LABEL: tile.kernel @chain(
tile.kernel @chain(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[A:.*]] = tile.load
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #lanes>
  // CHECK: tile.lds_store %[[A]], %[[B0:.*]] :
  // CHECK: %[[B:.*]] = tile.lds_load %[[B0]]
  %b = tile.convert_layout %a : tensor<64xf32, #lanes> -> tensor<64xf32, #reverse>
  // CHECK: tile.lds_store %[[B]], %[[B1:.*]] :
  // CHECK: %[[C:.*]] = tile.lds_load %[[B1]]
  %c = tile.convert_layout %b : tensor<64xf32, #reverse> -> tensor<64xf32, #fours>
  %dead = tile.convert_layout %c : tensor<64xf32, #fours> -> tensor<64xf32, #lanes>
  %dead2 = tile.convert_layout %dead : tensor<64xf32, #lanes> -> tensor<64xf32, #reverse>
  // CHECK-NEXT: tile.store %[[C]]
  tile.store %c, %v[%c0] : tensor<64xf32, #fours>, !tile.view<1 x f32>
  // CHECK-NEXT: tile.return
  tile.return
}

// What every thread holds already is renamed, not moved; a conversion to the
// layout that is there disappears.
// CHECK-LABEL: tile.kernel @rename(
tile.kernel @rename(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[A:.*]] = tile.load
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #fours>
  // CHECK-NEXT: %[[B:.*]] = tile.convert_layout %[[A]]
  %b = tile.convert_layout %a : tensor<64xf32, #fours> -> tensor<64xf32, #fours_swapped>
  %same = tile.convert_layout %b : tensor<64xf32, #fours_swapped> -> tensor<64xf32, #fours_swapped>
  // CHECK-NEXT: tile.store %[[B]]
  tile.store %same, %v[%c0] : tensor<64xf32, #fours_swapped>, !tile.view<1 x f32>
  tile.return
}

// What a reduction has scattered over lanes is gathered between lanes, which is
// cheaper than LDS.
// CHECK-LABEL: tile.kernel @gather(
tile.kernel @gather(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<4x64xf32, #rows>
  // CHECK: %[[B:.*]] = tile.dot
  %b = tile.dot %a, %a dims [1] : tensor<4x64xf32, #rows> -> tensor<4xf32, #scattered>
  // CHECK-NEXT: %[[C:.*]] = tile.convert_layout %[[B]]
  %c = tile.convert_layout %b : tensor<4xf32, #scattered> -> tensor<4xf32, #sums>
  // CHECK-NEXT: tile.broadcast %[[C]]
  %d = tile.broadcast %c dims [0] : tensor<4xf32, #sums> -> tensor<4x64xf32, #rows>
  tile.store %d, %v[%c0, %c0] : tensor<4x64xf32, #rows>, !tile.view<2 x f32>
  tile.return
}

// A constant or a splat costs nothing, so each island gets its own: a shared one
// would tie their layouts together.
// CHECK-LABEL: tile.kernel @constants(
tile.kernel @constants(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %one = arith.constant dense<1.0> : tensor<128xf32>
  %unused = arith.constant dense<2.0> : tensor<128xf32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<128xf32, #pairs>
  %b = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<128xf32>
  // CHECK: %[[ONE2:.*]] = arith.constant dense<1.000000e+00> : tensor<128xf32, #tile.layout<[128], register = [], lane = [{{\[}}1]
  // CHECK: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<128xf32, #tile.layout<[128], register = [{{\[}}1]], lane = [{{\[}}2]
  // CHECK-NEXT: arith.addf %{{.*}}, %[[ONE]]
  %a1 = tile.convert_layout %one : tensor<128xf32> -> tensor<128xf32, #pairs>
  %a2 = arith.addf %a, %a1 : tensor<128xf32, #pairs>
  // CHECK-NEXT: arith.addf %{{.*}}, %[[ONE2]]
  %b2 = arith.addf %b, %one : tensor<128xf32>
  tile.store %a2, %v[%c0] : tensor<128xf32, #pairs>, !tile.view<1 x f32>
  tile.store %b2, %v[%c0] : tensor<128xf32>, !tile.view<1 x f32>
  // CHECK-NOT: tile.alloc_lds
  // CHECK: tile.return
  tile.return
}

// One island through element-wise ops, slices and stacks: columns of a window
// lie in registers, so taking one apart moves nothing.
// CHECK-LABEL: tile.kernel @slices(
tile.kernel @slices(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [3, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // CHECK: tile.load {{.*}} -> tensor<128x3xf32, #tile.layout<[128, 3], register = [], lane = [{{\[}}1, 0], {{.*}} wave = [{{\[}}64, 0]], outer = [register 3 * 1 along 1]>>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<128x3xf32>
  // CHECK-NEXT: tile.extract
  %b = tile.extract %a dim 1 at 1 : tensor<128x3xf32> -> tensor<128xf32>
  // CHECK-NEXT: tile.extract
  %c = tile.extract %a dim 1 at 2 : tensor<128x3xf32> -> tensor<128xf32>
  // CHECK-NEXT: arith.addf
  %d = arith.addf %b, %c : tensor<128xf32>
  // CHECK-NEXT: tile.stack
  %e = tile.stack %b, %c, %d dim 1 : tensor<128xf32>, tensor<128xf32>, tensor<128xf32> -> tensor<128x3xf32>
  // CHECK-NEXT: tile.store
  tile.store %e, %v[%c0, %c0] : tensor<128x3xf32>, !tile.view<2 x f32>
  tile.return
}

// Neighbours that are placed leave no choice: a stack, a slice and a sum of
// placed tiles lie where these do.
// CHECK-LABEL: tile.kernel @imposed(
tile.kernel @imposed(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<4x64xf32, #rows>
  // CHECK: tile.reduce add {{.*}} -> tensor<4xf32, #tile.layout<[4], register = [{{\[}}1], [2]], lane = [{{\[}}0], [0], [0], [0], [0], [0]], wave = []>>
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32, #rows> -> tensor<4xf32>
  // CHECK-NEXT: %[[C:.*]] = tile.extract {{.*}} -> tensor<64xf32, #tile.layout<[64], register = [], lane = [{{\[}}1], [2], [4], [8], [16], [32]], wave = []>>
  %c = tile.extract %a dim 0 at 3 : tensor<4x64xf32, #rows> -> tensor<64xf32>
  // CHECK-NEXT: tile.stack %[[C]], %[[C]] dim 1 {{.*}} -> tensor<64x2xf32, #tile.layout<[64, 2], register = [{{\[}}0, 1]], lane = [{{\[}}1, 0]
  %d = tile.stack %c, %c dim 1 : tensor<64xf32>, tensor<64xf32> -> tensor<64x2xf32>
  tile.return
}

// A broadcast takes its source as its result lies; a source that lies otherwise
// is converted.
// CHECK-LABEL: tile.kernel @broadcast(
tile.kernel @broadcast(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %v2 = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // CHECK: %[[A:.*]] = tile.load {{.*}} lane = [{{\[}}32]
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #reverse>
  // CHECK: tile.lds_store %[[A]], %[[BUFFER:.*]] :
  // CHECK: %[[B:.*]] = tile.lds_load %[[BUFFER]] {{.*}} lane = [{{\[}}1], [2]
  // CHECK: tile.broadcast %[[B]]
  %b = tile.broadcast %a dims [1] : tensor<64xf32, #reverse> -> tensor<4x64xf32>
  %c = tile.convert_layout %b : tensor<4x64xf32> -> tensor<4x64xf32, #rows>
  tile.store %c, %v2[%c0, %c0] : tensor<4x64xf32, #rows>, !tile.view<2 x f32>
  tile.return
}

// Codes and scales lie where the values lie that become of them: two values per byte,
// and one scale for the 32 that a lane holds of four interleaved instructions.
// CHECK-LABEL: tile.kernel @dequantize(
tile.kernel @dequantize(%p: !tile.ptr<i8>, %q: !tile.ptr<f8E8M0FNU>, %x: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1, 64] bytes %n : !tile.ptr<i8> -> !tile.view<2 x i8>
  %w = tile.view %q strides [1, 4] bytes %n : !tile.ptr<f8E8M0FNU> -> !tile.view<2 x f8E8M0FNU>
  %y = tile.view %x strides [128, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.load {{.*}} -> tensor<64x16xi8, #tile.layout<[64, 16], register = [{{\[}}1, 0], [2, 0], [4, 0], [8, 0]], lane = [{{\[}}0, 1], [0, 2], [0, 4], [0, 8], [16, 0], [32, 0]], wave = []>>
  %codes = tile.load %v[%c0, %c0] : !tile.view<2 x i8> -> tensor<64x16xi8>
  // CHECK: tile.load {{.*}} -> tensor<4x16xf8E8M0FNU, #tile.layout<[4, 16], register = [], lane = [{{\[}}0, 1], [0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], wave = []>>
  %scales = tile.load %w[%c0, %c0] : !tile.view<2 x f8E8M0FNU> -> tensor<4x16xf8E8M0FNU>
  %a = tile.load %y[%c0, %c0] : !tile.view<2 x bf16> -> tensor<16x128xbf16>
  %b = tile.dequantize %codes, %scales dim 0 : tensor<64x16xi8>, tensor<4x16xf8E8M0FNU> -> tensor<128x16xbf16>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c = tile.mma %a, %b, %zero {instruction = array<i64: 16, 32>, contraction = array<i64: 8, 4>} : tensor<16x128xbf16>, tensor<128x16xbf16>, tensor<16x16xf32>
  %o = tile.view %x strides [16, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %d = arith.truncf %c : tensor<16x16xf32> to tensor<16x16xbf16>
  tile.store %d, %o[%c0, %c0] : tensor<16x16xbf16>, !tile.view<2 x bf16>
  tile.return
}

// Packed weights: 16 lanes read 16 rows that follow each other, 256 bytes; of a row-major
// view the rows are permuted so that a lane holds eight columns of the product.
// CHECK-LABEL: tile.kernel @packed(
tile.kernel @packed(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %p strides [8 of 1 then 128, 16 of 8 then %n] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %r = tile.view %p strides [1, %n] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %x = tile.load %v[%c0, %c0] : !tile.view<2 x bf16> -> tensor<16x32xbf16>
  // CHECK: tile.load {{.*}} -> tensor<32x32xbf16, {{.*}} lane = [{{\[}}0, 1], [0, 2], [0, 4], [0, 8], [8, 0], [16, 0]]
  %a = tile.load %w[%c0, %c0] : !tile.view<2 x bf16> -> tensor<32x32xbf16>
  // CHECK: tile.load {{.*}} -> tensor<32x32xbf16, {{.*}} lane = [{{\[}}0, 1], [0, 2], [0, 8], [0, 16], [8, 0], [16, 0]]
  %b = tile.load %r[%c0, %c0] : !tile.view<2 x bf16> -> tensor<32x32xbf16>
  %zero = arith.constant dense<0.0> : tensor<16x32xf32>
  %c = tile.mma %x, %a, %zero {instruction = array<i64: 16, 32>}
      : tensor<16x32xbf16>, tensor<32x32xbf16>, tensor<16x32xf32>
  %d = tile.mma %x, %b, %zero {instruction = array<i64: 16, 32>}
      : tensor<16x32xbf16>, tensor<32x32xbf16>, tensor<16x32xf32>
  tile.return
}

// What a product gives is the operand of the next where it lies, as it is and
// transposed: the contraction follows it. The product of 16x16 is too small for two waves,
// so both compute it.
// CHECK-LABEL: tile.kernel @transposed_chain(
tile.kernel @transposed_chain(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [16, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<16x16xf32>
  %at = tile.transpose %a [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  // CHECK: tile.mma %{{.*}} {instruction = array<i64: 16, 4>} : {{.*}} wave = {{\[\[}}0, 0]]
  %b = tile.mma %a, %at, %zero {instruction = array<i64: 16, 4>} : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  // CHECK-NEXT: %[[BT:.*]] = tile.transpose
  %bt = tile.transpose %b [1, 0] : tensor<16x16xf32> -> tensor<16x16xf32>
  // CHECK-NOT: lds
  // CHECK-NOT: convert_layout
  // CHECK: tile.mma %{{.*}}, %[[BT]], %{{.*}} {contraction = array<i64: 1, 4>, instruction = array<i64: 16, 4>}
  %c = tile.mma %b, %bt, %b {instruction = array<i64: 16, 4>} : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
  tile.store %c, %v[%c0, %c0] : tensor<16x16xf32>, !tile.view<2 x f32>
  tile.return
}

// Blocks of rows lie where the rows did: waves of their own, so that a sum within
// blocks needs no other wave.
#blocks = #tile.layout<[128, 64], register = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [32, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = [[64, 0]]>
// CHECK-LABEL: tile.kernel @split(
tile.kernel @split(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<128x64xf32, #blocks>
  // CHECK: tile.split {{.*}} -> tensor<64x2x64xf32, #tile.layout<[64, 2, 64], register = [{{\[}}1, 0, 0], [2, 0, 0], [4, 0, 0], [8, 0, 0], [16, 0, 0], [32, 0, 0]], lane = [{{\[}}0, 0, 1], {{.*}}], wave = [{{\[}}0, 1, 0]]>>
  %s = tile.split %a dim 0 block 64 : tensor<128x64xf32, #blocks> -> tensor<64x2x64xf32>
  // CHECK: tile.reduce add {{.*}} -> tensor<2x64xf32, #tile.layout<[2, 64], register = [], lane = [{{\[}}0, 1], {{.*}}], wave = [{{\[}}1, 0]]>>
  %r = tile.reduce add %s dims [0] : tensor<64x2x64xf32> -> tensor<2x64xf32>
  tile.store %r, %v[%c0, %c0] : tensor<2x64xf32>, !tile.view<2 x f32>
  tile.return
}
