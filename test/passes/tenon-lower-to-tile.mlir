// RUN: tenon-opt %s --tenon-lower-to-tile=schedule=1 | FileCheck %s
// RUN: tenon-opt %s --tenon-lower-to-tile | FileCheck %s --check-prefix=FIRST

module attributes {tile.target = #tile.target<"gfx950">} {

// The plan: what must hold of addresses, strides and sizes, and one launch whose
// arguments are those of the kernel, in its order.
// CHECK-LABEL: tenon.plan @decode_plan
// CHECK-SAME: {access = "read", dims = ["N", 4608], name = "qkv", type = bf16}
// CHECK-SAME: {access = "read_write", dims = ["S", "L", 4608], name = "conv_state", type = bf16}
// CHECK-SAME: {access = "read_write", dims = ["S", 12, 128, 128], name = "state", type = f32}
// CHECK-SAME: {access = "read", dims = ["N"], name = "slot", type = i32}
// CHECK-SAME: {access = "write", dims = ["N", 1536], name = "out", type = bf16}

// 16-byte accesses need aligned bases and rows; rows are dense within.
// CHECK: tenon.require_aligned "qkv" to 16
// CHECK: tenon.require eq, %{{.*}}, %{{.*}}, "qkv: dimension 1 must be dense"
// CHECK: tenon.require_stride "qkv"[0] multiple_of 8
// CHECK: %[[QKV:.*]] = tenon.stride "qkv"[0]
// CHECK: tenon.require sge, %[[QKV]], %{{.*}}, "qkv: the outermost stride must not be negative"
// CHECK: tenon.require slt, %{{.*}}, %{{.*}}, "qkv: the outermost stride must be below 2^31 bytes"
// Weights have no free stride.
// CHECK: tenon.require eq, %{{.*}}, %{{.*}}, "conv_weight: dimension 0 must be dense"
// CHECK-NOT: tenon.require_stride "conv_weight"
// The slot stride of a pool may pass 2^31 bytes.
// CHECK: tenon.require_stride "state"[0] multiple_of 4
// CHECK: %[[STATE:.*]] = tenon.stride "state"[0]
// CHECK-NOT: "state: the outermost stride must be below 2^31 bytes"
// A column of slots asks for its element's alignment alone.
// CHECK: tenon.require_aligned "slot" to 4
// CHECK: tenon.require_stride "slot"[0] multiple_of 1
// CHECK: tenon.require sge, %{{.*}}, %{{.*}}, "conv_state: L must be at least 3"
// CHECK: tenon.require slt, %{{.*}}, %{{.*}}, "conv_state: one slot must be below 2^31 bytes"
// One workgroup per head and request: no requests, no launch.
// CHECK: %[[N:.*]] = tenon.size "slot"[0]
// CHECK: tenon.launch @decode grid(%c12{{.*}}, %[[N]], %c1) workgroup 128
// CHECK-SAME: args [{ptr = "qkv"}, {ptr = "raw_g"}, {ptr = "raw_beta"}, {ptr = "out_gate"},
// CHECK-SAME: {ptr = "conv_weight"}, {ptr = "a_log"}, {ptr = "dt_bias"}, {ptr = "norm_weight"},
// CHECK-SAME: {ptr = "conv_state"}, {ptr = "state"}, {ptr = "slot"}, {ptr = "out"},
// CHECK-SAME: {i32 = 0 : i64}, {i32 = 1 : i64}, {i32 = 2 : i64}, {i32 = 3 : i64},
// CHECK-SAME: {i64 = 4 : i64}, {i64 = 5 : i64}, {i32 = 6 : i64}, {i32 = 7 : i64}]

// The kernel takes what the launch gives: pointers, then strides in bytes, those
// of the pools in 64 bits.
// CHECK-LABEL: tile.kernel @decode(
// CHECK-SAME: !tile.ptr<bf16> {tile.name = "qkv"}
// CHECK-SAME: !tile.ptr<i32> {tile.name = "slot"}
// CHECK-SAME: i32 {tile.name = "qkv_stride"}
// CHECK-SAME: %[[CONV:[a-z0-9]+]]: i64 {tile.name = "conv_state_stride"}, %[[STRIDE:[a-z0-9]+]]: i64 {tile.name = "state_stride"}, %{{.*}}: i32 {tile.name = "slot_stride"}
// CHECK-SAME: scheduler = "iterative-ilp", waves = 2 : i32, waves_per_simd =

// The slot decides: a null one becomes slot 0 of views of 0 bytes.
// CHECK: %[[SLOT:.*]] = tile.load_scalar
// CHECK: %[[NULL:.*]] = arith.cmpi sle, %[[SLOT]]
// CHECK: %[[SAFE:.*]] = arith.select %[[NULL]], %{{.*}}, %[[SLOT]]
// Slot times stride in 64 bits: pools pass 4 GiB.
// CHECK: %[[WIDE:.*]] = arith.extui %[[SAFE]] : i32 to i64
// CHECK-NEXT: arith.muli %[[WIDE]], %[[CONV]] : i64

// All small loads, and after them the state, in one piece between two fences, so
// that no wait for the small ones covers it and no branch stands before it.
// CHECK-COUNT-3: tile.load {{.*}} -> tensor<128x4xf32>
// CHECK: tile.load {{.*}} -> tensor<128xbf16>
// CHECK: %[[WIDE2:.*]] = arith.extui %[[SAFE]] : i32 to i64
// CHECK-NEXT: arith.muli %[[WIDE2]], %[[STRIDE]] : i64
// CHECK: %[[BYTES:.*]] = arith.select %[[NULL]], %{{.*}}, %c65536
// CHECK: %[[VIEW:.*]] = tile.view %{{.*}} strides [128, 1] bytes %[[BYTES]]
// CHECK: tile.order_fence
// CHECK-NEXT: %[[S:.*]] = tile.load %[[VIEW]]{{.*}} {nontemporal} {{.*}} -> tensor<128x128xf32, #tile.layout<[128, 128],
// Four consecutive k per lane, sixteen lanes per row, rows over waves.
// CHECK-SAME: register = [{{\[}}0, 1], [0, 2], [0, 64], [1, 0], [2, 0], [4, 0], [8, 0]],
// CHECK-SAME: lane = [{{\[}}0, 4], [0, 8], [0, 16], [0, 32], [16, 0], [32, 0]],
// CHECK-SAME: wave = [{{\[}}64, 0]]>>
// CHECK-NEXT: tile.order_fence
// CHECK-NOT: tile.load %

// Both products of the decayed state in one pass, their results scattered.
// CHECK: %[[DECAYED:.*]] = arith.mulf %[[S]]
// CHECK-NEXT: tile.dot %[[DECAYED]], %{{.*}} dims [1]
// CHECK-NEXT: tile.dot %[[DECAYED]], %{{.*}} dims [1]
// CHECK: %[[NEW:.*]] = math.fma %{{.*}}, %{{.*}}, %[[DECAYED]]
// CHECK: tile.store %[[NEW]], %[[VIEW]]{{.*}} {nontemporal}
// A null slot writes zeros, whatever its operands hold.
// CHECK: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00>
// CHECK-NEXT: %[[OUT:.*]] = arith.select %[[NULL]], %[[ZEROS]]
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[OUT]]
// CHECK: tile.store %[[ROUNDED]]
// CHECK-NEXT: tile.return

