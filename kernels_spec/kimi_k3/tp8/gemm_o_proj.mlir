// The output projection of a Kimi K3 attention layer at tensor parallelism 8: the part
// of the sum that is of the 12 heads of a rank.
func.func @gemm_o_proj(
    %x: memref<?x1536xbf16, strided<[?, 1]>>,
    %weights: memref<7168x1536xbf16>,
    %out: memref<?x7168xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x1536xbf16, strided<[?, 1]>>)
    weights(%weights : memref<7168x1536xbf16>)
    out(%out : memref<?x7168xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>}
  return
}
