// RUN: tenon-opt %s --convert-tile-to-rocdl | FileCheck %s

// Reductions, scatters and gathers: convert-tile-to-rocdl-reduce.mlir.

// 64 and 256 elements over one wave; 128 over one wave, the same in each of four.
#ones = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]], wave = []>
#fours = #tile.layout<[256], register = [[1], [2]], lane = [[4], [8], [16], [32], [64], [128]],
  wave = []>
#pairs = #tile.layout<[128], register = [[1]], lane = [[2], [4], [8], [16], [32], [64]], wave = []>
#all_waves = #tile.layout<[64], register = [], lane = [[1], [2], [4], [8], [16], [32]],
  wave = [[0], [0]]>
#some_lanes = #tile.layout<[16], register = [], lane = [[1], [2], [4], [8], [0], [0]],
  wave = [[0], [0]]>
#spread = #tile.layout<[256], register = [], lane = [[1], [2], [4], [8], [16], [32]],
  wave = [[64], [128]]>

module attributes {tile.target = #tile.target<"gfx950">} {

// The calling convention of a kernel: pointers to global memory, the size of the
// workgroup, and no accumulator registers. Names of arguments stay for the plan.
// CHECK-LABEL: llvm.func @kernel(
// CHECK-SAME: %{{.*}}: !llvm.ptr<1> {tile.name = "p"}, %{{.*}}: i32, %{{.*}}: i64, %{{.*}}: f32)
// CHECK-SAME: passthrough = [
// CHECK-SAME: ["amdgpu-agpr-alloc", "0"]
// CHECK-SAME: ["amdgpu-sched-strategy", "max-ilp"]]
// CHECK-SAME: rocdl.flat_work_group_size = "256,256"
// CHECK-SAME: rocdl.kernel
// CHECK-SAME: rocdl.reqd_work_group_size = array<i32: 256, 1, 1>
// CHECK-SAME: rocdl.waves_per_eu = 2 : i32
tile.kernel @kernel(%p: !tile.ptr<f32> {tile.name = "p"}, %n: i32, %m: i64, %f: f32)
    attributes {waves = 4 : i32, waves_per_simd = 2 : i32, scheduler = "max-ilp"} {
  // The number of the wave is uniform, and the compiler must know it.
  // CHECK: %[[ID:.*]] = rocdl.workitem.id.x
  // CHECK: %[[WAVE:.*]] = llvm.lshr %[[ID]]
  // CHECK: rocdl.readfirstlane %[[WAVE]]
  // CHECK: rocdl.workgroup.id.x
  %x = tile.workgroup_id 0
  // CHECK: rocdl.workgroup.id.y
  %y = tile.workgroup_id 1
  // CHECK: rocdl.workgroup.id.z
  %z = tile.workgroup_id 2
  // CHECK: llvm.return
  tile.return
}

// The first arguments arrive in registers.
// CHECK-LABEL: llvm.func @preloads(
// CHECK-SAME: %{{[a-z0-9]*}}: !llvm.ptr<1> {llvm.inreg}, %{{[a-z0-9]*}}: i32 {llvm.inreg}, %{{[a-z0-9]*}}: i32)
tile.kernel @preloads(%p: !tile.ptr<f32>, %n: i32, %m: i32)
    attributes {waves = 1 : i32, preload = 2 : i32} {
  tile.return
}

// Four consecutive elements of a lane are one access of 16 bytes, and data that
// are used once say so (policy 2).
// CHECK-LABEL: llvm.func @wide(
tile.kernel @wide(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: llvm.mul
  // CHECK-NEXT: llvm.mlir.constant(0 : i32)
  // CHECK-NEXT: %[[NT:.*]] = llvm.mlir.constant(2 : i32) : i32
  // CHECK-NEXT: rocdl.raw.ptr.buffer.load %{{.*}}, %{{.*}}, %{{.*}}, %[[NT]] : vector<4xi32>
  // CHECK-NOT: rocdl.raw.ptr.buffer.load
  %t = tile.load %v[%c0] {nontemporal} : !tile.view<1 x f32> -> tensor<256xf32, #fours>
  // CHECK: llvm.mul
  // CHECK-NEXT: llvm.mlir.constant(0 : i32)
  // CHECK-NEXT: %[[NT2:.*]] = llvm.mlir.constant(2 : i32) : i32
  // CHECK: rocdl.raw.ptr.buffer.store %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[NT2]] : vector<4xi32>
  // CHECK-NOT: rocdl.raw.ptr.buffer.store
  tile.store %t, %v[%c0] {nontemporal} : tensor<256xf32, #fours>, !tile.view<1 x f32>
  // CHECK: llvm.return
  tile.return
}

// An offset of which nothing is known allows only single elements of bf16; one
// that is a multiple of a row keeps the access wide.
// CHECK-LABEL: llvm.func @alignment(
tile.kernel @alignment(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 1 : i32} {
  %c64 = arith.constant 64 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<bf16> -> !tile.view<1 x bf16>
  // CHECK-COUNT-4: rocdl.raw.ptr.buffer.load {{.*}} : i16
  // CHECK-NOT: rocdl.raw.ptr.buffer.load {{.*}} : i16
  %a = tile.load %v[%n] : !tile.view<1 x bf16> -> tensor<256xbf16, #fours>
  %row = arith.muli %n, %c64 : i32
  // CHECK: rocdl.raw.ptr.buffer.load {{.*}} : vector<2xi32>
  // CHECK-NOT: rocdl.raw.ptr.buffer.load
  %b = tile.load %v[%row] : !tile.view<1 x bf16> -> tensor<256xbf16, #fours>
  // CHECK: llvm.return
  tile.return
}

// The bound is that of the descriptor, chosen at run time: 0 for an absent row.
// Everything that is added to the base is in the part that is checked.
// CHECK-LABEL: llvm.func @bound(
// CHECK-SAME: %[[P:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<1>)
tile.kernel @bound(%p: !tile.ptr<f32>, %s: !tile.ptr<i32>) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %c256 = arith.constant 256 : i32
  // A scalar load: from the constant address space.
  // CHECK: %[[S4:.*]] = llvm.addrspacecast %[[S]] : !llvm.ptr<1> to !llvm.ptr<4>
  // CHECK: %[[SLOT:.*]] = llvm.load %[[S4]] invariant
  %slot = tile.load_scalar %s : !tile.ptr<i32> -> i32
  // CHECK: %[[NULL:.*]] = llvm.icmp "sle" %[[SLOT]]
  %null = arith.cmpi sle, %slot, %c0 : i32
  // CHECK: %[[BYTES:.*]] = llvm.select %[[NULL]]
  %bytes = arith.select %null, %c0, %c256 : i32
  // CHECK: %[[WIDE:.*]] = llvm.zext %[[SLOT]] : i32 to i64
  %wide = arith.extui %slot : i32 to i64
  // CHECK: %[[Q:.*]] = llvm.getelementptr %[[P]][%[[WIDE]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %q = tile.advance %p by %wide : !tile.ptr<f32>
  // CHECK: %[[RECORDS:.*]] = llvm.zext %[[BYTES]] : i32 to i64
  // CHECK: %[[RSRC:.*]] = rocdl.make.buffer.rsrc %[[Q]], %{{.*}}, %[[RECORDS]]
  %v = tile.view %q strides [1] bytes %bytes : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[UNIFORM:.*]] = llvm.mul %[[SLOT]]
  // CHECK: %[[OFFSET:.*]] = llvm.add %{{.*}}, %[[UNIFORM]]
  // CHECK: %[[ZERO:.*]] = llvm.mlir.constant(0 : i32)
  // CHECK: rocdl.raw.ptr.buffer.load %[[RSRC]], %[[OFFSET]], %[[ZERO]]
  %t = tile.load %v[%slot] : !tile.view<1 x f32> -> tensor<64xf32, #ones>
  tile.return
}

