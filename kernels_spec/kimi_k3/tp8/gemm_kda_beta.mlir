// The raw beta logits of a Kimi K3 KDA layer at tensor parallelism 8: one per head,
// 12 heads on a rank.
func.func @gemm_kda_beta(
    %x: memref<?x7168xbf16, strided<[?, 1]>>,
    %weights: memref<12x7168xbf16>,
    %out: memref<?x12xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x7168xbf16, strided<[?, 1]>>)
    weights(%weights : memref<12x7168xbf16>)
    out(%out : memref<?x12xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>}
  return
}
