// The projection of Kimi K3 out of the latent space of the routed experts. At tensor
// parallelism 8 rank r computes the columns 896 r .. 896 r + 895 and adds them to its
// part of the output of the shared experts; the all-reduce puts the slices together.
func.func @gemm_latent_up(
    %x: memref<?x3584xbf16, strided<[?, 1]>>,
    %weights: memref<7168x3584xbf16>,
    %out: memref<?x7168xbf16, strided<[?, 1]>>,
    %col_begin: index,
    %col_end: index) {
  tenon.gemm
    x(%x : memref<?x3584xbf16, strided<[?, 1]>>)
    weights(%weights : memref<7168x3584xbf16>)
    out(%out : memref<?x7168xbf16, strided<[?, 1]>>)
    columns(%col_begin to %col_end) {epilogue = #tenon<epilogue add>}
  return
}