// Where the bound is a constant, what is uniform goes into the scalar offset and
// what is constant is added last, where the instruction takes it.
// CHECK-LABEL: llvm.func @offsets(
// CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %[[N:.*]]: i32)
tile.kernel @offsets(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  %c5 = arith.constant 5 : i32
  %bytes = arith.constant 4096 : i32
  %v = tile.view %p strides [1] bytes %bytes : !tile.ptr<f32> -> !tile.view<1 x f32>
  %at = arith.addi %n, %c5 : i32
  // CHECK: %[[UNIFORM:.*]] = llvm.mul %[[N]]
  // CHECK: %[[LANE:.*]] = llvm.mul
  // CHECK: %[[C20:.*]] = llvm.mlir.constant(20 : i32)
  // CHECK-NEXT: %[[OFFSET:.*]] = llvm.add %[[LANE]], %[[C20]]
  // CHECK: rocdl.raw.ptr.buffer.load %{{.*}}, %[[OFFSET]], %[[UNIFORM]]
  %t = tile.load %v[%at] : !tile.view<1 x f32> -> tensor<64xf32, #ones>
  tile.return
}

// A replicated element is stored by one owner: by one wave, whose number is
// uniform, so that the others branch around it ...
// CHECK-LABEL: llvm.func @guard_waves(
tile.kernel @guard_waves(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  // CHECK: %[[WAVE:.*]] = rocdl.readfirstlane
  // CHECK: rocdl.raw.ptr.buffer.load
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #all_waves>
  // CHECK: %[[B:.*]] = llvm.fadd
  %b = arith.addf %a, %a : tensor<64xf32, #all_waves>
  // ... and skip what only that store needs; its last user decides, and both
  // stores share one block. What others need is computed before.
  // CHECK-NOT: llvm.fmul
  // CHECK: %[[MASK:.*]] = llvm.mlir.constant(3 : i32)
  // CHECK: %[[COPY:.*]] = llvm.and %[[WAVE]], %[[MASK]]
  // CHECK: %[[OWNER:.*]] = llvm.icmp "eq" %[[COPY]]
  // CHECK-NEXT: llvm.cond_br %[[OWNER]], ^[[STORE:.*]], ^[[REST:.*]]
  // CHECK: ^[[STORE]]:
  // CHECK: llvm.fmul %[[B]], %[[B]]
  // CHECK-COUNT-2: rocdl.raw.ptr.buffer.store
  // CHECK-NEXT: llvm.br ^[[REST]]
  %c = arith.mulf %b, %b : tensor<64xf32, #all_waves>
  tile.store %c, %v[%c0] : tensor<64xf32, #all_waves>, !tile.view<1 x f32>
  tile.store %b, %v[%c0] : tensor<64xf32, #all_waves>, !tile.view<1 x f32>
  // CHECK: ^[[REST]]:
  // CHECK: rocdl.raw.ptr.buffer.load
  // CHECK: llvm.fadd %{{.*}}, %[[B]]
  %d = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #all_waves>
  %e = arith.addf %d, %b : tensor<64xf32, #all_waves>
  tile.return
}

