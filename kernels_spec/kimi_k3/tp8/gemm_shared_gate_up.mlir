// Gate and up of the shared experts of Kimi K3 at tensor parallelism 8, with SiTU:
// 768 columns of each on a rank.
func.func @gemm_shared_gate_up(
    %x: memref<?x7168xbf16, strided<[?, 1]>>,
    %weights: memref<1536x7168xbf16>,
    %out: memref<?x768xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x7168xbf16, strided<[?, 1]>>)
    weights(%weights : memref<1536x7168xbf16>)
    out(%out : memref<?x768xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue situ>, beta = 4.0 : f64, linear_beta = 25.0 : f64}
  return
}
