// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// The chip of a module.
// CHECK: module attributes {tile.target = #tile.target<"gfx950">}
module attributes {tile.target = #tile.target<"gfx950">} {

// Arguments, their names, and every attribute of a kernel.
// CHECK-LABEL: tile.kernel @attributes(
// CHECK-SAME: %{{.*}}: !tile.ptr<bf16> {tile.name = "x"}, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: f32)
// CHECK-SAME: lds_bytes = 2560 : i64
// CHECK-SAME: preload = 3 : i32
// CHECK-SAME: scheduler = "max-ilp"
// CHECK-SAME: waves = 4 : i32
// CHECK-SAME: waves_per_simd = 2 : i32
// CHECK-NEXT: tile.return
tile.kernel @attributes(%x: !tile.ptr<bf16> {tile.name = "x"}, %n: i32, %m: i64, %f: f32)
    attributes {waves = 4 : i32, lds_bytes = 2560 : i64, waves_per_simd = 2 : i32,
                scheduler = "max-ilp", preload = 3 : i32} {
  tile.return
}

// Views with constant strides, strides that vary, and of rank 0.
// CHECK-LABEL: tile.kernel @memory(
// CHECK-SAME: %[[P:.*]]: !tile.ptr<bf16>, %[[Q:.*]]: !tile.ptr<i32>, %[[N:.*]]: i32, %[[M:.*]]: i64)
tile.kernel @memory(%p: !tile.ptr<bf16>, %q: !tile.ptr<i32>, %n: i32, %m: i64)
    attributes {waves = 1 : i32} {
  // CHECK: %[[ID:.*]] = tile.workgroup_id 2
  %id = tile.workgroup_id 2
  // CHECK: %[[MOVED:.*]] = tile.advance %[[P]] by %[[M]] : <bf16>
  %moved = tile.advance %p by %m : !tile.ptr<bf16>
  // CHECK: %[[V2:.*]] = tile.view %[[MOVED]] strides [%[[N]], 1] bytes %[[N]] : <bf16> -> <2 x bf16>
  %v2 = tile.view %moved strides [%n, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  // CHECK: tile.view %[[P]] strides [16 of 8 then 2 of %[[N]] then %[[N]], 8 of 1 then 128, 3] bytes %[[N]] : <bf16> -> <3 x bf16>
  %vb = tile.view %p strides [16 of 8 then 2 of %n then %n, 8 of 1 then 128, 3] bytes %n : !tile.ptr<bf16> -> !tile.view<3 x bf16>
  // CHECK: %[[V0:.*]] = tile.view %[[P]] strides [] bytes %[[N]] : <bf16> -> <0 x bf16>
  %v0 = tile.view %p strides [] bytes %n : !tile.ptr<bf16> -> !tile.view<0 x bf16>
  // CHECK: tile.load_scalar %[[Q]] : <i32> -> i32
  %s = tile.load_scalar %q : !tile.ptr<i32> -> i32
  // CHECK: %[[T:.*]] = tile.load %[[V2]][%[[ID]], %{{.*}}] {nontemporal} : <2 x bf16> -> tensor<4x64xbf16>
  %t = tile.load %v2[%id, %s] {nontemporal} : !tile.view<2 x bf16> -> tensor<4x64xbf16>
  // CHECK: %[[T0:.*]] = tile.load %[[V0]][] : <0 x bf16> -> tensor<bf16>
  %t0 = tile.load %v0[] : !tile.view<0 x bf16> -> tensor<bf16>
  // CHECK: tile.order_fence
  tile.order_fence
  // CHECK: tile.store %[[T]], %[[V2]][%[[ID]], %[[N]]] {nontemporal} : tensor<4x64xbf16>, <2 x bf16>
  tile.store %t, %v2[%id, %n] {nontemporal} : tensor<4x64xbf16>, !tile.view<2 x bf16>
  // CHECK: tile.store %[[T0]], %[[V0]][] : tensor<bf16>, <0 x bf16>
  tile.store %t0, %v0[] : tensor<bf16>, !tile.view<0 x bf16>
  tile.return
}

// Tiles without a layout: what a kernel is written in.
// CHECK-LABEL: tile.kernel @tiles(
// CHECK-SAME: %[[F:.*]]: f32)
tile.kernel @tiles(%f: f32) attributes {waves = 1 : i32} {
  // CHECK: %[[A:.*]] = tile.splat %[[F]] : f32 -> tensor<64xf32>
  %a = tile.splat %f : f32 -> tensor<64xf32>
  // CHECK: %[[B:.*]] = tile.broadcast %[[A]] dims [1] : tensor<64xf32> -> tensor<3x64xf32>
  %b = tile.broadcast %a dims [1] : tensor<64xf32> -> tensor<3x64xf32>
  // CHECK: %[[C:.*]] = tile.extract %[[B]] dim 0 at 2 : tensor<3x64xf32> -> tensor<64xf32>
  %c = tile.extract %b dim 0 at 2 : tensor<3x64xf32> -> tensor<64xf32>
  // CHECK: tile.stack %[[A]], %[[C]] dim 1 : tensor<64xf32>, tensor<64xf32> -> tensor<64x2xf32>
  %d = tile.stack %a, %c dim 1 : tensor<64xf32>, tensor<64xf32> -> tensor<64x2xf32>
  // CHECK: tile.reduce add %[[B]] dims [0] : tensor<3x64xf32> -> tensor<64xf32>
  %e = tile.reduce add %b dims [0] : tensor<3x64xf32> -> tensor<64xf32>
  // CHECK: tile.reduce max %[[B]] dims [0, 1] : tensor<3x64xf32> -> tensor<f32>
  %g = tile.reduce max %b dims [0, 1] : tensor<3x64xf32> -> tensor<f32>
  // CHECK: tile.dot %[[A]], %[[C]] dims [0] : tensor<64xf32> -> tensor<f32>
  %h = tile.dot %a, %c dims [0] : tensor<64xf32> -> tensor<f32>
  // CHECK: arith.addf %[[A]], %[[C]] : tensor<64xf32>
  %i = arith.addf %a, %c : tensor<64xf32>
  tile.return
}

// LDS buffers before and after tile-plan-lds.
// CHECK-LABEL: tile.kernel @lds(
// CHECK-SAME: %[[F:.*]]: f32)
tile.kernel @lds(%f: f32) attributes {waves = 1 : i32} {
  // CHECK: %[[T:.*]] = tile.splat
  %t = tile.splat %f : f32 -> tensor<3x64xf32>
  // CHECK: %[[A:.*]] = tile.alloc_lds : <3x64xf32>
  %a = tile.alloc_lds : !tile.lds<3x64xf32>
  // CHECK: tile.alloc_lds at 1280 : <f32>
  %b = tile.alloc_lds at 1280 : !tile.lds<f32>
  // CHECK: tile.lds_store %[[T]], %[[A]] : tensor<3x64xf32>, <3x64xf32>
  tile.lds_store %t, %a : tensor<3x64xf32>, !tile.lds<3x64xf32>
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.lds_load %[[A]] : <3x64xf32> -> tensor<3x64xf32>
  %l = tile.lds_load %a : !tile.lds<3x64xf32> -> tensor<3x64xf32>
  tile.return
}

// A layout keeps the order of its bits; outer digits of any extent follow; what
// can be a bit of the core is printed as one.
// CHECK-LABEL: tile.kernel @layouts(
tile.kernel @layouts(%f: f32) attributes {waves = 2 : i32} {
  // CHECK: tensor<8x64xf32, #tile.layout<[8, 64], register = [{{\[}}2, 0], [1, 0]],
  // CHECK-SAME: lane = [{{\[}}0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = [{{\[}}4, 0]]>>
  %a = tile.splat %f : f32 -> tensor<8x64xf32, #tile.layout<[8, 64], register = [[2, 0], [1, 0]],
      lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = [[4, 0]]>>
  // CHECK: tensor<7x192xf32, #tile.layout<[7, 192], register = [],
  // CHECK-SAME: wave = [{{\[}}0, 0]], outer = [register 7 * 1 along 0, register 3 * 64 along 1]>>
  %b = tile.splat %f : f32 -> tensor<7x192xf32, #tile.layout<[7, 192], register = [],
      lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = [[0, 0]],
      outer = [register 7 * 1 along 0, register 3 * 64 along 1]>>
  // CHECK: tensor<128xf32, #tile.layout<[128], register = [{{\[}}64]],
  // CHECK-SAME: wave = [{{\[}}0]]>>
  %c = tile.splat %f : f32 -> tensor<128xf32, #tile.layout<[128], register = [],
      lane = [[1], [2], [4], [8], [16], [32]], wave = [],
      outer = [register 2 * 64 along 0, wave 2 * 0 along 0]>>
  // CHECK: tensor<f32, #tile.layout<[], register = [],
  // CHECK-SAME: lane = [{{\[}}], [], [], [], [], []], wave = [{{\[}}]]>>
  %d = tile.splat %f : f32 -> tensor<f32, #tile.layout<[], register = [],
      lane = [[], [], [], [], [], []], wave = [[]]>>
  tile.return
}

// A reduction leaves its result on all lanes, or scattered over those it frees.
// CHECK-LABEL: tile.kernel @scatter(
tile.kernel @scatter(%f: f32) attributes {waves = 1 : i32} {
  %a = tile.splat %f : f32 -> tensor<4x64xf32, #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
      lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>>
  // CHECK: tile.reduce add {{.*}} -> tensor<4xf32, #tile.layout<[4], register = [{{\[}}1], [2]], lane = [{{\[}}0], [0], [0], [0], [0], [0]], wave = []>>
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32, #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
      lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>>
      -> tensor<4xf32, #tile.layout<[4], register = [[1], [2]],
      lane = [[0], [0], [0], [0], [0], [0]], wave = []>>
  // CHECK: tile.dot {{.*}} -> tensor<4xf32, #tile.layout<[4], register = [{{\[}}1]], lane = [{{\[}}0], [0], [0], [2], [0], [0]], wave = []>>
  %c = tile.dot %a, %a dims [1] : tensor<4x64xf32, #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
      lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>>
      -> tensor<4xf32, #tile.layout<[4], register = [[1]],
      lane = [[0], [0], [0], [2], [0], [0]], wave = []>>
  // CHECK: tile.convert_layout
  %d = tile.convert_layout %c : tensor<4xf32, #tile.layout<[4], register = [[1]],
      lane = [[0], [0], [0], [2], [0], [0]], wave = []>>
      -> tensor<4xf32, #tile.layout<[4], register = [[1], [2]],
      lane = [[0], [0], [0], [0], [0], [0]], wave = []>>
  tile.return
}

// Buffers with a layout of their own and with stages; copies into them.
// CHECK-LABEL: tile.kernel @copies(
tile.kernel @copies(%p: !tile.ptr<bf16>, %n: i32, %i: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  // CHECK: %[[B:.*]] = tile.alloc_lds : <128x64xbf16, #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1], swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32]>, stages = 3>
  %b = tile.alloc_lds : !tile.lds<128x64xbf16, #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
      swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32]>, stages = 3>
  // CHECK: %[[S:.*]] = tile.lds_stage %[[B]][%{{.*}}] : <128x64xbf16, {{.*}}, stages = 3> -> <128x64xbf16, #tile.lds_layout<{{.*}}>>
  %s = tile.lds_stage %b[%i] : !tile.lds<128x64xbf16, #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
      swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32]>, stages = 3>
      -> !tile.lds<128x64xbf16, #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
      swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32]>>
  // CHECK: %[[T:.*]] = tile.copy_to_lds %{{.*}}[%{{.*}}, %{{.*}}], %[[S]] {nontemporal} : <2 x bf16>, <128x64xbf16, {{.*}}> -> !tile.token
  %t = tile.copy_to_lds %v[%i, %c0], %s {nontemporal} : !tile.view<2 x bf16>,
      !tile.lds<128x64xbf16, #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
      swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32]>> -> !tile.token
  // CHECK: tile.wait_copies %[[T]] : !tile.token
  tile.wait_copies %t : !tile.token
  // CHECK: tile.alloc_lds : <8x64xf32, #tile.lds_layout<[8, 64] of 32 bits, strides = [72, 1], padding = 16 after 256>>
  %c = tile.alloc_lds : !tile.lds<8x64xf32, #tile.lds_layout<[8, 64] of 32 bits, strides = [72, 1], padding = 16 after 256>>
  tile.return
}

