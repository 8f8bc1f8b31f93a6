// RUN: tenon-opt %s --tenon-compile 2>/dev/null \
// RUN:   | FileCheck %s --implicit-check-not=' tile.' --implicit-check-not=math.
// RUN: sed s/gfx950/gfx942/ %s | tenon-opt --tenon-compile 2>/dev/null \
// RUN:   | FileCheck %s --check-prefix=GFX942 --implicit-check-not=' tile.' --implicit-check-not=permlane
// RUN: tenon-opt %s --tenon-choose-schedule --tenon-lower-to-tile --tile-compile 2>/dev/null \
// RUN:   | FileCheck %s --implicit-check-not=' tile.' --implicit-check-not=math.

// The decode kernel of Kimi K3 at tensor parallelism 8, from its spec to code per
// lane. The two pipelines in a row are the one.
module attributes {tile.target = #tile.target<"gfx950">} {
func.func @kda_decode(%qkv: memref<?x4608xbf16, strided<[?, 1]>>,
    %raw_g: memref<?x1536xbf16, strided<[?, 1]>>, %raw_beta: memref<?x12xbf16, strided<[?, 1]>>,
    %out_gate: memref<?x1536xbf16, strided<[?, 1]>>, %conv_weight: memref<4608x4xf32>,
    %a_log: memref<12xf32>, %dt_bias: memref<1536xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x4608xbf16, strided<[?, 4608, 1]>>,
    %state: memref<?x12x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32, strided<[?]>>,
    %out: memref<?x1536xbf16, strided<[?, 1]>>) {
  tenon.kda_decode qkv(%qkv : memref<?x4608xbf16, strided<[?, 1]>>)
      raw_g(%raw_g : memref<?x1536xbf16, strided<[?, 1]>>)
      raw_beta(%raw_beta : memref<?x12xbf16, strided<[?, 1]>>)
      out_gate(%out_gate : memref<?x1536xbf16, strided<[?, 1]>>)
      conv_weight(%conv_weight : memref<4608x4xf32>) a_log(%a_log : memref<12xf32>)
      dt_bias(%dt_bias : memref<1536xf32>) norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
      state(%state : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
      slot(%slot : memref<?xi32, strided<[?]>>) out(%out : memref<?x1536xbf16, strided<[?, 1]>>)
      {heads = 12 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>}
  return
}
}

// The plan stays, for the runtime.
// CHECK: tenon.plan @kda_decode_plan
// CHECK: tenon.launch @kda_decode {{.*}} workgroup 256

// Five exchanges of 128 FP32 elements, each in storage of its own.
// CHECK: llvm.mlir.global internal @kda_decode_lds() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<2560 x i8>
// CHECK: llvm.func @kda_decode(
// CHECK-SAME: rocdl.kernel
// CHECK-NOT: arith.

// No branch before the state is on its way: first the small loads (conv_weight
// of q, k and v 16 bytes at a time), then 16 rows of 16 bytes that are used once,
// between two fences.
// CHECK-NOT: llvm.cond_br
// CHECK-COUNT-3: rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK-NOT: rocdl.raw.ptr.buffer.load {{.*}} : vector<4xi32>
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.inline_asm has_side_effects "", ""
// CHECK-NEXT: rocdl.sched.barrier
// CHECK-NOT: llvm.cond_br
// CHECK: rocdl.raw.ptr.buffer.load {{.*}}, %[[NT:[0-9]+]] : vector<4xi32>
// CHECK-COUNT-15: rocdl.raw.ptr.buffer.load {{.*}}, %[[NT]] : vector<4xi32>
// CHECK-NOT: rocdl.raw.ptr.buffer.load
// CHECK: llvm.inline_asm has_side_effects "", ""
// CHECK-NEXT: rocdl.sched.barrier

// Two waits for LDS: for q, k, v and the decay, and for the output.
// CHECK: rocdl.s.barrier
// CHECK-NOT: rocdl.s.barrier
// CHECK: rocdl.update.dpp
// The new state goes back as it came.
// CHECK-COUNT-16: rocdl.raw.ptr.buffer.store {{.*}} : vector<4xi32>
// CHECK: rocdl.s.barrier
// CHECK-NOT: rocdl.s.barrier
// One wave normalises and writes the output.
// CHECK: llvm.cond_br
// CHECK: rocdl.permlane32.swap
// CHECK: rocdl.raw.ptr.buffer.store
// CHECK: llvm.return

// GFX942: llvm.func @kda_decode(
// GFX942: rocdl.ds_bpermute
// GFX942: rocdl.ds_swizzle
// GFX942: llvm.return
