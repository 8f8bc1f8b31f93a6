// A tile goes from device memory into a swizzled LDS buffer and from there into MFMA
// operand registers: no value changes, no check finds anything, no bank conflict.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py make %t.in.npy 8192 bf16
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg buf:16384:out=%t.out.npy \
// RUN:   --arg i32:16384 --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.out.npy

// Two registers hold the LDS addresses of all eight reads, the rest are constants of
// the instructions; one wait, as it was written, and no other for vector memory.
// RUN: tenon compile %s --emit isa | FileCheck %s --check-prefix=ISA
// ISA: s_mov_b32 m0
// ISA-COUNT-4: buffer_load_dwordx4 {{.*}} offen lds
// ISA-NOT: vmcnt
// ISA: s_waitcnt vmcnt(0)
// ISA-NOT: vmcnt
// ISA: s_waitcnt lgkmcnt(0)
// ISA-NEXT: s_barrier
// ISA-NOT: vmcnt
// ISA: ds_read_b128 v[{{[0-9:]+}}], v[[#A:]]{{$}}
// ISA-NEXT: ds_read_b128 v[{{[0-9:]+}}], v[[#A]] offset:2048
// ISA-NEXT: ds_read_b128 v[{{[0-9:]+}}], v[[#B:]]{{$}}
// ISA-NEXT: ds_read_b128 v[{{[0-9:]+}}], v[[#B]] offset:2048
// ISA-COUNT-4: ds_read_b128 v[{{[0-9:]+}}], v{{[0-9]+}} offset:{{4096|6144}}
// ISA-NOT: ds_read
// ISA-NOT: vmcnt

#read = #tile.layout<[128, 64],
  register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0], [32, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[64, 0], [0, 0]]>
#swizzled = #tile.lds_layout<[128, 64] of 16 bits, strides = [64, 1],
  swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32, bit 3 of 0 flips 64]>

tile.kernel @k(%in: !tile.ptr<bf16>, %out: !tile.ptr<bf16>, %n: i32)
    attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %in strides [64, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %out strides [64, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<128x64xbf16, #swizzled>
  %t = tile.copy_to_lds %v[%c0, %c0], %b
      : !tile.view<2 x bf16>, !tile.lds<128x64xbf16, #swizzled> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %b : !tile.lds<128x64xbf16, #swizzled> -> tensor<128x64xbf16, #read>
  tile.store %x, %o[%c0, %c0] : tensor<128x64xbf16, #read>, !tile.view<2 x bf16>
  tile.return
}