// ... or by some lanes. Lanes that are switched off could not take part in moves
// between lanes, so nothing goes along with the store.
// CHECK-LABEL: llvm.func @guard_lanes(
tile.kernel @guard_lanes(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  // CHECK: %[[ID:.*]] = rocdl.workitem.id.x
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<16xf32, #some_lanes>
  // CHECK: llvm.fadd
  %b = arith.addf %a, %a : tensor<16xf32, #some_lanes>
  // Lane bits 4 and 5, and the wave.
  // CHECK: %[[MASK:.*]] = llvm.mlir.constant(240 : i32)
  // CHECK: llvm.and %[[ID]], %[[MASK]]
  // CHECK: llvm.cond_br
  // CHECK-NOT: llvm.fadd
  // CHECK: rocdl.raw.ptr.buffer.store
  tile.store %b, %v[%c0] : tensor<16xf32, #some_lanes>, !tile.view<1 x f32>
  tile.return
}

// Elements that are held once need no guard.
// CHECK-LABEL: llvm.func @no_guard(
tile.kernel @no_guard(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<256xf32, #spread>
  // CHECK-NOT: llvm.cond_br
  // CHECK: rocdl.raw.ptr.buffer.store
  tile.store %a, %v[%c0] : tensor<256xf32, #spread>, !tile.view<1 x f32>
  tile.return
}

// LDS is one global of the kernel; a buffer lies at its offset and is accessed
// 16 bytes at a time.
// CHECK: llvm.mlir.global internal @lds_lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2048 x i8>
// CHECK-LABEL: llvm.func @lds(
tile.kernel @lds(%f: f32) attributes {waves = 1 : i32, lds_bytes = 2048 : i64} {
  %a = tile.splat %f : f32 -> tensor<256xf32, #fours>
  %b = tile.alloc_lds at 1024 : !tile.lds<256xf32>
  // CHECK: %[[LDS:.*]] = llvm.mlir.addressof @lds_lds : !llvm.ptr<3>
  // CHECK-NEXT: %[[LANE:.*]] = llvm.getelementptr %[[LDS]]
  // CHECK-NEXT: %[[PLACE:.*]] = llvm.getelementptr %[[LANE]][1024]
  // CHECK: llvm.store %{{.*}}, %[[PLACE]] {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<3>
  tile.lds_store %a, %b : tensor<256xf32, #fours>, !tile.lds<256xf32>
  // The fences name LDS alone, so that device memory stays in flight.
  // CHECK: llvm.fence syncscope("workgroup") release {llvm.mmra = #[[LOCAL:.*]]}
  // CHECK-NEXT: rocdl.s.barrier
  // CHECK-NEXT: llvm.fence syncscope("workgroup") acquire {llvm.mmra = #[[LOCAL]]}
  tile.barrier
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  // CHECK-NOT: llvm.load
  %c = tile.lds_load %b : !tile.lds<256xf32> -> tensor<256xf32, #fours>
  // CHECK: llvm.return
  tile.return
}

