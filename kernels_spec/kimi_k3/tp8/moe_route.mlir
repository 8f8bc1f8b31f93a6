// The router of a Kimi K3 MoE layer: 16 of 896 experts by sigmoid scores and a
// correction bias, weights that add up to 1.
func.func @moe_route(
    %logits: memref<?x896xf32, strided<[?, 1]>>,
    %bias: memref<896xf32>,
    %ids: memref<?x16xi32>,
    %weights: memref<?x16xf32>) {
  tenon.moe_route
    logits(%logits : memref<?x896xf32, strided<[?, 1]>>)
    bias(%bias : memref<896xf32>)
    ids(%ids : memref<?x16xi32>)
    weights(%weights : memref<?x16xf32>)
    {scoring = #tenon<scoring sigmoid>, renormalize = true, factor = 1.0 : f64}
  return
}
