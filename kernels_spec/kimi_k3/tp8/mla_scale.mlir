// A rank's part of a Kimi K3 MLA layer under context parallelism, weighted for the
// reduce-scatter that adds up the parts of all ranks.
func.func @mla_scale(
    %part: memref<?x512xbf16, strided<[?, 1]>>,
    %lse: memref<?x?xf32, strided<[?, ?]>>,
    %out: memref<?x512xf32, strided<[?, 1]>>,
    %merged_lse: memref<?xf32, strided<[?]>>,
    %rank: index) {
  tenon.mla_scale
    part(%part : memref<?x512xbf16, strided<[?, 1]>>)
    lse(%lse : memref<?x?xf32, strided<[?, ?]>>)
    out(%out : memref<?x512xf32, strided<[?, 1]>>)
    merged_lse(%merged_lse : memref<?xf32, strided<[?]>>)
    rank(%rank)
  return
}
