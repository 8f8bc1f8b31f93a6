// The router of a Kimi K3 MoE layer: FP32 logits of 896 experts.
func.func @gemm_router(
    %x: memref<?x7168xbf16, strided<[?, 1]>>,
    %weights: memref<896x7168xbf16>,
    %out: memref<?x896xf32, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x7168xbf16, strided<[?, 1]>>)
    weights(%weights : memref<896x7168xbf16>)
    out(%out : memref<?x896xf32, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>}
  return
}
