// The output gate of a Kimi K3 MLA layer at tensor parallelism 8: the attention output
// times the sigmoid of the gate projection, 12 heads of 128 on a rank.
func.func @gemm_mla_gate(
    %x: memref<?x7168xbf16, strided<[?, 1]>>,
    %weights: memref<1536x7168xbf16>,
    %multiplicand: memref<?x1536xbf16, strided<[?, 1]>>,
    %out: memref<?x1536xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x7168xbf16, strided<[?, 1]>>)
    weights(%weights : memref<1536x7168xbf16>)
    multiplicand(%multiplicand : memref<?x1536xbf16, strided<[?, 1]>>)
    out(%out : memref<?x1536xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue sigmoid_gate>}
  return
}
