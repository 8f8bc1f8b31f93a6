// Tiles of 16 and of 8 bits go from rows in LDS into lanes that hold columns, and from
// there to memory: no value changes, no check finds anything, no bank conflict. Beside
// them another reader takes rows as they are, from the same swizzled buffer.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py make %t.in.npy 8192 bf16
// RUN: %{python} %S/Inputs/arrays.py make %t.bytes.npy 8192 uint8 3
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 128 --arg npy:%t.in.npy --arg npy:%t.bytes.npy \
// RUN:   --arg buf:16384:out=%t.rows.npy --arg buf:16384:out=%t.columns.npy \
// RUN:   --arg buf:8192:out=%t.outbytes.npy --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.rows.npy
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.columns.npy
// RUN: %{python} %S/Inputs/arrays.py same %t.bytes.npy %t.outbytes.npy

// Columns come by transposing reads, none element by element.
// RUN: tenon compile %s --emit isa | FileCheck %s --check-prefix=ISA
// ISA-NOT: ds_read_u
// ISA-DAG: ds_read_b64_tr_b16
// ISA-DAG: ds_read_b64_tr_b8
// ISA-DAG: ds_read_b128
// ISA-NOT: ds_read_u
// ISA: s_endpgm

#rows = #tile.layout<[64, 128],
  register = [[0, 1], [0, 2], [0, 4], [0, 32], [0, 64], [16, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[32, 0]]>
#columns = #tile.layout<[64, 128],
  register = [[1, 0], [2, 0], [16, 0], [0, 16], [0, 32], [32, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [4, 0], [8, 0]], wave = [[0, 64]]>
#bytes = #tile.layout<[64, 128],
  register = [[1, 0], [2, 0], [4, 0], [0, 16], [0, 32], [32, 0]],
  lane = [[0, 1], [0, 2], [0, 4], [0, 8], [8, 0], [16, 0]], wave = [[0, 64]]>

tile.kernel @k(%in: !tile.ptr<bf16>, %inbytes: !tile.ptr<f8E4M3FN>, %rows: !tile.ptr<bf16>,
               %columns: !tile.ptr<bf16>, %outbytes: !tile.ptr<f8E4M3FN>)
    attributes {waves = 2 : i32} {
  %c0 = arith.constant 0 : i32
  %n = arith.constant 16384 : i32
  %m = arith.constant 8192 : i32
  %v = tile.view %in strides [128, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %w = tile.view %inbytes strides [128, 1] bytes %m : !tile.ptr<f8E4M3FN> -> !tile.view<2 x f8E4M3FN>
  %o = tile.view %rows strides [128, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %p = tile.view %columns strides [128, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %q = tile.view %outbytes strides [128, 1] bytes %m : !tile.ptr<f8E4M3FN> -> !tile.view<2 x f8E4M3FN>
  %b = tile.alloc_lds : !tile.lds<64x128xbf16>
  %c = tile.alloc_lds : !tile.lds<64x128xf8E4M3FN>
  %s = tile.copy_to_lds %v[%c0, %c0], %b : !tile.view<2 x bf16>, !tile.lds<64x128xbf16> -> !tile.token
  %t = tile.copy_to_lds %w[%c0, %c0], %c : !tile.view<2 x f8E4M3FN>, !tile.lds<64x128xf8E4M3FN> -> !tile.token
  tile.wait_copies %s : !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %b : !tile.lds<64x128xbf16> -> tensor<64x128xbf16, #rows>
  %y = tile.lds_load %b : !tile.lds<64x128xbf16> -> tensor<64x128xbf16, #columns>
  %z = tile.lds_load %c : !tile.lds<64x128xf8E4M3FN> -> tensor<64x128xf8E4M3FN, #bytes>
  tile.store %x, %o[%c0, %c0] : tensor<64x128xbf16, #rows>, !tile.view<2 x bf16>
  tile.store %y, %p[%c0, %c0] : tensor<64x128xbf16, #columns>, !tile.view<2 x bf16>
  tile.store %z, %q[%c0, %c0] : tensor<64x128xf8E4M3FN, #bytes>, !tile.view<2 x f8E4M3FN>
  tile.return
}
