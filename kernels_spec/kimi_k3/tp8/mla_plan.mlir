// How the histories of a decode step are split, for the MLA layers of all of it: 12 heads
// and up to 4 query tokens per request.
func.func @mla_plan(
    %seq_len: memref<?xi32>,
    %plan: memref<?x4xi32>,
    %cp_rank: index) {
  tenon.mla_plan
    seq_len(%seq_len : memref<?xi32>)
    plan(%plan : memref<?x4xi32>)
    cp_rank(%cp_rank)
    {rows = 48 : i64, workgroups = 256 : i64, cp_size = 1 : i64, cp_interleave = 1 : i64}
  return
}
