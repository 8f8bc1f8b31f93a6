// The down projections of the experts of a Kimi K3 MoE layer at tensor parallelism
// 8, from the checkpoint's order into that of the kernels.
func.func @moe_pack_w2(
    %weights: memref<?x3584x384xf4E2M1FN, strided<[?, 384, 1]>>,
    %scales: memref<?x3584x12xf8E8M0FNU, strided<[?, 12, 1]>>,
    %packed: memref<?x3584x384xf4E2M1FN, #tenon.weight_layout<packed>>,
    %packed_scales: memref<?x3584x12xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  tenon.moe_pack
    weights(%weights : memref<?x3584x384xf4E2M1FN, strided<[?, 384, 1]>>)
    scales(%scales : memref<?x3584x12xf8E8M0FNU, strided<[?, 12, 1]>>)
    packed(%packed : memref<?x3584x384xf4E2M1FN, #tenon.weight_layout<packed>>)
    packed_scales(%packed_scales : memref<?x3584x12xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}
