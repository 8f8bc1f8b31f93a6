// RUN: tenon-opt %s -split-input-file -verify-diagnostics

func.func @f(%l: memref<?x?xf32>, %i: memref<?x6xi32>, %w: memref<?x6xf32>) {
  // expected-error @+1 {{operand 'logits' must have 2 dimensions, the second one static, found 'memref<?x?xf32>'}}
  tenon.moe_route logits(%l : memref<?x?xf32>) ids(%i : memref<?x6xi32>) weights(%w : memref<?x6xf32>)
    {scoring = #tenon<scoring sigmoid>, renormalize = true, factor = 1.0 : f64}
  return
}

// -----

func.func @f(%l: memref<?x4xf32>, %i: memref<?x6xi32>, %w: memref<?x6xf32>) {
  // expected-error @+1 {{takes 1 to 4096 experts and 1 to 64 of them for a token, found 4 and 6}}
  tenon.moe_route logits(%l : memref<?x4xf32>) ids(%i : memref<?x6xi32>) weights(%w : memref<?x6xf32>)
    {scoring = #tenon<scoring sigmoid>, renormalize = true, factor = 1.0 : f64}
  return
}

// -----

func.func @f(%l: memref<?x8xf32>, %i: memref<?x6xi32>, %w: memref<?x6xf32>) {
  // expected-error @+1 {{factor must be a finite number}}
  tenon.moe_route logits(%l : memref<?x8xf32>) ids(%i : memref<?x6xi32>) weights(%w : memref<?x6xf32>)
    {scoring = #tenon<scoring sigmoid>, renormalize = true, factor = 0x7FF0000000000000 : f64}
  return
}

// -----

func.func @f(%l: memref<?x8xf16>, %i: memref<?x6xi32>, %w: memref<?x6xf32>) {
  // expected-error @+1 {{operand 'logits' must be 'memref<?x8xf32>', found 'memref<?x8xf16>'}}
  tenon.moe_route logits(%l : memref<?x8xf16>) ids(%i : memref<?x6xi32>) weights(%w : memref<?x6xf32>)
    {scoring = #tenon<scoring sigmoid>, renormalize = true, factor = 1.0 : f64}
  return
}

// -----

func.func @f(%l: memref<?x8xf32>, %b: memref<9xf32>, %i: memref<?x6xi32>, %w: memref<?x6xf32>) {
  // expected-error @+1 {{operand 'bias' must be 'memref<8xf32>', found 'memref<9xf32>'}}
  tenon.moe_route logits(%l : memref<?x8xf32>) bias(%b : memref<9xf32>) ids(%i : memref<?x6xi32>) weights(%w : memref<?x6xf32>)
    {scoring = #tenon<scoring sigmoid>, renormalize = true, factor = 1.0 : f64}
  return
}
