// The weights of the up projection of q of a Kimi K3 MLA layer at tensor parallelism 8,
// from the checkpoint's order into that of the kernels.
func.func @pack_q_b(
    %weights: memref<2304x1536xbf16>,
    %packed: memref<2304x1536xbf16, #tenon.weight_layout<packed>>) {
  tenon.pack
    weights(%weights : memref<2304x1536xbf16>)
    packed(%packed : memref<2304x1536xbf16, #tenon.weight_layout<packed>>)
  return
}
