// What is no whole number of 16-byte instructions of all waves goes by 4 bytes per lane;
// a chip that has no wider copies takes those alone.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py make %t.in.npy 3072 bf16
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg buf:6144:out=%t.out.npy \
// RUN:   --arg i32:6144 --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.out.npy
// RUN: tenon compile %s --emit isa | FileCheck %s --check-prefix=ISA
// ISA-COUNT-1: buffer_load_dwordx4 {{.*}} lds
// ISA-NOT: buffer_load_dwordx4
// ISA-COUNT-2: buffer_load_dword {{.*}} lds
// ISA-NOT: buffer_load

// RUN: tenon compile %s --target gfx942 -o %t.942.co
// RUN: tenon sim %t.942.co --block 256 --arg npy:%t.in.npy --arg buf:6144:out=%t.942.npy \
// RUN:   --arg i32:6144 | FileCheck %s --check-prefix=CLEAN
// RUN: %{python} %S/Inputs/arrays.py same %t.in.npy %t.942.npy
// RUN: tenon compile %s --target gfx942 --emit isa | FileCheck %s --check-prefix=ISA942
// ISA942-COUNT-6: buffer_load_dword {{.*}} lds

#read = #tile.layout<[48, 64], register = [[0, 1], [0, 2], [0, 4], [0, 32]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[0, 0], [0, 0]],
  outer = [register 3 * 16 along 0]>
#swizzled = #tile.lds_layout<[48, 64] of 16 bits, strides = [64, 1],
  swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32, bit 3 of 0 flips 64]>

tile.kernel @k(%in: !tile.ptr<bf16>, %out: !tile.ptr<bf16>, %n: i32)
    attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %v = tile.view %in strides [64, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %out strides [64, 1] bytes %n : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %b = tile.alloc_lds : !tile.lds<48x64xbf16, #swizzled>
  %t = tile.copy_to_lds %v[%c0, %c0], %b
      : !tile.view<2 x bf16>, !tile.lds<48x64xbf16, #swizzled> -> !tile.token
  tile.wait_copies %t : !tile.token
  %x = tile.lds_load %b : !tile.lds<48x64xbf16, #swizzled> -> tensor<48x64xbf16, #read>
  tile.store %x, %o[%c0, %c0] : tensor<48x64xbf16, #read>, !tile.view<2 x bf16>
  tile.return
}
