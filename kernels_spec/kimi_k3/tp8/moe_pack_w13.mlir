// The gate and up projections of the experts of a Kimi K3 MoE layer at tensor parallelism
// 8, from the checkpoint's order into that of the kernels.
func.func @moe_pack_w13(
    %weights: memref<?x768x3584xf4E2M1FN, strided<[?, 3584, 1]>>,
    %scales: memref<?x768x112xf8E8M0FNU, strided<[?, 112, 1]>>,
    %packed: memref<?x768x3584xf4E2M1FN, #tenon.weight_layout<packed>>,
    %packed_scales: memref<?x768x112xf8E8M0FNU, #tenon.weight_layout<packed>>) {
  tenon.moe_pack
    weights(%weights : memref<?x768x3584xf4E2M1FN, strided<[?, 3584, 1]>>)
    scales(%scales : memref<?x768x112xf8E8M0FNU, strided<[?, 112, 1]>>)
    packed(%packed : memref<?x768x3584xf4E2M1FN, #tenon.weight_layout<packed>>)
    packed_scales(%packed_scales : memref<?x768x112xf8E8M0FNU, #tenon.weight_layout<packed>>)
  return
}
