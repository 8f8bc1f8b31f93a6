// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// CHECK: tenon.moe_pack weights(%{{.*}} : memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>) scales({{.*}}) packed(%{{.*}} : memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales({{.*}})
func.func @f(%w: memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>, %s: memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>, %q: memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  tenon.moe_pack weights(%w : memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>) scales(%s : memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales(%q : memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}

// CHECK: tenon.moe_pack {{.*}} {interleaved}
func.func @g(%w: memref<?x128x64xf4E2M1FN, strided<[?, 64, 1]>>, %s: memref<?x128x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x128x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>, %q: memref<?x128x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>) {
  tenon.moe_pack weights(%w : memref<?x128x64xf4E2M1FN, strided<[?, 64, 1]>>) scales(%s : memref<?x128x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x128x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>) packed_scales(%q : memref<?x128x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>) {interleaved}
  return
}