// FIRST: tenon.launch @decode {{.*}} workgroup 256
// FIRST: tile.kernel @decode
// FIRST-NOT: scheduler
// FIRST: waves = 4 : i32
func.func @decode(%qkv: memref<?x4608xbf16, strided<[?, 1]>>, %raw_g: memref<?x1536xbf16>,
    %raw_beta: memref<?x12xbf16>, %out_gate: memref<?x1536xbf16>, %conv_weight: memref<4608x4xf32>,
    %a_log: memref<12xf32>, %dt_bias: memref<1536xf32>, %norm_weight: memref<128xf32>,
    %conv_state: memref<?x?x4608xbf16, strided<[?, 4608, 1]>>,
    %state: memref<?x12x128x128xf32, #tenon.state_layout<vk>>, %slot: memref<?xi32, strided<[?]>>,
    %out: memref<?x1536xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x4608xbf16, strided<[?, 1]>>)
      raw_g(%raw_g : memref<?x1536xbf16>) raw_beta(%raw_beta : memref<?x12xbf16>)
      out_gate(%out_gate : memref<?x1536xbf16>) conv_weight(%conv_weight : memref<4608x4xf32>)
      a_log(%a_log : memref<12xf32>) dt_bias(%dt_bias : memref<1536xf32>)
      norm_weight(%norm_weight : memref<128xf32>)
      conv_state(%conv_state : memref<?x?x4608xbf16, strided<[?, 4608, 1]>>)
      state(%state : memref<?x12x128x128xf32, #tenon.state_layout<vk>>)
      slot(%slot : memref<?xi32, strided<[?]>>) out(%out : memref<?x1536xbf16>)
      {heads = 12 : i64, head_dim = 128 : i64, gate = #tenon<gate bounded>,
       lower_bound = -5.0 : f64, output_norm = true, qk_eps = 1.0e-6 : f64,
       norm_eps = 1.0e-5 : f64, null_slot = #tenon<null_slot le0>,
       conv_layout = #tenon<conv_layout sd>,
       schedules = [{waves = 4}, {waves = 2, scheduler = "iterative-ilp"}]}
  return
}

