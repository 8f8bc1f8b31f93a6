// out[512, 512] = x[512, 1024] w[512, 1024]^T, a tile of 32 x 32 per workgroup.
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @gemm(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %out: !tile.ptr<f32>)
    attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %tile = arith.constant 32 : i32
  %step = arith.constant 128 : i32
  %k = arith.constant 1024 : i32
  %bytes = arith.constant 1048576 : i32
  %xv = tile.view %x strides [1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %wv = tile.view %w strides [1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %ov = tile.view %out strides [512, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %wx = tile.workgroup_id 0
  %wy = tile.workgroup_id 1
  %row = arith.muli %wx, %tile : i32
  %col = arith.muli %wy, %tile : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %acc = scf.for %i = %c0 to %k step %step iter_args(%c = %zero) -> tensor<32x32xf32> : i32 {
    %a = tile.load %xv[%row, %i] {staged} : !tile.view<2 x bf16> -> tensor<32x128xbf16>
    %b = tile.load %wv[%i, %col] {staged} : !tile.view<2 x bf16> -> tensor<128x32xbf16>
    %n = tile.mma %a, %b, %c : tensor<32x128xbf16>, tensor<128x32xbf16>, tensor<32x32xf32>
    scf.yield %n : tensor<32x32xf32>
  } {tile.stages = 4 : i64}
  tile.store %acc, %ov[%row, %col] : tensor<32x32xf32>, !tile.view<2 x f32>
  tile.return
}
}
