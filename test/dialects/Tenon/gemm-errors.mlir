// RUN: tenon-opt %s -split-input-file -verify-diagnostics

// Products are of these types.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xf8E4M3FN>, %out: memref<?x24xbf16>) {
  // expected-error-re @+1 {{x and weights must be bf16 and bf16, {{.*}}; found 'bf16' and 'f8E4M3FN'}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xf8E4M3FN>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Other floats are no activations.
func.func @f(%x: memref<?x16xf32>, %weights: memref<24x16xf32>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{found 'f32' and 'f32'}}
  tenon.gemm x(%x : memref<?x16xf32>) weights(%weights : memref<24x16xf32>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// One matrix each.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<2x24x16xbf16>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{operand 'weights' must have 2 dimensions, found 'memref<2x24x16xbf16>'}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<2x24x16xbf16>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// M is no part of the code.
func.func @f(%x: memref<4x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{M varies from call to call: the first size of operand 'x' must be '?', found 'memref<4x16xbf16>'}}
  tenon.gemm x(%x : memref<4x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Rows of bf16 are read by 16 bytes.
func.func @f(%x: memref<?x12xbf16>, %weights: memref<24x12xbf16>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{K must be a positive multiple of 8 for 'bf16' x 'bf16', found 12}}
  tenon.gemm x(%x : memref<?x12xbf16>) weights(%weights : memref<24x12xbf16>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// A product over nothing.
func.func @f(%x: memref<?x0xbf16>, %weights: memref<24x0xbf16>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{K must be a positive multiple of 8 for 'bf16' x 'bf16', found 0}}
  tenon.gemm x(%x : memref<?x0xbf16>) weights(%weights : memref<24x0xbf16>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Rows of fp8 are read by 16 bytes.
func.func @f(%x: memref<?x24xf8E4M3FN>, %weights: memref<24x24xf8E4M3FN>, %x_scale: memref<?xf32>,
    %weight_scale: memref<24xf32>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{K must be a positive multiple of 16 for 'f8E4M3FN' x 'f8E4M3FN', found 24}}
  tenon.gemm x(%x : memref<?x24xf8E4M3FN>) weights(%weights : memref<24x24xf8E4M3FN>)
      x_scale(%x_scale : memref<?xf32>) weight_scale(%weight_scale : memref<24xf32>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Blocks of scales are whole.
func.func @f(%x: memref<?x48xf4E2M1FN>, %weights: memref<24x48xf4E2M1FN>,
    %x_scale: memref<?x2xf8E8M0FNU>, %weight_scale: memref<24x2xf8E8M0FNU>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{K must be a positive multiple of 32 for 'f4E2M1FN' x 'f4E2M1FN', found 48}}
  tenon.gemm x(%x : memref<?x48xf4E2M1FN>) weights(%weights : memref<24x48xf4E2M1FN>)
      x_scale(%x_scale : memref<?x2xf8E8M0FNU>)
      weight_scale(%weight_scale : memref<24x2xf8E8M0FNU>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Both know K, or neither.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<?x?xbf16>, %out: memref<?x?xbf16>) {
  // expected-error @+1 {{operand 'weights' must be 'memref<?x16xbf16>', found 'memref<?x?xbf16>'}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<?x?xbf16>)
      out(%out : memref<?x?xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// A row of weights gives a column of out.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x16xbf16>) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x24xbf16>', found 'memref<?x16xbf16>'}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x16xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Results are bf16 or f32.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x24xf16>) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x24xbf16>', found 'memref<?x24xf16>'}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x24xf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Gate and up share the rows of weights.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{operand 'out' must be 'memref<?x12xbf16>', found 'memref<?x24xbf16>'}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue silu>}
  return
}

// -----

// Gate and up are halves.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<25x16xbf16>, %out: memref<?x12xbf16>) {
  // expected-error @+1 {{N must be a positive multiple of 2, half gate and half up, found 25}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<25x16xbf16>)
      out(%out : memref<?x12xbf16>) {epilogue = #tenon<epilogue silu>}
  return
}

// -----

// Elements of a row are contiguous.
func.func @f(%x: memref<?x16xbf16, strided<[32, 2]>>, %weights: memref<24x16xbf16>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{operand 'x': the stride of dimension 1 must be dense}}
  tenon.gemm x(%x : memref<?x16xbf16, strided<[32, 2]>>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Offsets belong to the address.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>,
    %out: memref<?x24xbf16, strided<[?, 1], offset: 4>>) {
  // expected-error @+1 {{operand 'out' must be strided from offset 0}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x24xbf16, strided<[?, 1], offset: 4>>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// bf16 has no scales.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %x_scale: memref<?xf32>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{x_scale must be absent: x is bf16 and weights are bf16}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      x_scale(%x_scale : memref<?xf32>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}

// -----

// fp8 has two.
func.func @f(%x: memref<?x16xf8E4M3FN>, %weights: memref<24x16xf8E4M3FN>, %x_scale: memref<?xf32>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{weight_scale must be present: x is f8E4M3FN and weights are f8E4M3FN}}
  tenon.gemm x(%x : memref<?x16xf8E4M3FN>) weights(%weights : memref<24x16xf8E4M3FN>)
      x_scale(%x_scale : memref<?xf32>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}

// -----

// bf16 by fp4 has one.
func.func @f(%x: memref<?x64xbf16>, %weights: memref<24x64xf4E2M1FN>,
    %x_scale: memref<?x2xf8E8M0FNU>, %weight_scale: memref<24x2xf8E8M0FNU>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{x_scale must be absent: x is bf16 and weights are f4E2M1FN}}
  tenon.gemm x(%x : memref<?x64xbf16>) weights(%weights : memref<24x64xf4E2M1FN>)
      x_scale(%x_scale : memref<?x2xf8E8M0FNU>)
      weight_scale(%weight_scale : memref<24x2xf8E8M0FNU>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}

// -----

// fp8 by fp8 is scaled by rows.
func.func @f(%x: memref<?x64xf8E4M3FN>, %weights: memref<24x64xf8E4M3FN>,
    %x_scale: memref<?x2xf8E8M0FNU>, %weight_scale: memref<24xf32>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{operand 'x_scale' must be 'memref<?xf32>', found 'memref<?x2xf8E8M0FNU>'}}
  tenon.gemm x(%x : memref<?x64xf8E4M3FN>) weights(%weights : memref<24x64xf8E4M3FN>)
      x_scale(%x_scale : memref<?x2xf8E8M0FNU>) weight_scale(%weight_scale : memref<24xf32>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// A scale per 32 elements.
func.func @f(%x: memref<?x128xbf16>, %weights: memref<24x128xf4E2M1FN>,
    %weight_scale: memref<24x2xf8E8M0FNU>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{operand 'weight_scale' must be 'memref<24x4xf8E8M0FNU>', found 'memref<24x2xf8E8M0FNU>'}}
  tenon.gemm x(%x : memref<?x128xbf16>) weights(%weights : memref<24x128xf4E2M1FN>)
      weight_scale(%weight_scale : memref<24x2xf8E8M0FNU>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}

// -----

// A gate by what?
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{multiplicand must be present: the epilogue is sigmoid_gate}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue sigmoid_gate>}
  return
}

// -----

// Nothing to multiply.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %multiplicand: memref<?x24xbf16>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{multiplicand must be absent: the epilogue is add}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      multiplicand(%multiplicand : memref<?x24xbf16>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue add>}
  return
}

// -----

// The multiplicand is an activation.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %multiplicand: memref<?x24xf32>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{operand 'multiplicand' must be 'memref<?x24xbf16>', found 'memref<?x24xf32>'}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      multiplicand(%multiplicand : memref<?x24xf32>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue sigmoid_gate>}
  return
}

// -----

// SiTU has no defaults: a forgotten constant would be a silent error.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x12xbf16>) {
  // expected-error @+1 {{beta and linear_beta must be present: the epilogue is situ}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x12xbf16>) {epilogue = #tenon<epilogue situ>, beta = 4.0 : f64}
  return
}

// -----

// SiLU has no constants.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x12xbf16>) {
  // expected-error @+1 {{beta and linear_beta must be absent: the epilogue is silu}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x12xbf16>) {epilogue = #tenon<epilogue silu>, beta = 4.0 : f64}
  return
}

// -----

// They divide.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x12xbf16>) {
  // expected-error @+1 {{beta and linear_beta must be positive, found 0}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x12xbf16>)
      {epilogue = #tenon<epilogue situ>, beta = 4.0 : f64, linear_beta = 0.0 : f64}
  return
}

// -----

// NaN is not positive.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x12xbf16>) {
  // expected-error @+1 {{beta and linear_beta must be positive, found}}
  tenon.gemm x(%x : memref<?x16xbf16>) weights(%weights : memref<24x16xbf16>)
      out(%out : memref<?x12xbf16>)
      {epilogue = #tenon<epilogue situ>, beta = 0x7FF8000000000000 : f64, linear_beta = 1.0 : f64}
  return
}

// -----

// Scales are in the order of their weights.
func.func @f(%x: memref<?x64xbf16>, %weights: memref<32x64xf4E2M1FN, #tenon.weight_layout<aiter>>,
    %weight_scale: memref<32x2xf8E8M0FNU>, %out: memref<?x32xbf16>) {
  // expected-error @+1 {{weights and weight_scale must have one layout}}
  tenon.gemm x(%x : memref<?x64xbf16>)
      weights(%weights : memref<32x64xf4E2M1FN, #tenon.weight_layout<aiter>>)
      weight_scale(%weight_scale : memref<32x2xf8E8M0FNU>) out(%out : memref<?x32xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Not in another.
func.func @f(%x: memref<?x64xbf16>, %weights: memref<32x64xf4E2M1FN, #tenon.weight_layout<aiter>>,
    %weight_scale: memref<32x2xf8E8M0FNU, #tenon.weight_layout<packed>>, %out: memref<?x32xbf16>) {
  // expected-error @+1 {{weights and weight_scale must have one layout}}
  tenon.gemm x(%x : memref<?x64xbf16>)
      weights(%weights : memref<32x64xf4E2M1FN, #tenon.weight_layout<aiter>>)
      weight_scale(%weight_scale : memref<32x2xf8E8M0FNU, #tenon.weight_layout<packed>>)
      out(%out : memref<?x32xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Activations are row-major.
func.func @f(%x: memref<?x16xbf16, #tenon.weight_layout<packed>>, %weights: memref<24x16xbf16>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{operand 'x' must be strided from offset 0}}
  tenon.gemm x(%x : memref<?x16xbf16, #tenon.weight_layout<packed>>)
      weights(%weights : memref<24x16xbf16>) out(%out : memref<?x24xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}

// -----

// The order is of bytes of fp4.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16, #tenon.weight_layout<aiter>>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{weights in the order 'aiter' must be f4E2M1FN, found 'bf16'}}
  tenon.gemm x(%x : memref<?x16xbf16>)
      weights(%weights : memref<24x16xbf16, #tenon.weight_layout<aiter>>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Tiles of 16 rows.
func.func @f(%x: memref<?x64xbf16>, %weights: memref<24x64xf4E2M1FN, #tenon.weight_layout<aiter>>,
    %weight_scale: memref<24x2xf8E8M0FNU, #tenon.weight_layout<aiter>>, %out: memref<?x24xbf16>) {
  // expected-error @+1 {{weights in the order 'aiter' need N a multiple of 16 and K a multiple of 64, found 'memref<24x64xf4E2M1FN, #tenon.weight_layout<aiter>>'}}
  tenon.gemm x(%x : memref<?x64xbf16>)
      weights(%weights : memref<24x64xf4E2M1FN, #tenon.weight_layout<aiter>>)
      weight_scale(%weight_scale : memref<24x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Tiles of 64 along K.
func.func @f(%x: memref<?x96xbf16>, %weights: memref<32x96xf4E2M1FN, #tenon.weight_layout<aiter>>,
    %weight_scale: memref<32x3xf8E8M0FNU, #tenon.weight_layout<aiter>>, %out: memref<?x32xbf16>) {
  // expected-error @+1 {{need N a multiple of 16 and K a multiple of 64, found 'memref<32x96}}
  tenon.gemm x(%x : memref<?x96xbf16>)
      weights(%weights : memref<32x96xf4E2M1FN, #tenon.weight_layout<aiter>>)
      weight_scale(%weight_scale : memref<32x3xf8E8M0FNU, #tenon.weight_layout<aiter>>)
      out(%out : memref<?x32xbf16>) {epilogue = #tenon<epilogue none>}
  return
}

// -----

// Pairs of tiles, gate and up.
func.func @f(%x: memref<?x64xbf16>,
    %weights: memref<48x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>,
    %weight_scale: memref<48x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>,
    %out: memref<?x24xbf16>) {
  // expected-error @+1 {{weights in the order 'aiter_interleaved' need N a multiple of 32}}
  tenon.gemm x(%x : memref<?x64xbf16>)
      weights(%weights : memref<48x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>)
      weight_scale(%weight_scale : memref<48x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>)
      out(%out : memref<?x24xbf16>) {epilogue = #tenon<epilogue silu>}
  return
}

// -----

// There is nothing to interleave.
func.func @f(%x: memref<?x64xbf16>,
    %weights: memref<32x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>,
    %weight_scale: memref<32x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>,
    %out: memref<?x32xbf16>) {
  // expected-error @+1 {{weights in the order 'aiter_interleaved' need an epilogue situ or silu, found add}}
  tenon.gemm x(%x : memref<?x64xbf16>)
      weights(%weights : memref<32x64xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>)
      weight_scale(%weight_scale : memref<32x2xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>)
      out(%out : memref<?x32xbf16>) {epilogue = #tenon<epilogue add>}
  return
}

// -----

// A range has two ends.
func.func @f(%x: memref<?x16xbf16>, %weights: memref<24x16xbf16>, %out: memref<?x24xbf16>,
    %b: index) {
  // expected-error @+1 {{a range of columns or rows has a begin and an end}}
  "tenon.gemm"(%x, %weights, %out, %b) <{epilogue = #tenon<epilogue none>,
      operandSegmentSizes = array<i32: 1, 1, 0, 0, 0, 1, 1, 0, 0, 0>}>
      : (memref<?x16xbf16>, memref<24x16xbf16>, memref<?x24xbf16>, index) -> ()
  return
}

// -----

// Weights are a matrix, or one for each expert.
// expected-error @+1 {{weights have 2 dimensions [N, K], or 3 with experts in front, found 4}}
func.func @f(%weights: memref<2x2x24x16xbf16, #tenon.weight_layout<packed>>) {
  return
}

// -----

// Scales of x are row-major or packed.
func.func @f(%x: memref<?x64xf4E2M1FN>, %weights: memref<32x64xf4E2M1FN>,
    %x_scale: memref<?x2xf8E8M0FNU, #tenon.weight_layout<aiter>>,
    %weight_scale: memref<32x2xf8E8M0FNU>, %out: memref<?x32xbf16>) {
  // expected-error @+1 {{x_scale is row-major or packed, found 'memref<?x2xf8E8M0FNU, #tenon.weight_layout<aiter>>'}}
  tenon.gemm x(%x : memref<?x64xf4E2M1FN>) weights(%weights : memref<32x64xf4E2M1FN>)
      x_scale(%x_scale : memref<?x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
      weight_scale(%weight_scale : memref<32x2xf8E8M0FNU>) out(%out : memref<?x32xbf16>)
      {epilogue = #tenon<epilogue none>}
  return
}
