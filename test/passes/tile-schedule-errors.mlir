// RUN: tenon-opt %s -split-input-file -verify-diagnostics --pass-pipeline='builtin.module(tile.kernel(tile-schedule))'

// expected-error @+1 {{has no schedule "pong": expected "none", "interleave", "prefetch", "balanced" or "ping-pong"}}
tile.kernel @k() attributes {waves = 4 : i32, tile.schedule = "pong"} {
  tile.return
}

// -----

// Two groups of four waves take turns, and these are four.

#sums = #tile.layout<[64, 64], register = [[0, 1], [0, 2], [0, 8], [0, 16]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 4]], wave = [[32, 0], [0, 32]]>
#lhs = #tile.layout<[64, 32], register = [[0, 1], [0, 2], [0, 4], [0, 16]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0], [0, 8]], wave = [[32, 0], [0, 0]]>
#rhs = #tile.layout<[32, 64], register = [[1, 0], [2, 0], [4, 0], [16, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [8, 0]], wave = [[0, 0], [0, 32]]>
!b = !tile.lds<32x64xbf16, #tile.lds_layout<[32, 64] of 16 bits, strides = [1, 32]>>

module attributes {tile.target = #tile.target<"gfx950">} {
// expected-error @+1 {{has no schedule "ping-pong": expected 8 waves and a loop that carries sums, of products whose operands come from LDS, with one barrier for each step; found 4 waves and other products}}
tile.kernel @four(%p: !tile.ptr<bf16>, %n: i32) attributes {waves = 4 : i32, tile.schedule = "ping-pong"} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %p strides [32, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #sums>
  %a = tile.alloc_lds at 0 : !tile.lds<64x32xbf16>
  %b = tile.alloc_lds at 4096 : !b
  %a2 = tile.alloc_lds at 8192 : !tile.lds<128x32xbf16>
  %t = tile.copy_to_lds %v[%c0, %c0], %a2 : !tile.view<2 x bf16>, !tile.lds<128x32xbf16> -> !tile.token
  %x = tile.lds_load %a : !tile.lds<64x32xbf16> -> tensor<64x32xbf16, #lhs>
  %y = tile.lds_load %b : !b -> tensor<32x64xbf16, #rhs>
  %z = tile.mma %x, %y, %zero {instruction = array<i64: 32, 16>}
      : tensor<64x32xbf16, #lhs>, tensor<32x64xbf16, #rhs>, tensor<64x64xf32, #sums>
  tile.wait_copies %t : !tile.token
  tile.return
}
}
