// RUN: tenon-opt %s -split-input-file -verify-diagnostics

func.func @f(%w: memref<?x?x64xf4E2M1FN>, %s: memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>, %q: memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  // expected-error @+1 {{operand 'weights' must have 3 dimensions, static but for the first, found 'memref<?x?x64xf4E2M1FN>'}}
  tenon.moe_pack weights(%w : memref<?x?x64xf4E2M1FN>) scales(%s : memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales(%q : memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}

// -----

func.func @f(%w: memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>, %s: memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x96x64xf4E2M1FN>, %q: memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  // expected-error @+1 {{packed and packed_scales must have one #tenon.weight_layout, found}}
  tenon.moe_pack weights(%w : memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>) scales(%s : memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x96x64xf4E2M1FN>) packed_scales(%q : memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}

// -----

func.func @f(%w: memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>, %s: memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>, %q: memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<aiter>>) {
  // expected-error @+1 {{packed and packed_scales must have one #tenon.weight_layout, found}}
  tenon.moe_pack weights(%w : memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>) scales(%s : memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales(%q : memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
  return
}

// -----

func.func @f(%w: memref<?x48x64xf4E2M1FN, strided<[?, 64, 1]>>, %s: memref<?x48x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x48x64xf4E2M1FN, #tenon.weight_layout<aiter>>, %q: memref<?x48x2xf8E8M0FNU, #tenon.weight_layout<aiter>>) {
  // expected-error @+1 {{N must be a positive multiple of 32 and K of 64 up to 8192 in the order 'aiter', found}}
  tenon.moe_pack weights(%w : memref<?x48x64xf4E2M1FN, strided<[?, 64, 1]>>) scales(%s : memref<?x48x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x48x64xf4E2M1FN, #tenon.weight_layout<aiter>>) packed_scales(%q : memref<?x48x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
  return
}

// -----

func.func @f(%w: memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>, %s: memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>, %q: memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  // expected-error @+1 {{N must be a positive multiple of 64 and K of 32 up to 8192 in the order 'packed' of interleaved rows, found}}
  tenon.moe_pack weights(%w : memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>) scales(%s : memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales(%q : memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>) {interleaved}
  return
}

// -----

func.func @f(%w: memref<?x32x8224xf4E2M1FN, strided<[?, 8224, 1]>>, %s: memref<?x32x257xf8E8M0FNU, strided<[?, 257, 1]>>,
    %p: memref<?x32x8224xf4E2M1FN, #tenon.weight_layout<packed>>, %q: memref<?x32x257xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  // expected-error @+1 {{N must be a positive multiple of 1 and K of 32 up to 8192 in the order 'packed', found}}
  tenon.moe_pack weights(%w : memref<?x32x8224xf4E2M1FN, strided<[?, 8224, 1]>>) scales(%s : memref<?x32x257xf8E8M0FNU, strided<[?, 257, 1]>>)
    packed(%p : memref<?x32x8224xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales(%q : memref<?x32x257xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}

// -----

func.func @f(%w: memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>, %s: memref<?x96x3xf8E8M0FNU, strided<[?, 3, 1]>>,
    %p: memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>, %q: memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  // expected-error @+1 {{operand 'scales' must be 'memref<?x96x2xf8E8M0FNU>', found}}
  tenon.moe_pack weights(%w : memref<?x96x64xf4E2M1FN, strided<[?, 64, 1]>>) scales(%s : memref<?x96x3xf8E8M0FNU, strided<[?, 3, 1]>>)
    packed(%p : memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales(%q : memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}

// -----

func.func @f(%w: memref<?x96x64xf4E2M1FN, strided<[?, ?, 1]>>, %s: memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>,
    %p: memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>, %q: memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  // expected-error @+1 {{operand 'weights': the stride of dimension 1 must be dense, found}}
  tenon.moe_pack weights(%w : memref<?x96x64xf4E2M1FN, strided<[?, ?, 1]>>) scales(%s : memref<?x96x2xf8E8M0FNU, strided<[?, 2, 1]>>)
    packed(%p : memref<?x96x64xf4E2M1FN, #tenon.weight_layout<packed>>) packed_scales(%q : memref<?x96x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}
