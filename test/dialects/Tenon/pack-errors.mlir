// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// A copy into rows is no packing.
func.func @f(%w: memref<32x64xbf16>, %p: memref<32x64xbf16>) {
  // expected-error @+1 {{operand 'packed' must have a #tenon.weight_layout, found 'memref<32x64xbf16>'}}
  tenon.pack weights(%w : memref<32x64xbf16>) packed(%p : memref<32x64xbf16>)
  return
}

// -----

!packed = memref<32x64xbf16, #tenon.weight_layout<aiter>>
func.func @f(%w: memref<32x64xbf16>, %p: !packed) {
  // expected-error @+1 {{weights in the order 'aiter' must be f4E2M1FN, found 'bf16'}}
  tenon.pack weights(%w : memref<32x64xbf16>) packed(%p : !packed)
  return
}

// -----

!packed = memref<32x64xf32, #tenon.weight_layout<packed>>
func.func @f(%w: memref<32x64xf32>, %p: !packed) {
  // expected-error @+1 {{packs weights of bf16, f8E4M3FN or f4E2M1FN, found 'f32'}}
  tenon.pack weights(%w : memref<32x64xf32>) packed(%p : !packed)
  return
}

// -----

// A row is a whole number of 16 bytes.
!packed = memref<32x20xbf16, #tenon.weight_layout<packed>>
func.func @f(%w: memref<32x20xbf16>, %p: !packed) {
  // expected-error @+1 {{N must be a positive multiple of 1 and K of 8 in the order 'packed', found 'memref<32x20xbf16>'}}
  tenon.pack weights(%w : memref<32x20xbf16>) packed(%p : !packed)
  return
}

// -----

!packed = memref<32x64xf4E2M1FN, #tenon.weight_layout<packed>>
func.func @f(%w: memref<32x64xf4E2M1FN>, %s: memref<32x2xf8E8M0FNU>, %p: !packed) {
  // expected-error @+1 {{scales and packed_scales go together, with weights of f4E2M1FN}}
  tenon.pack weights(%w : memref<32x64xf4E2M1FN>) scales(%s : memref<32x2xf8E8M0FNU>) packed(%p : !packed)
  return
}

// -----

!packed = memref<32x64xf4E2M1FN, #tenon.weight_layout<packed>>
!scales = memref<32x2xf8E8M0FNU, #tenon.weight_layout<aiter>>
func.func @f(%w: memref<32x64xf4E2M1FN>, %s: memref<32x2xf8E8M0FNU>, %p: !packed, %q: !scales) {
  // expected-error @+1 {{packed and packed_scales must have one layout, found 'memref<32x64xf4E2M1FN, #tenon.weight_layout<packed>>' and 'memref<32x2xf8E8M0FNU, #tenon.weight_layout<aiter>>'}}
  tenon.pack weights(%w : memref<32x64xf4E2M1FN>) scales(%s : memref<32x2xf8E8M0FNU>) packed(%p : !packed) packed_scales(%q : !scales)
  return
}

// -----

!packed = memref<32x32xbf16, #tenon.weight_layout<packed>>
func.func @f(%w: memref<32x64xbf16>, %p: !packed) {
  // expected-error @+1 {{operand 'packed' must be 'memref<32x64xbf16>', found 'memref<32x32xbf16, #tenon.weight_layout<packed>>'}}
  tenon.pack weights(%w : memref<32x64xbf16>) packed(%p : !packed)
  return
}