// A part of a buffer, a part of a copy, a stage further on.
// CHECK-LABEL: tile.kernel @parts(
tile.kernel @parts(%p: !tile.ptr<bf16>, %n: i32, %i: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<128x64xbf16, stages = 3>
  // CHECK: tile.lds_stage %{{.*}}[%{{.*}} + 2] : <128x64xbf16, stages = 3> -> <128x64xbf16>
  %s = tile.lds_stage %b[%i + 2] : !tile.lds<128x64xbf16, stages = 3> -> !tile.lds<128x64xbf16>
  // CHECK: tile.copy_to_lds {{.*}} {part = array<i64: 1, 4>} :
  %t = tile.copy_to_lds %v[%i, %c0], %s {part = array<i64: 1, 4>}
      : !tile.view<2 x bf16>, !tile.lds<128x64xbf16> -> !tile.token
  tile.wait_copies %t : !tile.token
  // CHECK: tile.wave_priority 3
  tile.wave_priority 3
  // CHECK: %[[HALF:.*]] = tile.lds_load %{{.*}} at [0, 0] {part = array<i64: 0, 2>} : <128x64xbf16> -> tensor<128x32xbf16>
  %half = tile.lds_load %s at [0, 0] {part = array<i64: 0, 2>} : !tile.lds<128x64xbf16> -> tensor<128x32xbf16>
  // CHECK: tile.lds_load %{{.*}} at [0, 0] into %[[HALF]] : tensor<128x32xbf16> {part = array<i64: 1, 2>} : <128x64xbf16> -> tensor<128x32xbf16>
  %full = tile.lds_load %s at [0, 0] into %half : tensor<128x32xbf16> {part = array<i64: 1, 2>} : !tile.lds<128x64xbf16> -> tensor<128x32xbf16>
  // CHECK: tile.lds_load %{{.*}} at [0, 32] : <128x64xbf16> -> tensor<128x32xbf16>
  %x = tile.lds_load %s at [0, 32] : !tile.lds<128x64xbf16> -> tensor<128x32xbf16>
  tile.return
}

