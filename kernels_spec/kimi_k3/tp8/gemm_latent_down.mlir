// The projection of Kimi K3 into the latent space of the routed experts.
func.func @gemm_latent_down(
    %x: memref<?x7168xbf16, strided<[?, 1]>>,
    %weights: memref<3584x7168xbf16>,
    %out: memref<?x3584xbf16, strided<[?, 1]>>) {
  tenon.gemm
    x(%x : memref<?x7168xbf16, strided<[?, 1]>>)
    weights(%weights : memref<3584x7168xbf16>)
    out(%out : memref<?x3584xbf16, strided<[?, 1]>>)
    {epilogue = #tenon<epilogue none>}
  return
}