// The other form of everything: no output norm, the columns of conv_state
// innermost (L becomes an argument), a window that starts anywhere, slots from 0.
// CHECK-LABEL: tenon.plan @other_plan
// CHECK-NOT: "out_gate"
// CHECK: tenon.require_aligned "conv_start" to 4
// CHECK: tenon.launch @other
// CHECK-LABEL: tile.kernel @other(
// CHECK-SAME: !tile.ptr<i32> {tile.name = "conv_start"}
// CHECK-SAME: %[[L:[a-z0-9]+]]: i32 {tile.name = "columns"})
// CHECK: %[[SLOT:.*]] = tile.load_scalar
// CHECK: arith.cmpi slt, %[[SLOT]]
// CHECK: tile.view %{{.*}} strides [%[[L]], 1]
// CHECK: %[[START:.*]] = tile.load_scalar
// CHECK: arith.extui %[[START]] : i32 to i64
// CHECK: tile.view %{{.*}} strides [%[[L]], 1]
// The state is read along v, which is its last dimension here.
// CHECK: tile.view %{{.*}} strides [1, 128]
// CHECK-NOT: math.rsqrt {{.*}} : tensor<128xf32
// CHECK: tile.return
func.func @other(%qkv: memref<?x384xbf16>, %raw_g: memref<?x128xbf16>, %raw_beta: memref<?x1xbf16>,
    %conv_weight: memref<384x4xf32>, %a_log: memref<1xf32>, %dt_bias: memref<128xf32>,
    %conv_state: memref<?x384x?xbf16>, %conv_start: memref<?xi32>,
    %state: memref<?x1x128x128xf32, #tenon.state_layout<kv>>, %slot: memref<?xi32>,
    %out: memref<?x128xbf16>) {
  tenon.kda_decode qkv(%qkv : memref<?x384xbf16>) raw_g(%raw_g : memref<?x128xbf16>)
      raw_beta(%raw_beta : memref<?x1xbf16>) conv_weight(%conv_weight : memref<384x4xf32>)
      a_log(%a_log : memref<1xf32>) dt_bias(%dt_bias : memref<128xf32>)
      conv_state(%conv_state : memref<?x384x?xbf16>) conv_start(%conv_start : memref<?xi32>)
      state(%state : memref<?x1x128x128xf32, #tenon.state_layout<kv>>) slot(%slot : memref<?xi32>)
      out(%out : memref<?x128xbf16>)
      {heads = 1 : i64, head_dim = 128 : i64, gate = #tenon<gate softplus>, output_norm = false,
       qk_eps = 1.0e-6 : f64, null_slot = #tenon<null_slot lt0>,
       conv_layout = #tenon<conv_layout ds>, schedules = [{waves = 4}, {waves = 8}]}
  return
}

// A function without a tenon op stays.
// CHECK: func.func private @other_function(i32)
func.func private @other_function(i32)
}
