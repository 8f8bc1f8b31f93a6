// RUN: tenon-opt %s -split-input-file --convert-tile-to-rocdl | FileCheck %s

// Rows of 64, four to a lane; sums on all lanes, scattered over lane bits 5 and
// 4, over 5, over 3.
#rows = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
#sums = #tile.layout<[4], register = [[1], [2]], lane = [[0], [0], [0], [0], [0], [0]], wave = []>
#scattered54 = #tile.layout<[4], register = [], lane = [[0], [0], [0], [0], [1], [2]], wave = []>
#scattered5 = #tile.layout<[4], register = [[1]], lane = [[0], [0], [0], [0], [0], [2]], wave = []>
#scattered3 = #tile.layout<[4], register = [[1]], lane = [[0], [0], [0], [2], [0], [0]], wave = []>
#scattered2 = #tile.layout<[4], register = [[1]], lane = [[0], [0], [2], [0], [0], [0]], wave = []>
// One row of 256: the lowest register bit runs along it.
#row = #tile.layout<[256], register = [[1], [2]], lane = [[4], [8], [16], [32], [64], [128]],
  wave = []>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = []>
// A row over half of the row of lanes, its copies in the other half.
#row8 = #tile.layout<[8], register = [], lane = [[1], [2], [4], [0], [0], [0]], wave = []>
#row_high = #tile.layout<[2, 8], register = [], lane = [[0, 1], [0, 2], [0, 4], [1, 0], [0, 0], [0, 0]],
  wave = []>
#sums_high = #tile.layout<[2], register = [], lane = [[0], [0], [0], [1], [0], [0]], wave = []>

