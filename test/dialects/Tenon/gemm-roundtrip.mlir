// RUN: tenon-opt %s | tenon-opt | FileCheck %s
// RUN: tenon-opt %s --mlir-print-op-generic | tenon-opt | FileCheck %s

// The least that there is, N and K as they come.
// CHECK-LABEL: func.func @bf16
// CHECK: tenon.gemm x(%{{[^ ]*}} : memref<?x?xbf16, strided<[?, 1]>>)
// CHECK-SAME: weights(%{{[^ ]*}} : memref<?x?xbf16>) out(%{{[^ ]*}} : memref<?x?xbf16, strided<[?, 1]>>)
// CHECK-SAME: {epilogue = #tenon<epilogue none>}
func.func @bf16(%x: memref<?x?xbf16, strided<[?, 1]>>, %weights: memref<?x?xbf16>,
    %out: memref<?x?xbf16, strided<[?, 1]>>) {
  tenon.gemm x(%x : memref<?x?xbf16, strided<[?, 1]>>) weights(%weights : memref<?x?xbf16>)
      out(%out : memref<?x?xbf16, strided<[?, 1]>>) {epilogue = #tenon<epilogue none>}
  return
}

// FP32 scales per row, both ranges, a sum into an FP32 out, static N and K.
// CHECK-LABEL: func.func @fp8
// CHECK: tenon.gemm x(%{{[^ ]*}} : memref<?x48xf8E4M3FN>) weights(%{{[^ ]*}} : memref<7x48xf8E4M3FN>)
// CHECK-SAME: x_scale(%{{[^ ]*}} : memref<?xf32>) weight_scale(%{{[^ ]*}} : memref<7xf32>)
// CHECK-SAME: out(%{{[^ ]*}} : memref<?x7xf32>) columns(%[[CB:[^ ]*]] to %[[CE:[^ )]*]]) rows(%[[RB:[^ ]*]] to %[[RE:[^ )]*]])
// CHECK-SAME: {epilogue = #tenon<epilogue add>}
func.func @fp8(%x: memref<?x48xf8E4M3FN>, %weights: memref<7x48xf8E4M3FN>,
    %x_scale: memref<?xf32>, %weight_scale: memref<7xf32>, %out: memref<?x7xf32>,
    %cb: index, %ce: index, %rb: index, %re: index) {
  tenon.gemm x(%x : memref<?x48xf8E4M3FN>) weights(%weights : memref<7x48xf8E4M3FN>)
      x_scale(%x_scale : memref<?xf32>) weight_scale(%weight_scale : memref<7xf32>)
      out(%out : memref<?x7xf32>) columns(%cb to %ce) rows(%rb to %re)
      {epilogue = #tenon<epilogue add>}
  return
}

// Scales per block, SiTU with its constants, reordered weights; one range.
// CHECK-LABEL: func.func @mxfp4
// CHECK: weights(%{{[^ ]*}} : memref<64x128xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>)
// CHECK-SAME: x_scale(%{{[^ ]*}} : memref<?x4xf8E8M0FNU, strided<[?, 1]>>)
// CHECK-SAME: weight_scale(%{{[^ ]*}} : memref<64x4xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>)
// CHECK-SAME: out(%{{[^ ]*}} : memref<?x32xbf16>) rows(%{{[^ ]*}} to %{{[^ ]*}})
// CHECK-SAME: {beta = 4.000000e+00 : f64, epilogue = #tenon<epilogue situ>, linear_beta = 2.500000e+01 : f64}
func.func @mxfp4(%x: memref<?x128xf4E2M1FN>,
    %weights: memref<64x128xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>,
    %x_scale: memref<?x4xf8E8M0FNU, strided<[?, 1]>>,
    %weight_scale: memref<64x4xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>,
    %out: memref<?x32xbf16>, %rb: index, %re: index) {
  tenon.gemm x(%x : memref<?x128xf4E2M1FN>)
      weights(%weights : memref<64x128xf4E2M1FN, #tenon.weight_layout<aiter_interleaved>>)
      x_scale(%x_scale : memref<?x4xf8E8M0FNU, strided<[?, 1]>>)
      weight_scale(%weight_scale : memref<64x4xf8E8M0FNU, #tenon.weight_layout<aiter_interleaved>>)
      out(%out : memref<?x32xbf16>) rows(%rb to %re)
      {epilogue = #tenon<epilogue situ>, beta = 4.0 : f64, linear_beta = 25.0 : f64}
  return
}

// Activations of 8 bits with weights of 4, SiLU, K that varies.
// CHECK-LABEL: func.func @mxfp8_mxfp4
// CHECK: weights(%{{[^ ]*}} : memref<64x?xf4E2M1FN, #tenon.weight_layout<packed>>)
// CHECK: {epilogue = #tenon<epilogue silu>}
func.func @mxfp8_mxfp4(%x: memref<?x?xf8E4M3FN>,
    %weights: memref<64x?xf4E2M1FN, #tenon.weight_layout<packed>>,
    %x_scale: memref<?x?xf8E8M0FNU>,
    %weight_scale: memref<64x?xf8E8M0FNU, #tenon.weight_layout<packed>>,
    %out: memref<?x32xbf16>) {
  tenon.gemm x(%x : memref<?x?xf8E4M3FN>)
      weights(%weights : memref<64x?xf4E2M1FN, #tenon.weight_layout<packed>>)
      x_scale(%x_scale : memref<?x?xf8E8M0FNU>)
      weight_scale(%weight_scale : memref<64x?xf8E8M0FNU, #tenon.weight_layout<packed>>)
      out(%out : memref<?x32xbf16>) {epilogue = #tenon<epilogue silu>}
  return
}

// Weights alone are scaled; a gate beside the products; weights in AITER's order.
// CHECK-LABEL: func.func @bf16_mxfp4
// CHECK: weight_scale(%{{[^ ]*}} : memref<48x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
// CHECK-SAME: multiplicand(%{{[^ ]*}} : memref<?x48xbf16, strided<[?, 1]>>)
// CHECK: {epilogue = #tenon<epilogue sigmoid_gate>}
func.func @bf16_mxfp4(%x: memref<?x64xbf16>,
    %weights: memref<48x64xf4E2M1FN, #tenon.weight_layout<aiter>>,
    %weight_scale: memref<48x2xf8E8M0FNU, #tenon.weight_layout<aiter>>,
    %multiplicand: memref<?x48xbf16, strided<[?, 1]>>, %out: memref<?x48xbf16>) {
  tenon.gemm x(%x : memref<?x64xbf16>)
      weights(%weights : memref<48x64xf4E2M1FN, #tenon.weight_layout<aiter>>)
      weight_scale(%weight_scale : memref<48x2xf8E8M0FNU, #tenon.weight_layout<aiter>>)
      multiplicand(%multiplicand : memref<?x48xbf16, strided<[?, 1]>>)
      out(%out : memref<?x48xbf16>) {epilogue = #tenon<epilogue sigmoid_gate>}
  return
}

// Scalars of a plan.
// CHECK-LABEL: tenon.plan @range operands [] scalars ["begin", "end"] {
// CHECK-NEXT: %[[B:[^ ]*]] = tenon.scalar "begin"
// CHECK-NEXT: %[[E:[^ ]*]] = tenon.scalar "end"
// CHECK-NEXT: tenon.require sle, %[[B]], %[[E]], "in order"
tenon.plan @range operands [] scalars ["begin", "end"] {
  %b = tenon.scalar "begin"
  %e = tenon.scalar "end"
  tenon.require sle, %b, %e, "in order"
}
