// The chunks of the prompts of a step, for the KDA layers of all of them.
func.func @kda_plan(
    %cu_seqlens: memref<?xi32>,
    %plan: memref<?x4xi32>) {
  tenon.kda_plan
    cu_seqlens(%cu_seqlens : memref<?xi32>)
    plan(%plan : memref<?x4xi32>)
  return
}
