// The fused down projections of q and of keys and values of a Kimi K3 MLA layer:
// 1536 + 576 columns.
func.func @gemm_qkv_a(
    %x: memref<?x7168xbf16, strided<[?, 1]>>,
    %weights: memref<2112x7168xbf16>,
    %out: memref<?x2112xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x7168xbf16, strided<[?, 1]>>)
    weights(%weights : memref<2112x7168xbf16>)
    out(%out : memref<?x2112xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>}
  return
}
