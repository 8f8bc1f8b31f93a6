// A product of bf16 written by hand: three stages of copies into LDS feed the matrix
// cores. Buffers have no layouts: tile-assign-layouts finds the swizzles. Sums of small
// integers are exact.
// REQUIRES: numpy
// RUN: %{python} %S/Inputs/product.py make %t 256 384 192
// RUN: tenon compile %s -o %t.co --report | FileCheck %s --check-prefix=REPORT
// REPORT: 0 AGPRs
// REPORT: scratch         0 bytes
// RUN: tenon sim %t.co --grid 2,3 --block 256 --arg npy:%t.x.npy --arg npy:%t.w.npy \
// RUN:   --arg buf:393216:fill=nan:out=%t.out.npy --arg i32:256 --arg i32:384 --arg i32:24 \
// RUN:   --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// CLEAN: 0 findings
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// BANKS: "lds_extra_phases": 0
// RUN: %{python} %S/Inputs/product.py check %t

// The same when tile-schedule lets copies, reads and products take turns.
// RUN: sed 's/waves = 4 : i32}/waves = 4 : i32, tile.schedule = "interleave"}/' %s > %t.turns.mlir
// RUN: tenon compile %t.turns.mlir -o %t.turns.co
// RUN: tenon sim %t.turns.co --grid 2,3 --block 256 --arg npy:%t.x.npy --arg npy:%t.w.npy \
// RUN:   --arg buf:393216:fill=nan:out=%t.out.npy --arg i32:256 --arg i32:384 --arg i32:24 \
// RUN:   --stats-json %t.json | FileCheck %s --check-prefix=CLEAN
// RUN: FileCheck %s --check-prefix=BANKS < %t.json
// RUN: %{python} %S/Inputs/product.py check %t
// RUN: tenon compile %t.turns.mlir --emit isa -o %t.turns.s
// RUN: sed -n '/vmcnt(8)/,/s_cbranch/p' %t.turns.s > %t.turns.loop.s
// RUN: grep -E 'buffer_|v_mfma|s_cbranch' %t.turns.loop.s | FileCheck %s --check-prefix=TURNS
// TURNS-COUNT-2: buffer_load_dwordx4
// TURNS-COUNT-4: v_mfma
// TURNS-NEXT: buffer_load_dwordx4
// TURNS-NEXT: buffer_load_dwordx4
// TURNS-COUNT-4: v_mfma
// TURNS-NEXT: buffer_load_dwordx4
// TURNS-NEXT: buffer_load_dwordx4
// TURNS-COUNT-4: v_mfma
// TURNS-NEXT: buffer_load_dwordx4
// TURNS-NEXT: buffer_load_dwordx4
// TURNS-COUNT-4: v_mfma
// TURNS-NEXT: s_cbranch

