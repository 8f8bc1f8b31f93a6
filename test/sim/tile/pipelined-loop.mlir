// A loop over tiles with three stages: while one is read, the copies of the next two
// are in flight. Each tile of bf16 is added up in FP32.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/arrays.py make %t.in.npy 65536 bf16
// RUN: tenon compile %s -o %t.co
// RUN: tenon sim %t.co --block 256 --arg npy:%t.in.npy --arg buf:16384:out=%t.out.npy \
// RUN:   --arg i32:16 --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/arrays.py sums %t.in.npy %t.out.npy 16

// The loop waits as it is written: two instructions may be in flight, those of the
// next stage.
// RUN: tenon compile %s --emit isa -o %t.s
// RUN: sed -n '/vmcnt(2)/,/s_cbranch/p' %t.s > %t.loop.s
// RUN: grep -E 'vmcnt|s_barrier|buffer_|ds_|s_cbranch' %t.loop.s | FileCheck %s --check-prefix=LOOP
// LOOP: s_waitcnt vmcnt(2)
// LOOP-NEXT: s_barrier
// LOOP-NEXT: buffer_load_dwordx4 {{.*}} lds
// LOOP-NEXT: buffer_load_dwordx4 {{.*}} lds
// LOOP-NEXT: ds_read_b128
// LOOP-NEXT: ds_read_b128 {{.*}} offset:2048
// LOOP-NEXT: ds_read_b128
// LOOP-NEXT: ds_read_b128 {{.*}} offset:2048
// LOOP-NEXT: s_cbranch
// Two instructions per iteration make the addresses of the copies, two those of the
// reads; the others unpack bf16 and add.
// RUN: grep -E '^[[:space:]]v_' %t.loop.s | grep -vE 'v_pk_add_f32|v_lshlrev_b32_e32 v[0-9]+, 16|0xffff0000' \
// RUN:   | FileCheck %s --check-prefix=ADDRESSES
// ADDRESSES-COUNT-4: v_{{add_u32|or_b32|bitop3_b32|xor_b32}}
// ADDRESSES-NOT: v_

// A twin that lets one copy more stay in flight; the simulator says so.
// RUN: sed 's/vmcnt(2)/vmcnt(4)/' %t.s > %t.late.s
// RUN: clang --target=amdgcn-amd-amdhsa -mcpu=gfx950 %t.late.s -o %t.late.co
// RUN: expect-exit 1 tenon sim %t.late.co --block 256 --arg npy:%t.in.npy \
// RUN:   --arg buf:16384 --arg i32:16 2>&1 | FileCheck %s --check-prefix=BROKEN

// A twin that reads one stage further than it waits for; the simulator says so.
// RUN: sed 's/lds_stage %b\[%now\]/lds_stage %b[%next]/' %s > %t.broken.mlir
// RUN: tenon compile %t.broken.mlir -o %t.broken.co
// RUN: expect-exit 1 tenon sim %t.broken.co --block 256 --arg npy:%t.in.npy \
// RUN:   --arg buf:16384 --arg i32:16 2>&1 | FileCheck %s --check-prefix=BROKEN
// BROKEN: lds-race: kernel k

#read = #tile.layout<[64, 64],
  register = [[0, 1], [0, 2], [0, 4], [0, 32], [16, 0]],
  lane = [[1, 0], [2, 0], [4, 0], [8, 0], [0, 8], [0, 16]], wave = [[32, 0], [0, 0]]>
#swizzled = #tile.lds_layout<[64, 64] of 16 bits, strides = [64, 1],
  swizzle = [bit 1 of 0 flips 16, bit 2 of 0 flips 32, bit 3 of 0 flips 64]>
!stage = !tile.lds<64x64xbf16, #swizzled>
!stages = !tile.lds<64x64xbf16, #swizzled, stages = 3>

// %n tiles of 64 rows; the sum of all goes to %out.
tile.kernel @k(%in: !tile.ptr<bf16>, %out: !tile.ptr<f32>, %n: i32)
    attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c64 = arith.constant 64 : i32
  %tile_bytes = arith.constant 8192 : i32
  %out_bytes = arith.constant 16384 : i32
  %bytes = arith.muli %n, %tile_bytes : i32
  %v = tile.view %in strides [64, 1] bytes %bytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %o = tile.view %out strides [64, 1] bytes %out_bytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %b = tile.alloc_lds : !stages
  %s0 = tile.lds_stage %b[%c0] : !stages -> !stage
  %s1 = tile.lds_stage %b[%c1] : !stages -> !stage
  %t0 = tile.copy_to_lds %v[%c0, %c0], %s0 : !tile.view<2 x bf16>, !stage -> !tile.token
  %t1 = tile.copy_to_lds %v[%c64, %c0], %s1 : !tile.view<2 x bf16>, !stage -> !tile.token
  %zero = arith.constant dense<0.0> : tensor<64x64xf32, #read>
  %end:5 = scf.for %i = %c0 to %n step %c1
      iter_args(%sum = %zero, %now = %c0, %free = %c2, %first = %t0, %second = %t1)
      -> (tensor<64x64xf32, #read>, i32, i32, !tile.token, !tile.token) : i32 {
    %n1 = arith.addi %now, %c1 : i32
    %wrap = arith.cmpi eq, %now, %c2 : i32
    %next = arith.select %wrap, %c0, %n1 : i32
    tile.wait_copies %first : !tile.token
    // All waves' shares are there, and all waves have read the stage that is free now.
    tile.barrier
    %ahead = arith.addi %i, %c2 : i32
    %row = arith.muli %ahead, %c64 : i32
    %sf = tile.lds_stage %b[%free] : !stages -> !stage
    %third = tile.copy_to_lds %v[%row, %c0], %sf : !tile.view<2 x bf16>, !stage -> !tile.token
    %sn = tile.lds_stage %b[%now] : !stages -> !stage
    %x = tile.lds_load %sn : !stage -> tensor<64x64xbf16, #read>
    %y = arith.extf %x : tensor<64x64xbf16, #read> to tensor<64x64xf32, #read>
    %next_sum = arith.addf %sum, %y : tensor<64x64xf32, #read>
    scf.yield %next_sum, %next, %now, %second, %third
        : tensor<64x64xf32, #read>, i32, i32, !tile.token, !tile.token
  }
  // Two copies of nothing are left.
  tile.wait_copies %end#3, %end#4 : !tile.token, !tile.token
  tile.store %end#0, %o[%c0, %c0] : tensor<64x64xf32, #read>, !tile.view<2 x f32>
  tile.return
}
