// Places in LDS beyond 64 KiB are out of the reach of an instruction's constant: stage 5
// of buffers of 16 KiB, known when the program is written, and stage 4, known when it runs.
// Two registers with addresses for each, the rest are constants again.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py make %t.in.npy 8192 bf16
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg buf:16384:out=%t.known.npy \
// RUN:   --arg buf:16384:out=%t.later.npy --arg i32:4 --stats-json %t.json \
// RUN:   | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.known.npy
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.later.npy
// RUN: tenon compile %s --emit isa -o %t.s
// RUN: grep -E 'ds_read' %t.s | FileCheck %s --check-prefix=READS
// READS-COUNT-8: ds_read_b128 v[{{[0-9:]+}}], v{{[0-9]+}} offset:{{16384|18432|20480|22528}}
// READS-COUNT-8: ds_read_b128
// READS-NOT: ds_read

#read = #tile.layout<[128, 64],
  register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0], [32, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[64, 0], [0, 0]]>
#swizzled = #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
  swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32, bit 3 of 0 flips 64]>
!stages = !tile.lds<128x64xbf16, #swizzled, stages = 6>
!stage = !tile.lds<128x64xbf16, #swizzled>

tile.kernel @k(%in: !tile.ptr<bf16>, %known: !tile.ptr<bf16>, %later: !tile.ptr<bf16>, %i: i32)
    attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c5 = arith.constant 5 : i32
  %bytes = arith.constant 16384 : i32
  %v = tile.view %in strides [64, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %ok = tile.view %known strides [64, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %ol = tile.view %later strides [64, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !stages
  %s5 = tile.lds_stage %b[%c5] : !stages -> !stage
  %si = tile.lds_stage %b[%i] : !stages -> !stage
  %t = tile.copy_to_lds %v[%c0, %c0], %s5 : !tile.view<2 x bf16>, !stage -> !tile.token
  %u = tile.copy_to_lds %v[%c0, %c0], %si : !tile.view<2 x bf16>, !stage -> !tile.token
  tile.wait_copies %t, %u : !tile.token, !tile.token
  %x = tile.lds_load %s5 : !stage -> tensor<128x64xbf16, #read>
  %y = tile.lds_load %si : !stage -> tensor<128x64xbf16, #read>
  tile.store %x, %ok[%c0, %c0] : tensor<128x64xbf16, #read>, !tile.view<2 x bf16>
  tile.store %y, %ol[%c0, %c0] : tensor<128x64xbf16, #read>, !tile.view<2 x bf16>
  tile.return
}