// Data and counts of other workgroups.
// CHECK-LABEL: tile.kernel @arrivals(
tile.kernel @arrivals(%p: !tile.ptr<f32>, %c: !tile.ptr<i32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: tile.load %{{.*}} {coherent} :
  %t = tile.load %v[%c0] {coherent} : !tile.view<1 x f32> -> tensor<128xf32>
  // CHECK: tile.store %{{.*}} {coherent} :
  tile.store %t, %v[%c0] {coherent} : tensor<128xf32>, !tile.view<1 x f32>
  %count_before = arith.constant 3 : i32
  // CHECK: tile.arrive %{{.*}} of %{{.*}} : <i32>
  %before = tile.arrive %c of %count_before : !tile.ptr<i32>
  %b = tile.alloc_lds : !tile.lds<1xi32>
  %count_again = arith.constant 3 : i32
  // CHECK: tile.arrive %{{.*}} of %{{.*}} through %{{.*}} : !tile.lds<1xi32> : <i32>
  %again = tile.arrive %c of %count_again through %b : !tile.lds<1xi32> : !tile.ptr<i32>
  tile.return
}

// Elements that all threads hold alike.
// CHECK-LABEL: tile.kernel @uniform(
tile.kernel @uniform() attributes {waves = 1 : i32} {
  // CHECK: %[[T:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
  %t = arith.constant dense<1.0> : tensor<f32>
  // CHECK: %[[U:.*]] = arith.constant dense<1> : tensor<i32>
  %u = arith.constant dense<1> : tensor<i32>
  // CHECK: %[[F:.*]] = tile.uniform %[[T]] : tensor<f32>
  %f = tile.uniform %t : tensor<f32>
  // CHECK: arith.addf %[[F]], %[[F]] : f32
  %g = arith.addf %f, %f : f32
  // CHECK: tile.uniform %[[U]] : tensor<i32>
  %i = tile.uniform %u : tensor<i32>
  tile.return
}