module attributes {tile.target = #tile.target<"gfx950">} {

// The order of a sum is part of the kernel's numbers: registers in ascending
// order as two chains, the chains, then lane bits from the highest down: swaps of
// half waves and half rows, then DPP (row_ror:8, row_ror:4, quad_perm twice).
// CHECK-LABEL: llvm.func @sum(
tile.kernel @sum(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #row>
  // CHECK: %[[CHAINS:.*]] = llvm.fadd %{{.*}}, %{{.*}} : vector<2xf32>
  // CHECK: %[[LOW:.*]] = llvm.extractelement %[[CHAINS]]
  // CHECK: %[[HIGH:.*]] = llvm.extractelement %[[CHAINS]]
  // CHECK: %[[S0:.*]] = llvm.fadd %[[LOW]], %[[HIGH]] : f32
  // CHECK: %[[B5:.*]] = llvm.bitcast %[[S0]] : f32 to i32
  // CHECK: rocdl.permlane32.swap %[[B5]]
  // CHECK: rocdl.permlane16.swap
  // CHECK: %[[S4:.*]] = llvm.fadd
  // CHECK: %[[D3:.*]] = rocdl.update.dpp %{{.*}}, %[[S4]] with 296, 15, 15, true : f32
  // CHECK: %[[S3:.*]] = llvm.fadd %[[S4]], %[[D3]]
  // CHECK: %[[D2:.*]] = rocdl.update.dpp %{{.*}}, %[[S3]] with 292, 15, 15, true : f32
  // CHECK: %[[S2:.*]] = llvm.fadd %[[S3]], %[[D2]]
  // CHECK: %[[D1:.*]] = rocdl.update.dpp %{{.*}}, %[[S2]] with 78, 15, 15, true : f32
  // CHECK: %[[S1:.*]] = llvm.fadd %[[S2]], %[[D1]]
  // CHECK: rocdl.update.dpp %{{.*}}, %[[S1]] with 177, 15, 15, true : f32
  // CHECK: llvm.return
  %b = tile.reduce add %a dims [0] : tensor<256xf32, #row> -> tensor<f32, #none>
  tile.return
}

// Products enter their chain by fused multiply-add, the first as a product.
// CHECK-LABEL: llvm.func @dot(
tile.kernel @dot(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #row>
  // CHECK: %[[P:.*]] = llvm.fmul %[[A:.*]], %[[A]] : vector<2xf32>
  // CHECK-NEXT: llvm.intr.fma(%[[B:.*]], %[[B]], %[[P]])
  %b = tile.dot %a, %a dims [0] : tensor<256xf32, #row> -> tensor<f32, #none>
  tile.return
}

// A maximum ignores NaN, and takes the same way.
// CHECK-LABEL: llvm.func @max(
tile.kernel @max(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #row>
  // CHECK: llvm.intr.maxnum({{.*}}) : (vector<2xf32>, vector<2xf32>)
  // CHECK: rocdl.permlane32.swap
  // CHECK: rocdl.update.dpp
  // CHECK: llvm.intr.maxnum({{.*}}) : (f32, f32) -> f32
  // CHECK-NOT: llvm.fadd
  // CHECK: llvm.return
  %b = tile.reduce max %a dims [0] : tensor<256xf32, #row> -> tensor<f32, #none>
  tile.return
}

// A scatter halves the work with each moved bit: two swaps for bit 5 and one for
// bit 4, then four steps of a single register where four would have been.
// CHECK-LABEL: llvm.func @scatter(
tile.kernel @scatter(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<4x64xf32, #rows>
  // CHECK-COUNT-2: rocdl.permlane32.swap
  // CHECK-NOT: rocdl.permlane32.swap
  // CHECK: rocdl.permlane16.swap
  // CHECK-NOT: rocdl.permlane16.swap
  // CHECK-COUNT-4: rocdl.update.dpp
  // CHECK-NOT: rocdl.update.dpp
  // CHECK: llvm.return
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32, #rows> -> tensor<4xf32, #scattered54>
  tile.return
}

// Over a lane bit within a row a scatter is a select each way and a DPP move.
// CHECK-LABEL: llvm.func @scatter_in_row(
tile.kernel @scatter_in_row(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // CHECK: %[[ID:.*]] = rocdl.workitem.id.x
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<4x64xf32, #rows>
  // CHECK: %[[BIT:.*]] = llvm.mlir.constant(8 : i32)
  // CHECK: %[[AND:.*]] = llvm.and %[[ID]], %[[BIT]]
  // CHECK: %[[SET:.*]] = llvm.icmp "ne" %[[AND]]
  // CHECK-NEXT: %[[KEEP:.*]] = llvm.select %[[SET]], %[[Y:.*]], %[[X:.*]] : i1, f32
  // CHECK-NEXT: %[[GIVE:.*]] = llvm.select %[[SET]], %[[X]], %[[Y]] : i1, f32
  // CHECK: %[[MOVED:.*]] = rocdl.update.dpp %{{.*}}, %[[GIVE]] with 296
  // CHECK-NEXT: llvm.fadd %[[KEEP]], %[[MOVED]]
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32, #rows> -> tensor<4xf32, #scattered3>
  tile.return
}

// Bit 3 is combined before bit 2 is scattered: both halves of a row hold the
// same, and a rotation by 4 reaches a lane that stands for the wanted one.
// CHECK-LABEL: llvm.func @scatter_rotate(
tile.kernel @scatter_rotate(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<4x64xf32, #rows>
  // CHECK-COUNT-4: rocdl.update.dpp {{.*}} with 296
  // CHECK-COUNT-2: rocdl.update.dpp {{.*}} with 292
  // CHECK-COUNT-2: rocdl.update.dpp {{.*}} with 78
  // CHECK-NOT: with 292
  // CHECK: llvm.return
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32, #rows> -> tensor<4xf32, #scattered2>
  tile.return
}

// A lane bit at which other rows lie is no help: a rotation by 4 would reach
// another row. Bits 0 and 1, which are pending, allow the mirror.
// CHECK-LABEL: llvm.func @neighbours(
tile.kernel @neighbours(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [8, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<2x8xf32, #row_high>
  // CHECK: rocdl.update.dpp {{.*}} with 321
  // CHECK: rocdl.update.dpp {{.*}} with 78
  // CHECK: rocdl.update.dpp {{.*}} with 177
  // CHECK-NOT: rocdl.update.dpp
  // CHECK: llvm.return
  %b = tile.reduce add %a dims [1] : tensor<2x8xf32, #row_high> -> tensor<2xf32, #sums_high>
  tile.return
}

// What a scatter has shared out over a row is gathered by one broadcast of a lane
// per register (row_newbcast), over half waves by swaps.
// CHECK-LABEL: llvm.func @gather(
tile.kernel @gather(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: rocdl.raw.ptr.buffer.load
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<4xf32, #scattered3>
  // CHECK: rocdl.update.dpp %{{.*}}, %[[R0:.*]] with 336
  // CHECK: rocdl.update.dpp %{{.*}}, %[[R1:.*]] with 336
  // CHECK: rocdl.update.dpp %{{.*}}, %[[R0]] with 344
  // CHECK: rocdl.update.dpp %{{.*}}, %[[R1]] with 344
  // CHECK-NOT: rocdl.update.dpp
  %b = tile.convert_layout %a : tensor<4xf32, #scattered3> -> tensor<4xf32, #sums>
  // CHECK: rocdl.raw.ptr.buffer.load
  %c = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<4xf32, #scattered5>
  // CHECK-COUNT-2: rocdl.permlane32.swap
  // CHECK-NOT: rocdl.permlane32.swap
  // CHECK: llvm.return
  %d = tile.convert_layout %c : tensor<4xf32, #scattered5> -> tensor<4xf32, #sums>
  tile.return
}

// Slices, stacks, broadcasts and renamings of registers are no instructions: the
// values go where they are used.
// CHECK-LABEL: llvm.func @rename(
tile.kernel @rename(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[A:.*]] = rocdl.raw.ptr.buffer.load {{.*}} : i32
  // CHECK-NEXT: %[[X:.*]] = llvm.bitcast %[[A]] : i32 to f32
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<8xf32, #row8>
  // CHECK: %[[B:.*]] = rocdl.raw.ptr.buffer.load {{.*}} : i32
  // CHECK-NEXT: %[[Y:.*]] = llvm.bitcast %[[B]] : i32 to f32
  %b = tile.load %v[%n] : !tile.view<1 x f32> -> tensor<8xf32, #row8>
  %c = tile.stack %a, %b, %a dim 0 : tensor<8xf32, #row8>, tensor<8xf32, #row8>, tensor<8xf32, #row8>
    -> tensor<3x8xf32, #tile.layout<[3, 8], register = [],
         lane = [[0, 1], [0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], wave = [],
         outer = [register 3 * 1 along 0]>>
  %d = tile.extract %c dim 0 at 1 : tensor<3x8xf32, #tile.layout<[3, 8], register = [],
         lane = [[0, 1], [0, 2], [0, 4], [0, 0], [0, 0], [0, 0]], wave = [],
         outer = [register 3 * 1 along 0]>> -> tensor<8xf32, #row8>
  // CHECK-NEXT: %[[E:.*]] = llvm.fsub %[[X]], %[[Y]] : f32
  %e = arith.subf %a, %d : tensor<8xf32, #row8>
  tile.return
}

}

// -----

// Without permlane swaps half rows go through ds_swizzle and half waves through
// ds_bpermute, in the same order.
#row = #tile.layout<[256], register = [[1], [2]], lane = [[4], [8], [16], [32], [64], [128]],
  wave = []>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = []>

module attributes {tile.target = #tile.target<"gfx950">} {

// What a reduction leaves in all lanes becomes a scalar register, and an address.
// CHECK-LABEL: llvm.func @uniform(
tile.kernel @uniform(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #row>
  %b = tile.reduce max %a dims [0] : tensor<256xf32, #row> -> tensor<f32, #none>
  %i = arith.fptosi %b : tensor<f32, #none> to tensor<i32, #none>
  // CHECK: %[[I:.*]] = llvm.fptosi %{{.*}} : f32 to i32
  // CHECK: %[[FIRST:.*]] = rocdl.readfirstlane %[[I]] : i32
  %u = tile.uniform %i : tensor<i32, #none>
  // CHECK: llvm.zext %[[FIRST]] : i32 to i64
  %w = arith.extui %u : i32 to i64
  %q = tile.advance %p by %w : !tile.ptr<f32>
  %x = tile.view %q strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  tile.store %a, %x[%c0] : tensor<256xf32, #row>, !tile.view<1 x f32>
  tile.return
}

}

// -----

#row = #tile.layout<[256], register = [[1], [2]], lane = [[4], [8], [16], [32], [64], [128]],
  wave = []>
#none = #tile.layout<[], register = [], lane = [[], [], [], [], [], []], wave = []>
#rows = #tile.layout<[4, 64], register = [[1, 0], [2, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], wave = []>
#scattered5 = #tile.layout<[4], register = [[1]], lane = [[0], [0], [0], [0], [0], [2]], wave = []>

module attributes {tile.target = #tile.target<"gfx942">} {

// CHECK-LABEL: llvm.func @sum_without_swaps(
tile.kernel @sum_without_swaps(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // CHECK: %[[ID:.*]] = rocdl.workitem.id.x
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #row>
  // CHECK-NOT: permlane
  // CHECK: %[[C32:.*]] = llvm.mlir.constant(32 : i32)
  // CHECK: %[[LANE:.*]] = llvm.xor %[[ID]], %[[C32]]
  // CHECK: %[[ADDRESS:.*]] = llvm.shl %[[LANE]]
  // CHECK: rocdl.ds_bpermute %[[ADDRESS]]
  // CHECK: %[[XOR16:.*]] = llvm.mlir.constant(16415 : i32)
  // CHECK: rocdl.ds_swizzle %{{.*}}, %[[XOR16]]
  // CHECK-COUNT-4: rocdl.update.dpp
  // CHECK: llvm.return
  %b = tile.reduce add %a dims [0] : tensor<256xf32, #row> -> tensor<f32, #none>
  tile.return
}

// CHECK-LABEL: llvm.func @scatter_without_swaps(
tile.kernel @scatter_without_swaps(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [64, 1] bytes %n : !tile.ptr<f32> -> !tile.view<2 x f32>
  %a = tile.load %v[%c0, %c0] : !tile.view<2 x f32> -> tensor<4x64xf32, #rows>
  // CHECK: %[[KEEP:.*]] = llvm.select %[[SET:.*]], %[[Y:.*]], %[[X:.*]] : i1, f32
  // CHECK: llvm.select %[[SET]], %[[X]], %[[Y]] : i1, f32
  // CHECK: rocdl.ds_bpermute
  // CHECK: llvm.fadd %[[KEEP]]
  %b = tile.reduce add %a dims [1] : tensor<4x64xf32, #rows> -> tensor<4xf32, #scattered5>
  tile.return
}

}
