// The results of a Kimi K3 MLA layer over the ranks of a context-parallel group, as an
// all-gather or an all-to-all leaves them: FP32 parts of 512 columns.
func.func @mla_merge(
    %parts: memref<?x?x512xf32, strided<[?, ?, 1]>>,
    %lse: memref<?x?xf32, strided<[?, ?]>>,
    %out: memref<?x512xbf16, strided<[?, 1]>>,
    %merged_lse: memref<?xf32, strided<[?]>>) {
  tenon.mla_merge
    parts(%parts : memref<?x?x512xf32, strided<[?, ?, 1]>>)
    lse(%lse : memref<?x?xf32, strided<[?, ?]>>)
    out(%out : memref<?x512xbf16, strided<[?, 1]>>)
    merged_lse(%merged_lse : memref<?xf32, strided<[?]>>)
  return
}