// Coordinates, transposes, and parts of LDS buffers.
// CHECK-LABEL: tile.kernel @rearranged(
tile.kernel @rearranged() attributes {waves = 4 : i32} {
  // CHECK: %[[I:.*]] = tile.iota dim 1 : tensor<4x64xi32>
  %i = tile.iota dim 1 : tensor<4x64xi32>
  // CHECK: tile.transpose %[[I]] [1, 0] : tensor<4x64xi32> -> tensor<64x4xi32>
  %t = tile.transpose %i [1, 0] : tensor<4x64xi32> -> tensor<64x4xi32>
  // CHECK: tile.split %[[I]] dim 1 block 16 : tensor<4x64xi32> -> tensor<4x16x4xi32>
  %s = tile.split %i dim 1 block 16 : tensor<4x64xi32> -> tensor<4x16x4xi32>
  %b = tile.alloc_lds : !tile.lds<64x64xf32>
  // CHECK: tile.lds_part %{{.*}} at 64 : <64x64xf32> -> <31x64xf32, {{.*}}>
  %odd = tile.lds_part %b at 64 : !tile.lds<64x64xf32>
      -> !tile.lds<31x64xf32, #tile.lds_layout<[31, 64] of 32 bits, strides = [128, 1]>>
  tile.return
}

