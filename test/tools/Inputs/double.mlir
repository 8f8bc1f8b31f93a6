tile.kernel @double(%in: !tile.ptr<f32>, %out: !tile.ptr<f32>, %bytes: i32)
    attributes {waves = 1 : i32} {
  %zero = arith.constant 0 : i32
  %from = tile.view %in strides [1] bytes %bytes : !tile.ptr<f32> -> !tile.view<1 x f32>
  %to = tile.view %out strides [1] bytes %bytes : !tile.ptr<f32> -> !tile.view<1 x f32>
  %x = tile.load %from[%zero] : !tile.view<1 x f32> -> tensor<256xf32>
  %y = arith.addf %x, %x : tensor<256xf32>
  tile.store %y, %to[%zero] : tensor<256xf32>, !tile.view<1 x f32>
  tile.return
}
