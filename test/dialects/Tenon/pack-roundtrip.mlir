// RUN: tenon-opt %s | tenon-opt | FileCheck %s

!packed = memref<?x?xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>
!scales = memref<?x?xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>
// CHECK-LABEL: func.func @f(
func.func @f(%w: memref<?x?xf4E2M1FN, strided<[?, 1]>>, %s: memref<?x?xf8E8M0FNU, strided<[?, 1]>>,
    %p: !packed, %q: !scales) {
  // CHECK: tenon.pack weights(%{{.*}} : memref<?x?xf4E2M1FN, strided<[?, 1]>>) scales(%{{.*}} : memref<?x?xf8E8M0FNU, strided<[?, 1]>>) packed(%{{.*}} : memref<?x?xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>) packed_scales(%{{.*}} : memref<?x?xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>)
  tenon.pack weights(%w : memref<?x?xf4E2M1FN, strided<[?, 1]>>)
    scales(%s : memref<?x?xf8E8M0FNU, strided<[?, 1]>>) packed(%p : !packed) packed_scales(%q : !scales)
  return
}
