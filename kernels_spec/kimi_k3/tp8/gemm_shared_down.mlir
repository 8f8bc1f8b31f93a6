// The down projection of the shared experts of Kimi K3 at tensor parallelism 8.
func.func @gemm_shared_down(
    %x: memref<?x768xbf16, strided<[?, 1]>>,
    %weights: memref<7168x768xbf16>,
    %out: memref<?x7168xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x768xbf16, strided<[?, 1]>>)
    weights(%weights : memref<7168x768xbf16>)
    out(%out : memref<?x7168xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>}
  return
}
