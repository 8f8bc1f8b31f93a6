// RUN: tenon-opt %s | tenon-opt | FileCheck %s

// CHECK-LABEL: func.func @f(
func.func @f(%l: memref<?x256xbf16, strided<[?, 1]>>, %i: memref<?x6xi32>, %w: memref<?x6xf32>) {
  // CHECK: tenon.moe_route logits(%{{.*}} : memref<?x256xbf16, strided<[?, 1]>>) ids(%{{.*}} : memref<?x6xi32>) weights(%{{.*}} : memref<?x6xf32>) {factor = 2.500000e+00 : f64, renormalize = false, scoring = #tenon<scoring softmax>}
  tenon.moe_route logits(%l : memref<?x256xbf16, strided<[?, 1]>>) ids(%i : memref<?x6xi32>)
    weights(%w : memref<?x6xf32>)
    {scoring = #tenon<scoring softmax>, renormalize = false, factor = 2.5 : f64}
  return
}