// A replicated tile is written to LDS by one owner as well, before the barrier
// that makes it visible.
// CHECK-LABEL: llvm.func @lds_guard(
tile.kernel @lds_guard(%p: !tile.ptr<f32>, %n: i32)
    attributes {waves = 4 : i32, lds_bytes = 256 : i64} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<f32> -> !tile.view<1 x f32>
  %a = tile.load %v[%c0] : !tile.view<1 x f32> -> tensor<64xf32, #all_waves>
  %b = tile.alloc_lds at 0 : !tile.lds<64xf32>
  // CHECK: llvm.cond_br %{{.*}}, ^[[STORE:.*]], ^[[REST:.*]]
  // CHECK: ^[[STORE]]:
  // CHECK: llvm.store
  // CHECK: ^[[REST]]:
  // CHECK: rocdl.s.barrier
  tile.lds_store %a, %b : tensor<64xf32, #all_waves>, !tile.lds<64xf32>
  tile.barrier
  tile.return
}

// An order fence holds LLVM's passes by a statement that may write any memory,
// and the machine scheduler by a barrier that all but vector memory may cross.
// CHECK-LABEL: llvm.func @order(
tile.kernel @order(%p: !tile.ptr<f32>, %n: i32) attributes {waves = 1 : i32} {
  // CHECK: llvm.inline_asm has_side_effects "", ""
  // CHECK-NEXT: rocdl.sched.barrier 1926
  tile.order_fence
  tile.return
}

// Pairs are kept together for packed arithmetic; the chip's own exp2, log2, rsq
// and rcp take single elements.
// CHECK-LABEL: llvm.func @arithmetic(
// CHECK-SAME: %[[F:.*]]: f32)
tile.kernel @arithmetic(%p: !tile.ptr<bf16>, %n: i32, %f: f32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [1] bytes %n : !tile.ptr<bf16> -> !tile.view<1 x bf16>
  %a = tile.load %v[%c0] : !tile.view<1 x bf16> -> tensor<128xbf16, #pairs>
  // CHECK: %[[X:.*]] = llvm.fpext %{{.*}} : vector<2xbf16> to vector<2xf32>
  %x = arith.extf %a : tensor<128xbf16, #pairs> to tensor<128xf32, #pairs>
  %one = arith.constant dense<1.0> : tensor<128xf32, #pairs>
  %s = tile.splat %f : f32 -> tensor<128xf32, #pairs>
  // CHECK: llvm.intr.fma(%[[X]], %{{.*}}, %{{.*}}) : (vector<2xf32>, vector<2xf32>, vector<2xf32>) -> vector<2xf32>
  %y = math.fma %x, %s, %one : tensor<128xf32, #pairs>
  // CHECK-COUNT-2: rocdl.exp2 %{{.*}} f32 -> f32
  %e = math.exp2 %y fastmath<afn> : tensor<128xf32, #pairs>
  // CHECK-COUNT-2: rocdl.log %{{.*}} f32 -> f32
  %l = math.log2 %e fastmath<afn> : tensor<128xf32, #pairs>
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.amdgcn.rsq"
  %r = math.rsqrt %l fastmath<afn> : tensor<128xf32, #pairs>
  // CHECK-COUNT-2: rocdl.rcp %{{.*}} f32 -> f32
  %q = arith.divf %one, %r fastmath<arcp> : tensor<128xf32, #pairs>
  // CHECK: llvm.fcmp "olt" %{{.*}} : vector<2xf32>
  %m = arith.cmpf olt, %q, %x : tensor<128xf32, #pairs>
  // CHECK: llvm.select %{{.*}} : vector<2xi1>, vector<2xf32>
  %t = arith.select %m, %q, %x : tensor<128xi1, #pairs>, tensor<128xf32, #pairs>
  // CHECK: %[[Z:.*]] = llvm.fptrunc %{{.*}} : vector<2xf32> to vector<2xbf16>
  %z = arith.truncf %t : tensor<128xf32, #pairs> to tensor<128xbf16, #pairs>
  // A pair in order is stored as it is.
  // CHECK: %[[BITS:.*]] = llvm.bitcast %[[Z]] : vector<2xbf16> to i32
  // CHECK: rocdl.raw.ptr.buffer.store %[[BITS]]
  tile.store %z, %v[%c0] : tensor<128xbf16, #pairs>, !tile.view<1 x bf16>
  tile.return
}

// A uniform condition selects whole tiles.
// CHECK-LABEL: llvm.func @uniform_select(
tile.kernel @uniform_select(%n: i32, %f: f32) attributes {waves = 1 : i32} {
  %c0 = arith.constant 0 : i32
  %a = tile.splat %f : f32 -> tensor<128xf32, #pairs>
  %zero = arith.constant dense<0.0> : tensor<128xf32, #pairs>
  // CHECK: %[[C:.*]] = llvm.icmp "slt"
  %c = arith.cmpi slt, %n, %c0 : i32
  // CHECK: llvm.select %[[C]], %{{.*}}, %{{.*}} : i1, vector<2xf32>
  %b = arith.select %c, %zero, %a : tensor<128xf32, #pairs>
  tile.return
}

}
