// out[512, 512] = x[512, 1024] w[512, 1024]^T, a tile of 32 x 32 per workgroup, whose waves
// share the contraction.
#shared = #tile.layout<[4, 32, 32],
  register = [[0, 0, 1], [0, 0, 2], [1, 0, 0], [2, 0, 0]],
  lane = [[0, 0, 4], [0, 0, 8], [0, 0, 16], [0, 1, 0], [0, 2, 0], [0, 4, 0]],
  wave = [[0, 8, 0], [0, 16, 0]]>
#padded = #tile.lds_layout<[4, 32, 32] of 32 bits, strides = [1024, 32, 1], padding = 16 after 128>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @gemm(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %out: !tile.ptr<f32>)
    attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %tile = arith.constant 32 : i32
  %step = arith.constant 256 : i32
  %k = arith.constant 1024 : i32
  %bytes = arith.constant 1048576 : i32
  %xv = tile.view %x strides [64, 1024, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<3 x bf16>
  %wv = tile.view %w strides [64, 1, 1024] bytes %bytes : !tile.ptr<bf16> -> !tile.view<3 x bf16>
  %ov = tile.view %out strides [512, 1] bytes %bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %wx = tile.workgroup_id 0
  %wy = tile.workgroup_id 1
  %row = arith.muli %wx, %tile : i32
  %col = arith.muli %wy, %tile : i32
  %zero = arith.constant dense<0.0> : tensor<4x32x32xf32>
  %acc = scf.for %i = %c0 to %k step %step iter_args(%c = %zero) -> tensor<4x32x32xf32> : i32 {
    %a = tile.load %xv[%c0, %row, %i] : !tile.view<3 x bf16> -> tensor<4x32x64xbf16>
    %b = tile.load %wv[%c0, %i, %col] : !tile.view<3 x bf16> -> tensor<4x64x32xbf16>
    %n = tile.mma %a, %b, %c {waves = array<i64: 1, 1, 4>} : tensor<4x32x64xbf16>, tensor<4x64x32xbf16>, tensor<4x32x32xf32>
    scf.yield %n : tensor<4x32x32xf32>
  } {tile.stages = 2 : i64}
  %sums = tile.alloc_lds : !tile.lds<4x32x32xf32, #padded>
  tile.lds_store %acc, %sums : tensor<4x32x32xf32>, !tile.lds<4x32x32xf32, #padded>
  %slices = tile.lds_load %sums : !tile.lds<4x32x32xf32, #padded> -> tensor<4x32x32xf32, #shared>
  %sum = tile.reduce add %slices dims [0] : tensor<4x32x32xf32, #shared> -> tensor<32x32xf32>
  tile.store %sum, %ov[%row, %col] : tensor<32x32xf32>, !tile.view<2 x f32>
  tile.return
}
}