// The copies of the two stages behind the one that is read stay in flight. One vector
// instruction per copy and one per address of reads (four steps along k in each of two
// operands); no register moves.
// RUN: tenon compile %s --emit isa -o %t.s
// RUN: sed -n '/vmcnt(8)/,/s_cbranch/p' %t.s > %t.loop.s
// RUN: grep -cE '^[[:space:]]v_mfma' %t.loop.s | FileCheck %s --check-prefix=MFMA
// MFMA: {{^}}16{{$}}
// RUN: grep -cE '^[[:space:]]v_' %t.loop.s | FileCheck %s --check-prefix=VECTOR
// VECTOR: {{^}}32{{$}}
// RUN: grep -cE 'vmcnt' %t.loop.s | FileCheck %s --check-prefix=WAITS
// WAITS: {{^}}1{{$}}
!ab = !tile.lds<128x64xbf16, stages = 3>
!as = !tile.lds<128x64xbf16>
!bb = !tile.lds<64x128xbf16, stages = 3>
!bs = !tile.lds<64x128xbf16>
module attributes {tile.target = #tile.target<"gfx950">} {
tile.kernel @gemm(%x: !tile.ptr<bf16>, %w: !tile.ptr<bf16>, %out: !tile.ptr<f32>, %m: i32, %n: i32, %k8: i32) attributes {waves = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c8 = arith.constant 8 : i32
  %c4 = arith.constant 4 : i32
  %cm = arith.constant 128 : i32
  %cn = arith.constant 128 : i32
  %cs = arith.constant 3 : i32
  %cl = arith.constant 2 : i32
  %bk = arith.constant 64 : i32
  %bk1 = arith.constant 128 : i32
  %k = arith.muli %k8, %c8 : i32
  %wx = tile.workgroup_id 0
  %wy = tile.workgroup_id 1
  %row = arith.muli %wx, %cm : i32
  %col = arith.muli %wy, %cn : i32
  %mk = arith.muli %m, %k : i32
  %nk = arith.muli %n, %k : i32
  %mn = arith.muli %m, %n : i32
  %xbytes = arith.muli %mk, %c2 : i32
  %wbytes = arith.muli %nk, %c2 : i32
  %obytes = arith.muli %mn, %c4 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %xv = tile.view %x strides [%k, 1] bytes %xbytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %wv = tile.view %w strides [1, %k] bytes %wbytes : !tile.ptr<bf16> -> !tile.view<2 x bf16>
  %ov = tile.view %out strides [%n, 1] bytes %obytes : !tile.ptr<f32> -> !tile.view<2 x f32>
  %ab = tile.alloc_lds : !ab
  %bb = tile.alloc_lds : !bb
  %p0 = arith.constant 0 : i32
  %k0 = arith.constant 0 : i32
  %as0 = tile.lds_stage %ab[%p0] : !ab -> !as
  %bs0 = tile.lds_stage %bb[%p0] : !bb -> !bs
  %ta0 = tile.copy_to_lds %xv[%row, %k0], %as0 : !tile.view<2 x bf16>, !as -> !tile.token
  %tb0 = tile.copy_to_lds %wv[%k0, %col], %bs0 : !tile.view<2 x bf16>, !bs -> !tile.token
  %p1 = arith.constant 1 : i32
  %k1 = arith.constant 64 : i32
  %as1 = tile.lds_stage %ab[%p1] : !ab -> !as
  %bs1 = tile.lds_stage %bb[%p1] : !bb -> !bs
  %ta1 = tile.copy_to_lds %xv[%row, %k1], %as1 : !tile.view<2 x bf16>, !as -> !tile.token
  %tb1 = tile.copy_to_lds %wv[%k1, %col], %bs1 : !tile.view<2 x bf16>, !bs -> !tile.token
  %r:7 = scf.for %i = %c0 to %k step %bk iter_args(%c = %zero, %now = %c0, %free = %cl, %a0 = %ta0, %b0 = %tb0, %a1 = %ta1, %b1 = %tb1) -> (tensor<128x128xf32>, i32, i32, !tile.token, !tile.token, !tile.token, !tile.token) : i32 {
    tile.wait_copies %a0, %b0 : !tile.token, !tile.token
    tile.barrier
    %ahead = arith.addi %i, %bk1 : i32
    %an = tile.lds_stage %ab[%now] : !ab -> !as
    %bn = tile.lds_stage %bb[%now] : !bb -> !bs
    %af = tile.lds_stage %ab[%free] : !ab -> !as
    %bf = tile.lds_stage %bb[%free] : !bb -> !bs
    %na = tile.copy_to_lds %xv[%row, %ahead], %af : !tile.view<2 x bf16>, !as -> !tile.token
    %nb = tile.copy_to_lds %wv[%ahead, %col], %bf : !tile.view<2 x bf16>, !bs -> !tile.token
    %a = tile.lds_load %an : !as -> tensor<128x64xbf16>
    %b = tile.lds_load %bn : !bs -> tensor<64x128xbf16>
    %d = tile.mma %a, %b, %c {waves = array<i64: 2, 2>, instruction = array<i64: 32, 16>} : tensor<128x64xbf16>, tensor<64x128xbf16>, tensor<128x128xf32>
    %n1 = arith.addi %now, %c1 : i32
    %wrap = arith.cmpi eq, %n1, %cs : i32
    %next = arith.select %wrap, %c0, %n1 : i32
    scf.yield %d, %next, %now, %a1, %b1, %na, %nb : tensor<128x128xf32>, i32, i32, !tile.token, !tile.token, !tile.token, !tile.token
  }
  tile.wait_copies %r#3, %r#4, %r#5, %r#6 : !tile.token, !tile.token, !tile.token, !tile.token
  tile.store %r#0, %ov[%row, %col] : tensor<128x128xf32>, !tile.view<2 x f32>
  tile.return
}
}
