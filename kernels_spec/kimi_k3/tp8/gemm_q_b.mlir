// The up projection of q of a Kimi K3 MLA layer at tensor parallelism 8: 12 heads of
// 192 on a rank.
func.func @gemm_q_b(
    %x: memref<?x1536xbf16, strided<[?, 1]>>,
    %weights: memref<2304x1536xbf16>,
    %out: memref<?x2304xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x1536xbf16, strided<[?, 1]>>)
    weights(%weights : memref<2304x1536xbf16>)
    out(%out : memref<?x2304xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>}
  return
}