// Rows that lie anywhere, and the greatest of them.
// CHECK-LABEL: tile.kernel @chosen(
tile.kernel @chosen(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %i = tile.iota dim 0 : tensor<64xi32>
  %v = tile.view %p strides [%n, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] rows %{{.*}} : tensor<64xi32> within{{ ?}}[%{{.*}}, %{{.*}}] : <2 x f32> -> tensor<64x8xf32>
  %g = tile.load %v[%c0, %n] rows %i : tensor<64xi32> within [%n, %n] : !tile.view<2 x f32> -> tensor<64x8xf32>
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] rows %{{.*}} : tensor<64xi32> {far} : <2 x f32>
  %h = tile.load %v[%c0, %n] rows %i : tensor<64xi32> {far} : !tile.view<2 x f32> -> tensor<64x8xf32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] rows %{{.*}} : tensor<64xi32> {far} : tensor<64x8xf32>, <2 x f32>
  tile.store %h, %v[%c0, %n] rows %i : tensor<64xi32> {far} : tensor<64x8xf32>, !tile.view<2 x f32>
  %r = tile.reduce max %g dims [1] : tensor<64x8xf32> -> tensor<64xf32>
  // CHECK: tile.top_k %{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64xi32> -> tensor<16xf32>, tensor<16xi32>
  %b, %w = tile.top_k %r, %i : tensor<64xf32>, tensor<64xi32> -> tensor<16xf32>, tensor<16xi32>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] rows %{{.*}} : tensor<64xi32> within{{ ?}}[%{{.*}}, %{{.*}}] : tensor<64x8xf32>, <2 x f32>
  tile.store %g, %v[%c0, %n] rows %i : tensor<64xi32> within [%n, %n] : tensor<64x8xf32>, !tile.view<2 x f32>
  %rows = tile.alloc_lds : !tile.lds<64xi64>
  %l = tile.alloc_lds : !tile.lds<64x8xf32>
  // CHECK: tile.copy_to_lds %{{.*}}[%{{.*}}, %{{.*}}] rows %{{.*}} : !tile.lds<64xi64>, %{{.*}} : <2 x f32>, <64x8xf32> -> !tile.token
  %t = tile.copy_to_lds %v[%c0, %n] rows %rows : !tile.lds<64xi64>, %l : !tile.view<2 x f32>, !tile.lds<64x8xf32> -> !tile.token
  tile.wait_copies %t : !tile.token
  // CHECK: tile.copy_to_lds %{{.*}}[%{{.*}}, %{{.*}}] rows %{{.*}} : tensor<64xi32>, %{{.*}} : <2 x f32>, <64x8xf32> -> !tile.token
  %t1 = tile.copy_to_lds %v[%c0, %n] rows %i : tensor<64xi32>, %l : !tile.view<2 x f32>, !tile.lds<64x8xf32> -> !tile.token
  tile.wait_copies %t1 : !tile.token
  tile.return
}

}
