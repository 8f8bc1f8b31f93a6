// RUN: tenon-opt %s -split-input-file -verify-diagnostics | tenon-opt -split-input-file -verify-diagnostics | FileCheck %s

!rows = memref<?x512xbf16, strided<[?, 1]>>
!logs = memref<?x?xf32, strided<[?, ?]>>
// CHECK-LABEL: func.func @merge
// CHECK: tenon.mla_merge parts(%{{.*}} : memref<?x?x512xf32, strided<[?, ?, 1]>>) lse(%{{.*}} : memref<?x?xf32, strided<[?, ?]>>) out(%{{.*}} : memref<?x512xbf16, strided<[?, 1]>>) merged_lse(%{{.*}} : memref<?xf32>)
func.func @merge(%p: memref<?x?x512xf32, strided<[?, ?, 1]>>, %l: !logs, %o: !rows, %m: memref<?xf32>) {
  tenon.mla_merge parts(%p : memref<?x?x512xf32, strided<[?, ?, 1]>>) lse(%l : !logs)
    out(%o : !rows) merged_lse(%m : memref<?xf32>)
  return
}
// CHECK-LABEL: func.func @scale
// CHECK: tenon.mla_scale part({{.*}}) lse({{.*}}) out({{.*}}) rank(%{{.*}})
func.func @scale(%p: !rows, %l: memref<?x?xf32>, %o: !rows, %rank: index) {
  tenon.mla_scale part(%p : !rows) lse(%l : memref<?x?xf32>) out(%o : !rows) rank(%rank)
  return
}

// -----

!rows = memref<?x256xbf16>
func.func @f(%p: memref<?x?x256xf32>, %l: memref<?x?xf32>, %o: !rows) {
  // expected-error @+1 {{operand 'parts' must be 'memref<?x?x512xf32>', found 'memref<?x?x256xf32>'}}
  tenon.mla_merge parts(%p : memref<?x?x256xf32>) lse(%l : memref<?x?xf32>) out(%o : !rows)
  return
}

// -----

// Only bf16 and f32 are added.
func.func @f(%p: memref<?x?x512xf16>, %l: memref<?x?xf32>, %o: memref<?x512xbf16>) {
  // expected-error @+1 {{operand 'parts' must be 'memref<?x?x512xf32>', found 'memref<?x?x512xf16>'}}
  tenon.mla_merge parts(%p : memref<?x?x512xf16>) lse(%l : memref<?x?xf32>) out(%o : memref<?x512xbf16>)
  return
}

// -----

// Values of a row lie side by side.
!wide = memref<?x?x512xf32, strided<[?, ?, 2]>>
func.func @f(%p: !wide, %l: memref<?x?xf32>, %o: memref<?x512xbf16>) {
  // expected-error @+1 {{operand 'parts': the stride of dimension 2 must be dense}}
  tenon.mla_merge parts(%p : !wide) lse(%l : memref<?x?xf32>) out(%o : memref<?x512xbf16>)
  return
}

// -----

func.func @f(%p: memref<?x512xf32>, %l: memref<?x?xbf16>, %o: memref<?x512xf32>, %r: index) {
  // expected-error @+1 {{operand 'lse' must be 'memref<?x?xf32>', found 'memref<?x?xbf16>'}}
  tenon.mla_scale part(%p : memref<?x512xf32>) lse(%l : memref<?x?xbf16>) out(%o : memref<?x512xf32>) rank(%r)
  return
}
