// Attention of a Kimi K3 MLA layer at tensor parallelism 8 in a decode or verify step: 12
// of 96 heads on a rank, up to 4 query tokens per request, no rotary embedding.
func.func @mla_decode(
    %q: memref<?x?x12x576xbf16, strided<[?, ?, ?, 1]>>,
    %kv: memref<?x?x576xbf16, strided<[?, ?, 1]>>,
    %block_table: memref<?x?xi32, strided<[?, 1]>>,
    %seq_len: memref<?xi32>,
    %out: memref<?x?x12x512xbf16, strided<[?, ?, ?, 1]>>,
    %lse: memref<?x?x12xf32, strided<[?, ?, 1]>>,
    %cp_rank: index) {
  tenon.mla_decode
    q(%q : memref<?x?x12x576xbf16, strided<[?, ?, ?, 1]>>)
    kv(%kv : memref<?x?x576xbf16, strided<[?, ?, 1]>>)
    block_table(%block_table : memref<?x?xi32, strided<[?, 1]>>)
    seq_len(%seq_len : memref<?xi32>)
    out(%out : memref<?x?x12x512xbf16, strided<[?, ?, ?, 1]>>)
    lse(%lse : memref<?x?x12xf32, strided<[?, ?, 1]>>)
    cp_rank(%cp_rank)
    {max_queries = 4 : i64, causal = true, scale = 0.07216878364870322 : f64,
     cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}
